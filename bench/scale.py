"""Rows per second and peak memory of one ridge regression on a dask cluster of this machine, by rows and workers.

    python bench/scale.py                      # 1 and 10 million rows of 256 columns, 2048 features; about half an hour
    python bench/scale.py --rows 1000000       # one size only
    python bench/scale.py --rows 150000 300000 --features 512 --workers 1 2 4

Rows are drawn where they are needed and never stored.  The peak of a process is the kernel's own count (VmHWM), read
until it ends, so nothing between two readings is missed but the last quarter of a second.
"""

import argparse
import csv
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import NamedTuple

import psutil

ROWS, FEATURES, COLUMNS = (1_000_000, 10_000_000), 2048, 256


class Found(NamedTuple):
    rows: int
    workers: int
    wall: float  # seconds of the command
    fit: float  # seconds of fitting: one pass over the rows, and the factor
    peak: float  # MB of the process that adds up
    worker_peaks: list[float]  # MB

    @property
    def rate(self) -> float:
        return 0.9 * self.rows / self.fit  # a tenth are test rows


def measure(rows: int, workers: int, features: int, engine: str) -> Found:
    """One run in a directory that disappears."""
    words = [
        *("task=ridge", "task.alpha=1e-3", "sketch=rff", "kernel.length_scale=16", f"features={features}", "seeds=1"),
        *("dataset=synthetic", f"dataset.rows={rows}", f"dataset.columns={COLUMNS}"),
        *(f"engine={engine}", f"engine.workers={workers}"),
    ]
    with TemporaryDirectory() as directory:
        start, peaks = perf_counter(), dict[int, float]()
        run = subprocess.Popen([sys.executable, "-m", "rfbench", *words], cwd=directory, stdout=subprocess.DEVNULL)
        while run.poll() is None:
            with suppress(psutil.Error):
                below = psutil.Process(run.pid).children(recursive=True)
                computing = [one.pid for one in below if "resource_tracker import" not in " ".join(one.cmdline())]
                for pid in (run.pid, *computing):
                    peaks[pid] = max(peaks.get(pid, 0.0), peak_of(pid))
            sleep(0.25)
        if run.returncode:
            raise SystemExit(f"rfbench {' '.join(words)} ended with exit code {run.returncode}")
        wall = perf_counter() - start
        (path,) = Path(directory).glob("outputs/*/*/results.csv")
        with path.open(newline="") as file:
            fit = next(float(row["value"]) for row in csv.DictReader(file) if row["metric"] == "fit_seconds")
    return Found(rows, workers, wall, fit, peaks.pop(run.pid), sorted(peaks.values())[-workers:])


def peak_of(pid: int) -> float:
    """MB that a process has had in memory at most."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--features", type=int, default=FEATURES)
    parser.add_argument("--workers", type=int, nargs="+", default=(1, 2))
    parser.add_argument("--engine", choices=("dask", "processes", "local"), default="dask")
    args = parser.parse_args()
    print("| rows | workers | wall [s] | fit [s] | rows/s | peak, adding up [MB] | peak of each worker [MB] |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
    found = []
    for rows in args.rows:
        for workers in args.workers:
            one = measure(rows, workers, args.features, args.engine)
            found.append(one)
            each = ", ".join(f"{peak:.0f}" for peak in one.worker_peaks)
            print(
                f"| {rows:,} | {workers} | {one.wall:.1f} | {one.fit:.1f} | {one.rate:,.0f} | {one.peak:.0f} | {each} |"
            )
            sys.stdout.flush()
    print()
    for rows in args.rows:
        first, *others = [one for one in found if one.rows == rows]
        for one in others:
            print(
                f"{rows:,} rows: {one.workers} workers are {first.fit / one.fit:.2f} times as fast as {first.workers} "
                f"({first.wall / one.wall:.2f} times with all that comes before and after)"
            )
    for workers in args.workers:
        first, *others = [one for one in found if one.workers == workers]
        for one in others:
            most = [max(each.worker_peaks, default=0.0) for each in (one, first)]
            ratio = f", of the largest worker {most[0] / most[1]:.2f}" if most[1] else ""
            print(
                f"{workers} workers: peak memory of {one.rows:,} rows over that of {first.rows:,}: "
                f"adding up {one.peak / first.peak:.2f}{ratio}"
            )


if __name__ == "__main__":
    main()
