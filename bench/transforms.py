"""Time of the feature maps as a ratio to references, timed alternately in one process.

over_gemm      divided by one dense product X @ W of the same shape, with as many threads
over_write     divided by writing as many numbers once
times_sklearn  how many times faster than scikit-learn: PolynomialCountSketch of the same degree and features, or
               RBFSampler
megabytes      peak memory besides X, including the output

fht_cpu computes the features of tensorsrht row by row with the compiled Hadamard transform of that package, if it is
installed.  Sketches with dense weights and scikit-learn, whose time is proportional to the rows, get a tenth of them.
Transforms of rows, as in fht_cpu, do not pay: their features are picked number by number.  In processor time of one
thread they took 0.7 to 0.95 of the time of tensorsrht at 2048 features, and 1.2 to 1.9 times as much at 10240.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler
from timing import best_of, megabytes

from rfbench.arrays import padded
from rfbench.blocks import scratch, spans
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches import SKETCHES, FeatureMap, make_sketch

POLYNOMIAL = tuple(
    name
    for name, family in SKETCHES.items()
    if "polynomial" in family.kernels and not re.search("maclaurin|optical|polysketch", name)  # which has even degrees
)
OTHERS = {"rff": "gaussian", "sorf": "gaussian", "compressive_rff": "gaussian", "optical": "optical"}
DENSE = re.compile("gaussian|rademacher|weights|gegenbauer")
QUICK = ("rademacher", "tensorsrht", "ctr_tensorsrht", "stacked_tensorsrht", "ctr_stacked_tensorsrht", "tensorsketch")
Row = dict[str, object]


def rows_of(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d), np.float32) / np.float32(np.sqrt(d))


def few(X: np.ndarray) -> np.ndarray:
    return X[: max(len(X) // 10, 1)]


def feature_map(name: str, degree: int, d: int, D: int) -> FeatureMap:
    """Homogeneous kernels, so that all maps see d columns and pad to the same power of two."""
    kernel = make_kernel(OTHERS[name], 1) if name in OTHERS else make_kernel("polynomial", degree, bias=0.0)
    return make_sketch(name, kernel).adapt(rows_of(2000, d), D).sample(d, D, np.random.default_rng(1))


def references(X: np.ndarray, D: int, degree: int, engine: Local) -> dict[str, Callable[[], object]]:
    """A dense product, a write, and scikit-learn on a tenth of the rows."""
    W = np.random.default_rng(2).standard_normal((X.shape[1], D), np.float32)
    out = np.empty((len(X), D), np.float32)
    theirs = (
        PolynomialCountSketch(degree=degree, n_components=D, random_state=0)
        if degree
        else RBFSampler(gamma=0.5, n_components=D, random_state=0)
    ).fit(X[:1])

    def gemm() -> None:
        shares = spans(len(X), -(-len(X) // engine.workers))
        engine.run(lambda span: np.matmul(X[span], W, out=out[span]), shares)

    # PolynomialCountSketch needs n × p × D doubles at once; its time is proportional to n.
    return {"gemm": gemm, "write": lambda: out.fill(1), "sklearn": lambda: theirs.transform(few(X))}


def row_major(X: np.ndarray, D: int, degree: int, engine: Local) -> dict[str, Callable[[], object]]:
    """TensorSRHT by transforms of rows, which need no transposition but pick features number by number."""
    try:
        from fht_cpu import fht
    except ImportError:
        return {}
    features, d = feature_map("tensorsrht", degree, X.shape[1], D), X.shape[1]
    out = np.empty((len(X), D), np.float32)

    def write(span: slice) -> None:
        rows, product = X[span], out[span]
        for i, (signs, index) in enumerate(zip(features.signs, features.index, strict=True)):
            U = scratch("rows of fht", (len(rows), padded(d)), np.float32)
            np.multiply(rows, signs, out=U[:, :d])
            U[:, d:] = 0
            fht(U, num_threads=1)
            into = scratch("factor of fht", product.shape, np.float32) if i else product
            np.take(U, index, axis=1, out=into, mode="clip")
            if i:
                product *= into

    write(slice(0, 64))
    np.testing.assert_allclose(out[:64], features(X[:64]), rtol=1e-3, atol=1e-4 * float(np.abs(out[:64]).max()))
    return {"fht_cpu": lambda: engine.run(write, spans(len(X), 64))}


def fresh(engine: Local, features: FeatureMap, X: np.ndarray) -> np.ndarray:
    return engine.transform(features, X, features.empty(len(X)))


def measure(names: Iterable[str], n: int, d: int, D: int, degree: int, turns: int) -> list[Row]:
    """A row for each sketch; degree 0 is for those without one."""
    X = rows_of(n, d)
    with Local().running() as engine:
        maps = {name: feature_map(name, degree, d, D) for name in names}
        rows = {name: few(X) if DENSE.search(name) else X for name in names}
        work: dict[str, Callable[[], object]] = {
            name: partial(engine.transform, one, rows[name], one.empty(len(rows[name]))) for name, one in maps.items()
        }
        theirs = references(X, D, degree, engine) | (row_major(X, D, degree, engine) if degree else {})
        seconds = best_of(turns, work | theirs)
        memory = {name: megabytes(partial(fresh, engine, one, rows[name])) for name, one in maps.items()}
    memory |= dict.fromkeys(theirs, n * D * 4 / 2**20)
    memory["sklearn"] = megabytes(theirs["sklearn"])
    for name in ("sklearn", *(name for name in names if DENSE.search(name))):
        memory[name] *= n / len(few(X))
        seconds[name] *= n / len(few(X))
    return [
        {
            "sketch": name,
            "degree": degree or "",
            "features": D,
            "seconds": round(value, 5),
            "over_gemm": round(value / seconds["gemm"], 3),
            "over_write": round(value / seconds["write"], 1),
            "times_sklearn": round(seconds["sklearn"] / value, 1),
            "megabytes": round(memory[name]),
        }
        for name, value in seconds.items()
    ]
