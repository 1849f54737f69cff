"""Kernel Inception Distance by sketch, against the features alone and against 100 subsets of 1000 rows.

over_features   time of one draw, rows read and sums taken, over that of its features alone
times_protocol  how many times faster than 100 subsets of 1000 in single precision, the protocol of torchmetrics
std_ratio       standard deviation over the subsets, over that of a draw
at_equal_time   the same, of the mean of as many subsets as the time of a draw allows

Absolute times mean nothing on a shared machine; the best of several turns of each is compared.
"""

import argparse
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits
from timing import best_of

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.engines.local import cores
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.tasks.embedding import embed, squared_mmd
from rfbench.tasks.tangent import tangent

SUBSETS, SIZE = 100, 1000


def subset(X: np.ndarray, Y: np.ndarray, degree: int, rng: np.random.Generator) -> float:
    """One of the protocol, in the precision of the rows and with all threads."""
    A, B = (Z[rng.choice(len(Z), SIZE, replace=False)] for Z in (X, Y))
    with threadpool_limits(cores()):
        xx, yy, xy = ((P @ Q.T / np.float32(X.shape[1]) + 1) ** degree for P, Q in ((A, A), (B, B), (A, B)))
    within = xx.sum() - np.trace(xx) + yy.sum() - np.trace(yy)
    return within / (SIZE * (SIZE - 1)) - 2 * xy.mean()


def measure(X: np.ndarray, Y: np.ndarray, name: str, D: int, degree: int, turns: int) -> dict[str, float]:
    d, rng = X.shape[1], np.random.default_rng(0)
    kernel = make_kernel("polynomial", degree, gamma=1 / d)
    sketch = make_sketch(name, kernel)
    rows = np.concatenate((X, Y))
    data = Dataset("bench", InMemory(rows), InMemory(np.zeros(len(rows))), None, len(X))
    split = prepared_split(data, Preparation(()), 0, np.float32)
    draws, features = [], sketch.sample(d, D, np.random.default_rng(0))
    subsets = [subset(X, Y, degree, rng) for _ in range(SUBSETS)]
    with Local().running() as engine:
        Phi = features.empty(len(rows))
        Phi.fill(0)

        def one_draw() -> None:
            maps, known = [sketch.sample(d, D, np.random.default_rng(len(draws)))], tangent(kernel, sketch, X[:1000])
            x, y = (embed(maps, part, engine, known) for part in (split.train, split.test))
            draws.extend(squared_mmd(x, y))

        work = {
            "features": lambda: engine.transform(features, rows, Phi),
            "draw": one_draw,
            "tenth": lambda: [subset(X, Y, degree, rng) for _ in range(SUBSETS // 10)],
        }
        seconds = best_of(turns, work)
    times, ratio = 10 * seconds["tenth"] / seconds["draw"], float(np.std(subsets) / np.std(draws, ddof=1))
    return {
        "seconds": seconds["draw"],
        "over_features": seconds["draw"] / seconds["features"],
        "times_protocol": times,
        "std_ratio": ratio,
        "at_equal_time": ratio * np.sqrt(times / SUBSETS),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--x", type=Path, help="two .npy files (default: 10,000 x 2048 drawn numbers of each)")
    parser.add_argument("--y", type=Path)
    parser.add_argument("--features", type=int, default=4096)
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--turns", type=int, default=10)
    args = parser.parse_args()
    if args.x and args.y:
        X, Y = (np.load(path).astype(np.float32) for path in (args.x, args.y))
    else:
        X, Y = np.abs(np.random.default_rng(0).standard_normal((2, 10_000, 2048), np.float32)) / 2
    for name in ("tensorsrht", "ctr_tensorsrht", "tensorsketch"):
        found = measure(X, Y, name, args.features, args.degree, args.turns)
        print(f"{name:15s} " + "  ".join(f"{key} {value:.3g}" for key, value in found.items()), flush=True)


if __name__ == "__main__":
    main()
