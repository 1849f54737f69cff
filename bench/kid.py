"""Kernel Inception Distance by sketch, against the features alone and against 100 subsets of 1000 rows.

over_features   time of a single draw, including reading and summing, divided by that of its features alone
times_protocol  how many times faster one of many draws is than 100 subsets of 1000 rows in single precision
std_ratio       standard deviation of the subsets divided by that of a draw
at_equal_time   the same for the mean of as many subsets as fit into the time of a draw
z               mean of the draws minus the exact value, in standard errors (--exact)

Absolute times mean nothing on a shared machine: the best of several turns counts; many draws have one turn.
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits
from timing import best_of

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.engines.local import cores
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.tasks import Trial, make_task
from rfbench.tasks.kid.mmd import exact

SUBSETS, SIZE = 100, 1000


def subset(X: np.ndarray, Y: np.ndarray, degree: int, rng: np.random.Generator) -> float:
    """One of the protocol, in the precision of the rows and with all threads."""
    A, B = (Z[rng.choice(len(Z), SIZE, replace=False)] for Z in (X, Y))
    with threadpool_limits(cores()):
        xx, yy, xy = ((P @ Q.T / np.float32(X.shape[1]) + 1) ** degree for P, Q in ((A, A), (B, B), (A, B)))
    within = xx.sum() - np.trace(xx) + yy.sum() - np.trace(yy)
    return within / (SIZE * (SIZE - 1)) - 2 * xy.mean()


class Bench:
    """Two sets of rows, and the results that need no sketch."""

    def __init__(self, X: np.ndarray, Y: np.ndarray, options: argparse.Namespace, engine: Local) -> None:
        self.X, self.Y, self.options, self.engine = X, Y, options, engine
        self.rows = np.concatenate((X, Y))
        data = Dataset("bench", InMemory(self.rows), InMemory(np.zeros(len(self.rows))), None, len(X))
        self.split = prepared_split(data, Preparation(()), 0, np.float32)
        self.kernel = make_kernel("polynomial", options.degree, gamma=1 / X.shape[1])
        self.rng = np.random.default_rng(0)
        start = perf_counter()
        self.std = np.std([self.subset() for _ in range(SUBSETS)], ddof=1)
        self.seconds = (perf_counter() - start) / SUBSETS
        self.exact = exact(self.kernel, self.split, engine).mean if options.exact else np.nan

    def subset(self) -> float:
        return subset(self.X, self.Y, self.options.degree, self.rng)

    def measure(self, name: str) -> dict[str, float]:
        D, draws, d = self.options.features, self.options.draws, self.X.shape[1]
        more = {"p_min": self.options.degree} if name == "optimized_maclaurin" else {}
        sketch = make_sketch(name, self.kernel, **more).adapt(self.X[:1000], D)

        trial = Trial(self.split, self.kernel, sketch, d, D, seed=0, engine=self.engine, name=name)

        def kid(resamples: int) -> dict[str, float]:
            task = make_task("kid", resamples=resamples, subsets=0, exact_rows=0)
            return {measure.metric: measure.value for measure in task.measure(trial, [])}

        features = trial.draw(0)
        Phi = features.empty(len(self.rows))
        Phi.fill(0)
        work = {
            "features": lambda: self.engine.transform(features, self.rows, Phi),
            "one": lambda: kid(1),
            "tenth": lambda: [self.subset() for _ in range(SUBSETS // 10)],
        }
        seconds = best_of(self.options.turns, work)
        found = kid(draws)
        a_subset = min(self.seconds, seconds["tenth"] * 10 / SUBSETS)
        ratio = float(self.std / found["kid_std"])
        return {
            "seconds": found["kid_seconds"],
            "over_features": seconds["one"] / seconds["features"],
            "times_protocol": SUBSETS * a_subset / found["kid_seconds"],
            "std_ratio": ratio,
            "at_equal_time": ratio * np.sqrt(a_subset / found["kid_seconds"]),
            "z": (found["kid"] - self.exact) / found["kid_std"] * np.sqrt(draws),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--x", type=Path, help="two .npy files (default: 10,000 x 2048 drawn numbers of each)")
    parser.add_argument("--y", type=Path)
    parser.add_argument(
        "--sketches", default="tensorsrht,ctr_tensorsrht,tensorsketch", help="names, separated by commas"
    )
    parser.add_argument("--features", type=int, default=4096)
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--exact", action="store_true", help="also compute the exact value, over all pairs of rows")
    options = parser.parse_args()
    if options.draws < 2:
        parser.error("a standard deviation needs at least 2 draws")
    if options.x and options.y:
        X, Y = (np.load(path).astype(np.float32) for path in (options.x, options.y))
    else:
        X, Y = np.abs(np.random.default_rng(0).standard_normal((2, 10_000, 2048), np.float32)) / 2
    with Local().running() as engine:
        bench = Bench(X, Y, options, engine)
        for name in options.sketches.split(","):
            found = bench.measure(name)
            print(f"{name:20s} " + "  ".join(f"{key} {value:.3g}" for key, value in found.items()), flush=True)


if __name__ == "__main__":
    main()
