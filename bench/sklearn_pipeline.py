"""PolynomialSketch against scikit-learn's PolynomialCountSketch before RidgeClassifier, on MNIST, degree 3.

seconds     to transform the 10,000 test rows: the best of several turns, taken alternately in one process
megabytes   the most that this transform holds besides its input, including its output
error       misclassified test rows after RidgeClassifier was fitted to --train rows, mean and range over seeds

PolynomialCountSketch holds over 24 n p D bytes at once, 21 GB for 60,000 rows; for `error` it transforms blocks of
2000 rows, which gives the same features as all at once.
"""

import argparse

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from timing import best_of, megabytes

from rfbench.blocks import spans
from rfbench.datasets import load
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.seeds import rng_for
from rfbench.sklearn import PolynomialSketch

BLOCK = 2000


def mnist(rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training rows drawn at random, and all test rows, of length 1 in single precision."""
    dataset = load({"name": "mnist"}, data_dir=None, download=True)
    split = prepared_split(dataset, Preparation(("unit_norm",)), 0, np.float32)
    return [split.train.sample(rows, rng_for(0, "bench")), split.test.sample(len(split.test), rng_for(0, "bench"))]


def in_blocks(theirs: PolynomialCountSketch) -> FunctionTransformer:
    def transform(X: np.ndarray) -> np.ndarray:
        return np.concatenate([theirs.transform(X[span]) for span in spans(len(X), BLOCK)])

    return FunctionTransformer(transform)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=int, default=60_000, help="training rows")
    parser.add_argument("--features", type=int, default=4096)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    (X, y), (X_test, y_test) = mnist(options.train)

    def both(seed: int, **more: int) -> dict[str, PolynomialSketch | PolynomialCountSketch]:
        common = {"degree": 3, "n_components": options.features, "coef0": 1.0, "random_state": seed}
        ours, theirs = PolynomialSketch("ctr_tensorsrht", **common, **more), PolynomialCountSketch(**common)
        return {"PolynomialSketch": ours.fit(X), "PolynomialCountSketch": theirs.fit(X)}

    candidates = {"PolynomialSketch(n_jobs=1)": both(0, n_jobs=1)["PolynomialSketch"], **both(0)}
    work = {name: (lambda one=one: one.transform(X_test)) for name, one in candidates.items()}
    seconds, memory = best_of(options.turns, work), {name: megabytes(call) for name, call in work.items()}
    slowest, largest = seconds["PolynomialCountSketch"], memory["PolynomialCountSketch"]
    for name in candidates:
        faster, smaller = slowest / seconds[name], largest / memory[name]
        print(f"{name}: {seconds[name]:.3f} s ({faster:.0f}x), {memory[name]:.0f} MB ({smaller:.0f}x)", flush=True)
    errors: dict[str, list[float]] = {}
    for seed in range(options.seeds):
        for name, one in both(seed).items():
            features = one if isinstance(one, PolynomialSketch) else in_blocks(one)
            score = make_pipeline(features, RidgeClassifier()).fit(X, y).score(X_test, y_test)
            errors.setdefault(name, []).append(1 - score)
            print(f"{name}, seed {seed}: error {1 - score:.4f}", flush=True)
    difference = np.subtract(*errors.values())
    spread = np.std(difference, ddof=1) / len(difference) ** 0.5 if len(difference) > 1 else np.nan
    print(f"ours minus theirs, in pairs of one seed: {difference.mean():+.5f} ± {spread:.5f} (standard error)")
    for name, found in errors.items():
        print(f"{name}: error {np.mean(found):.4f} (from {min(found):.4f} to {max(found):.4f}), {options.train} rows")


if __name__ == "__main__":
    main()
