"""Time of the feature maps as a ratio to references, timed alternately in one process.

over_gemm      divided by one dense product X @ W of the same shape, with as many threads
over_write     divided by writing as many numbers once
times_sklearn  how many times faster than scikit-learn: PolynomialCountSketch of the same degree and features, or
               RBFSampler
megabytes      peak memory besides X, including the output
"""

import re
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler
from timing import best_of, megabytes

from rfbench.blocks import spans
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches import SKETCHES, FeatureMap, make_sketch

POLYNOMIAL = tuple(
    name
    for name, family in SKETCHES.items()
    if "polynomial" in family.kernels and not re.search("maclaurin|optical", name)
)
OTHERS = {"rff": "gaussian", "sorf": "gaussian", "compressive_rff": "gaussian", "optical": "optical"}
QUICK = ("rademacher", "tensorsrht", "ctr_tensorsrht", "stacked_tensorsrht", "ctr_stacked_tensorsrht", "tensorsketch")
Row = dict[str, object]


def rows_of(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d), np.float32) / np.float32(np.sqrt(d))


def feature_map(name: str, degree: int, d: int, D: int) -> FeatureMap:
    """Homogeneous kernels, so that all maps see d columns and pad to the same power of two."""
    kernel = make_kernel(OTHERS[name], 1) if name in OTHERS else make_kernel("polynomial", degree, bias=0.0)
    return make_sketch(name, kernel).adapt(rows_of(2000, d), D).sample(d, D, np.random.default_rng(1))


def references(X: np.ndarray, D: int, degree: int, engine: Local) -> dict[str, Callable[[], object]]:
    """A dense product, a write, and scikit-learn on a tenth of the rows."""
    W = np.random.default_rng(2).standard_normal((X.shape[1], D), np.float32)
    out, few = np.empty((len(X), D), np.float32), X[: max(len(X) // 10, 1)]
    theirs = (
        PolynomialCountSketch(degree=degree, n_components=D, random_state=0)
        if degree
        else RBFSampler(gamma=0.5, n_components=D, random_state=0)
    ).fit(X[:1])

    def gemm() -> None:
        shares = spans(len(X), -(-len(X) // engine.workers))
        engine.run(lambda span: np.matmul(X[span], W, out=out[span]), shares)

    # PolynomialCountSketch needs n × p × D doubles at once; its time is proportional to n.
    return {"gemm": gemm, "write": lambda: out.fill(1), "sklearn": lambda: theirs.transform(few)}


def fresh(engine: Local, features: FeatureMap, X: np.ndarray) -> np.ndarray:
    return engine.transform(features, X, features.empty(len(X)))


def measure(names: Iterable[str], n: int, d: int, D: int, degree: int, turns: int) -> list[Row]:
    """A row for each sketch; degree 0 is for those without one."""
    X = rows_of(n, d)
    with Local().running() as engine:
        maps = {name: feature_map(name, degree, d, D) for name in names}
        work: dict[str, Callable[[], object]] = {
            name: partial(engine.transform, features, X, features.empty(n)) for name, features in maps.items()
        }
        theirs = references(X, D, degree, engine)
        seconds = best_of(turns, work | theirs)
        memory = {name: megabytes(partial(fresh, engine, features, X)) for name, features in maps.items()}
    memory |= dict.fromkeys(("gemm", "write"), n * D * 4 / 2**20)
    memory["sklearn"] = megabytes(theirs["sklearn"]) * n / max(n // 10, 1)
    seconds["sklearn"] *= n / max(n // 10, 1)
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
