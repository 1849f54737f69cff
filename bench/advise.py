"""Advice against measurements: predicted over measured error, and whether the recommended sketch is the best.

measured            mean over draws of ‖K̂ − K‖/‖K‖ on test rows, drawn anew each time, of sketches fitted as in a run
predicted           what `rfbench advise` says of a kernel matrix of as many rows, from training rows only
at equal features   measured error of the recommended sketch over the smallest, of all sketches with D features
at equal time       the same in a half, one and two times the time of ctr_tensorsrht (rff) with 2d features; the advice
                    goes by its own timing, the errors by that of the draws, interpolated between the measured D

A case takes at least 4 draws, and then more until its mean is known to 3 % or its seconds are spent.  The CSV file of a
dataset is resumed where it stopped: python bench/advise.py digits letter; --tables prints what the files say.
"""

import argparse
import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd

from rfbench.advise.candidates import Candidate, candidates_of, with_every_sketch
from rfbench.advise.cost import measured as costs_of
from rfbench.advise.evidence import Evidence, observe
from rfbench.arrays import padded
from rfbench.checks import InputError
from rfbench.config.compose import compose_jobs, without_hydra
from rfbench.datasets import load
from rfbench.datasets.prepare import Split, prepared_split
from rfbench.job import Job, build_job, plain_config
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch

DATASETS = ("digits", "letter", "magic", "covertype", "mnist", "fashion_mnist")
KERNELS = {"p = 2": ["degree=2"], "p = 3": ["degree=3"], "p = 6": ["degree=6"], "gaussian": ["sketch=rff"]}
TIMES_D = (1, 2, 4)
ROWS = 200  # test rows of a kernel matrix
PRECISE, FEWEST, MOST = 0.03, 4, 400  # standard error of the mean, and draws
COLUMNS = ("kernel", "sketch", "times_d", "features", "closed_form", "predicted", "measured", "standard_error", "draws",
           "predict_seconds", "slope", "intercept", "time")  # fmt: skip


def errors(sketch: Sketch, name: str, evidence: Evidence, split: Split, D: int, budget: float) -> tuple[Any, float]:
    """Measured errors of draws, and the shortest time of one for a million rows."""
    found, seconds, start = [], np.inf, perf_counter()
    for seed in range(MOST):
        X, _ = split.test.sample(ROWS, rng_for(seed, "kernel_error", "rows"))
        K = evidence.kernel.gram(X, X)
        features = sketch.sample(X.shape[1], D, rng_for(seed, "sketch", name, D, 0), "float32")
        before = perf_counter()
        Phi = features(X)
        seconds = min(seconds, perf_counter() - before)
        found.append(float(np.linalg.norm(features.product(Phi, Phi).real - K) / np.linalg.norm(K)))
        known = np.std(found) <= PRECISE * np.mean(found) * len(found) ** 0.5 and len(found) >= 4 * FEWEST
        if len(found) >= FEWEST and (known or perf_counter() - start > budget):
            break
    return np.array(found), seconds * 1e6 / len(X)


def predictions(candidates: list[Candidate]) -> dict[tuple[str, int], float]:
    """By sketch and multiple of d; some sketches need more features."""
    found = {}
    for one in candidates:
        for times in TIMES_D:
            try:
                found[one.name, times] = one.error(times * padded(one.evidence.d))
            except InputError:
                continue
    return found


def cases(job: Job, done: set[tuple[str, str]], budget: float) -> Iterator[tuple[Any, ...]]:
    """The columns after the kernel, for each sketch and number of features that is not done yet."""
    data = load(job.config["dataset"], data_dir=None, download=False)
    split = prepared_split(data, job.preparation, 0, job.dtype)
    evidence = replace(observe(job, data), n=min(ROWS, len(split.test)))
    candidates = candidates_of(with_every_sketch(job), evidence)
    start = process_time()
    predicted = predictions(candidates)
    seconds = process_time() - start
    wanted = [key for key in predicted if (key[0], str(key[1])) not in done]
    costs = costs_of(candidates, job.engine) if wanted else {}
    for name, times in wanted:
        one, D = next(one for one in candidates if one.name == name), times * padded(evidence.d)
        sample, _ = split.train.sample(max(1000, one.sketch.sample_rows), rng_for(0, "kernel"))
        found, time = errors(one.sketch.adapt(sample, D), name, evidence, split, D, budget)
        intercept, slope = costs[name].seconds
        error = np.std(found, ddof=1) / len(found) ** 0.5
        yield (name, times, D, one.closed_form, predicted[name, times], np.mean(found), error, len(found), seconds,
               slope, intercept, time)  # fmt: skip


