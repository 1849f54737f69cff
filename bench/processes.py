"""Gaussian processes against their BLAS floor, timed alternately in one process.

classes        features and Gram matrices of ten classes divided by those of one
gram           accumulation of the Gram matrix divided by a plain syrk of the same features, with as many threads
cholesky       factorisation by tiles divided by that of LAPACK, with as many threads
"""

import argparse
import os

import numpy as np
from scipy.linalg import blas
from scipy.linalg import cholesky as lapack
from threadpoolctl import threadpool_limits
from timing import best_of

from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.linalg.cholesky import factor
from rfbench.linalg.gram import gram_sums
from rfbench.sketches import make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.gp.statistics import collect
from rfbench.tasks.rows import Held

CLASSES = 10


def measure(rows: int, d: int, D: int, sketch: str, turns: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, d), np.float32) / np.float32(np.sqrt(d))
    y, ones = rng.integers(0, CLASSES, rows), np.ones(rows)
    draw = Draw(make_sketch(sketch, make_kernel("polynomial", 3)), d, D, 0, ("sketch", sketch), "float32")
    groups = [Held(X[y == c], ones[y == c]) for c in range(CLASSES)]
    Phi = draw.features(X[: min(rows, 4096)])
    accumulations: list[float] = []

    def accumulate() -> None:
        accumulations.append(gram_sums(draw, Held(X, ones), engine).watch["gram"])

    def plain_syrk() -> None:
        with threadpool_limits(engine.workers):
            for _ in range(-(-rows // len(Phi))):
                blas.ssyrk(1.0, Phi.T if Phi.flags.c_contiguous else Phi, trans=not Phi.flags.c_contiguous)

    def plain_cholesky() -> None:
        with threadpool_limits(engine.workers):
            lapack(A, check_finite=False)

    with Local().running() as engine:
        work = {
            "one": lambda: collect(draw, [Held(X, ones)], engine),
            "ten": lambda: collect(draw, groups, engine),
            "gram": accumulate,
            "syrk": plain_syrk,
        }
        seconds = best_of(turns, work)
        A = gram_sums(draw, Held(X[: 2 * D], ones[: 2 * D]), engine).G + np.eye(D)
        more = best_of(turns, {"tiles": lambda: factor(A.copy, engine), "lapack": plain_cholesky})
    return {
        "classes": seconds["ten"] / seconds["one"],
        "gram": min(accumulations) / seconds["syrk"],
        "cholesky": more["tiles"] / more["lapack"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_480)
    parser.add_argument("--columns", type=int, default=784)
    parser.add_argument("--features", type=int, nargs="+", default=[4096])
    parser.add_argument("--sketches", nargs="+", default=["ctr_tensorsrht", "rademacher"])
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    print(f"{options.rows} x {options.columns} float32, {os.cpu_count()} cores, best of {options.turns}")
    print(f"{'sketch':<20}{'features':>10}{'classes':>10}{'gram':>10}{'cholesky':>10}")
    for sketch in options.sketches:
        for D in options.features:
            found = measure(options.rows, options.columns, D, sketch, options.turns)
            print(f"{sketch:<20}{D:>10}" + "".join(f"{value:>10.2f}" for value in found.values()), flush=True)


if __name__ == "__main__":
    main()
