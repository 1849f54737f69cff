"""Time of the feature maps as a ratio to references timed in the same process, turn by turn.

over_gemm      against one dense product X @ W of the same shape, on as many threads
times_sklearn  how many times faster than scikit-learn's PolynomialCountSketch of the same degree and features

Absolute times mean nothing on a shared machine; the best of several turns of each is compared.
"""

import argparse
import csv
import io
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch

from rfbench.blocks import spans
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.results.files import replace_file
from rfbench.sketches import SKETCHES, make_sketch


def best_of(turns: int, work: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest time of each, all of them taking turns."""
    seconds = dict.fromkeys(work, np.inf)
    for _ in range(turns):
        for name, call in work.items():
            start = perf_counter()
            call()
            seconds[name] = min(seconds[name], perf_counter() - start)
    return seconds


def measure(rows: int, d: int, D: int, degree: int, turns: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, d), np.float32) / np.float32(np.sqrt(d))
    W = rng.standard_normal((d, D), np.float32)
    out = np.empty((rows, D), np.float32)
    # Homogeneous, so that all maps see d columns and pad to the same power of two.
    kernel = make_kernel("polynomial", degree, bias=0.0)
    count_sketch = PolynomialCountSketch(degree=degree, n_components=D, random_state=0).fit(X[:1])
    few = X[: max(rows // 10, 1)]  # it needs n × p × D doubles at once; its time is proportional to n

    with Local().running() as engine:
        maps = {
            name: make_sketch(name, kernel).sample(d, D, np.random.default_rng(1))
            for name, family in SKETCHES.items()
            if "polynomial" in family.kernels and "maclaurin" not in name
        }

        def gemm() -> None:
            shares = spans(rows, -(-rows // engine.workers))
            list(engine.map(lambda span: np.matmul(X[slice(*span)], W, out=out[slice(*span)]), shares))

        work: dict[str, Callable[[], object]] = {
            name: partial(engine.transform, features, X, features.empty(rows)) for name, features in maps.items()
        }
        work |= {"gemm": gemm, "write": lambda: out.fill(1), "sklearn": lambda: count_sketch.transform(few)}
        seconds = best_of(turns, work)
    seconds["sklearn"] *= rows / len(few)
    return [
        {
            "sketch": name,
            "degree": degree,
            "features": D,
            "seconds": round(value, 5),
            "over_gemm": round(value / seconds["gemm"], 3),
            "times_sklearn": round(seconds["sklearn"] / value, 1),
        }
        for name, value in seconds.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--features", type=int, nargs="+", default=[2048, 4096])
    parser.add_argument("--degrees", type=int, nargs="+", default=[3, 6])
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    print(f"{options.rows} x {options.columns} float32, {os.cpu_count()} cores, best of {options.turns}")
    for degree in options.degrees:
        for D in options.features:
            found = measure(options.rows, options.columns, D, degree, options.turns)
            rows += found
            print(f"\np = {degree}, D = {D}{'seconds':>28}{'over gemm':>12}{'x sklearn':>12}")
            for row in found:
                print(f"  {row['sketch']:<28}{row['seconds']:>12}{row['over_gemm']:>12}{row['times_sklearn']:>12}")
                sys.stdout.flush()
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    target = Path("outputs/bench/speed.csv")
    replace_file(target, text.getvalue())
    print(f"\n{target}")


if __name__ == "__main__":
    main()