def measure(dataset: str, path: Path, budget: float) -> None:
    """Add the missing cases to the CSV file of a dataset."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = pd.read_csv(path, dtype=str) if path.exists() else pd.DataFrame(columns=COLUMNS)
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if not len(before):
            writer.writerow(COLUMNS)
        for kernel, words in KERNELS.items():
            config = compose_jobs([f"dataset={dataset}", *words], multirun=False)[0]
            ours = before[before["kernel"] == kernel]
            done = set(zip(ours["sketch"], ours["times_d"], strict=True))
            for row in cases(build_job(plain_config(without_hydra(config))), done, budget):
                writer.writerow((kernel, *row))
                file.flush()


def in_time(part: pd.DataFrame, seconds: float, error: str) -> dict[str, float]:
    """The error of every sketch in so many seconds: predicted by the timing of advice, measured by that of draws."""
    found = {}
    for name, points in part.sort_values("features").groupby("sketch"):
        if len(points) < len(TIMES_D):
            continue
        slope, intercept = np.polyfit(points["features"], points["time"], 1)
        if error == "predicted":
            slope, intercept = points[["slope", "intercept"]].iloc[0]
        if seconds > intercept:
            x, y = np.log(points["features"]), np.log(points[error])
            D = np.log((seconds - intercept) / max(slope, 1e-9))
            near = np.clip(D, x.min(), x.max())
            found[str(name)] = float(np.exp(np.interp(near, x, y) + (near - D) / 2))
    return found


def regrets(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Measured error of the recommended sketch over the smallest: at equal features, and at equal time."""
    by_features, by_time = [], []
    for (dataset, kernel), part in frame.groupby(["dataset", "kernel"], sort=False):
        for times, same in part.groupby("times_d"):
            best, chosen = same.loc[same["measured"].idxmin()], same.loc[same["predicted"].idxmin()]
            names = chosen["sketch"], best["sketch"]
            by_features.append((dataset, kernel, f"{times}d", *names, chosen["measured"] / best["measured"]))
        plain = part[(part["sketch"] == ("rff" if kernel == "gaussian" else "ctr_tensorsrht")) & (part["times_d"] == 2)]
        for factor in (0.5, 1, 2):
            predicted, measured = (in_time(part, factor * plain["time"].iloc[0], e) for e in ("predicted", "measured"))
            common = predicted.keys() & measured.keys()
            if common:
                best, chosen = (min(common, key=of.__getitem__) for of in (measured, predicted))
                by_time.append((dataset, kernel, f"{factor:g} t", chosen, best, measured[chosen] / measured[best]))
    columns = ["dataset", "kernel", "at", "recommended", "best", "ratio"]
    return {"features": pd.DataFrame(by_features, columns=columns), "time": pd.DataFrame(by_time, columns=columns)}


def markdown(frame: pd.DataFrame) -> str:
    """A table of a page; numbers have three digits."""
    cells = frame.map(lambda cell: f"{cell:.3g}" if isinstance(cell, float) else str(cell))
    lines = [list(frame.columns), ["---"] * len(frame.columns), *cells.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def tables(directory: Path) -> None:
    """The tables of docs/advise.md."""
    files = [path for name in DATASETS if (path := directory / f"{name}.csv").exists()]
    frame = pd.concat([pd.read_csv(path).assign(dataset=path.stem) for path in files])
    frame = frame[frame["measured"] > 1e-5]  # below, it is rounding
    known = frame[frame["closed_form"]].assign(ratio=lambda f: f["predicted"] / f["measured"])
    inside = known["ratio"].between(0.8, 1.25)
    print(f"{len(known)} cases: median {known['ratio'].median():.3f}, within 0.8–1.25 {inside.mean():.1%}\n")
    groups = known.assign(inside=inside).groupby(["dataset", "kernel"], sort=False)
    summary = groups.agg(cases=("ratio", "size"), median=("ratio", "median"), within=("inside", "mean")).reset_index()
    summary["2.5 %"], summary["97.5 %"] = (groups["ratio"].quantile(level).to_numpy() for level in (0.025, 0.975))
    print(markdown(summary))
    shown = ["dataset", "kernel", "sketch", "features", "predicted", "measured", "standard_error", "ratio"]
    print(markdown(known.loc[~inside, shown]))
    for (title, found), most in zip(regrets(frame).items(), (1.05, 1.15), strict=True):
        good = found["ratio"] <= most
        print(
            f"equal {title}: best, or within {most - 1:.0%}, in {good.mean():.0%} of {len(found)} cases; the others:\n"
        )
        print(markdown(found[~good]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--seconds", type=float, default=0.5, help="for the draws of one case")
    parser.add_argument("--directory", type=Path, default=Path("outputs/advise"))
    parser.add_argument("--tables", action="store_true", help="print the tables of the files and measure nothing")
    options = parser.parse_args()
    for name in () if options.tables else options.datasets:
        measure(name, options.directory / f"{name}.csv", options.seconds)
    tables(options.directory)
