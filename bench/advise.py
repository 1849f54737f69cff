"""Advice against measurements: predicted over measured error, and whether the recommended sketch is the best.

measured   mean over draws of ‖K̂ − K‖/‖K‖ on test rows, drawn anew each time, of sketches fitted as a run fits them
predicted  what `rfbench advise` says of a kernel matrix of as many rows, from training rows only
at equal features   measured error of the recommended sketch over the smallest, of all sketches with D features
at equal time       the same in the time of ctr_tensorsrht (rff) with 2d features; errors between measured D are interpolated

A case takes at least 4 draws, and then more until its mean is known to 3 % or its share of seconds is spent.  The CSV file
of a dataset is resumed where it stopped: python bench/advise.py digits letter, then --docs for the tables.
"""

import argparse
import csv
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from rfbench.advise.candidates import Candidate, candidates_of, with_every_sketch
from rfbench.advise.cost import measured as costs_of
from rfbench.advise.evidence import observe
from rfbench.arrays import padded
from rfbench.checks import InputError
from rfbench.config.compose import compose_jobs, without_hydra
from rfbench.datasets import load
from rfbench.datasets.prepare import Split, prepared_split
from rfbench.job import build_job, plain_config
from rfbench.kernels import Kernel
from rfbench.seeds import rng_for

DATASETS = ("digits", "letter", "magic", "covertype", "mnist", "fashion_mnist")
KERNELS = {"p = 2": ["degree=2"], "p = 3": ["degree=3"], "p = 6": ["degree=6"], "gaussian": ["sketch=rff"]}
ROWS = 200  # test rows of a kernel matrix
PRECISE, FEWEST, MOST = 0.03, 4, 400
COLUMNS = ("kernel", "sketch", "times_d", "features", "closed_form", "predicted", "measured", "standard_error", "draws",
           "predict_seconds", "slope", "intercept", "time")  # fmt: skip


def errors(one: Candidate, kernel: Kernel, split: Split, D: int, budget: float) -> tuple[list[float], float]:
    """Measured errors of draws, and the least seconds of one feature map for a million rows."""
    rows = max(1000, one.sketch.sample_rows)
    sketch = one.sketch.adapt(split.train.sample(rows, rng_for(0, "kernel"))[0], D)
    found, seconds, start = [], np.inf, perf_counter()
    for seed in range(MOST):
        X, _ = split.test.sample(ROWS, rng_for(seed, "kernel_error", "rows"))
        K = kernel.gram(X, X)
        features = sketch.sample(X.shape[1], D, rng_for(seed, "sketch", one.name, D, 0), "float32")
        before = perf_counter()
        Phi = features(X)
        seconds = min(seconds, perf_counter() - before)
        found.append(float(np.linalg.norm(features.product(Phi, Phi).real - K) / np.linalg.norm(K)))
        known = len(found) >= FEWEST and np.std(found) <= PRECISE * np.mean(found) * len(found) ** 0.5
        if len(found) >= FEWEST and ((known and len(found) >= 16) or perf_counter() - start > budget):
            break
    return found, seconds * 1e6 / len(X)


def cases(dataset: str, kernel: str, done: set[tuple[str, str]], budget: float):
    """A row for each sketch and number of features that is not done yet."""
    config = compose_jobs([f"dataset={dataset}", *KERNELS[kernel]], multirun=False)[0]
    job = build_job(plain_config(without_hydra(config)))
    data = load(job.config["dataset"], data_dir=None, download=False)
    split, start = prepared_split(data, job.preparation, 0, job.dtype), perf_counter()
    evidence = replace(observe(job, data), n=min(ROWS, len(split.test)))
    exact = job.task.fit(job.kernel, split.train, 0, job.engine)
    candidates = [one for one in candidates_of(with_every_sketch(job), evidence)]
    predicted, seconds = {}, {}
    for one in candidates:
        for times in (1, 2, 4):
            try:
                predicted[one.name, times] = one.error(times * padded(evidence.d))
            except InputError:
                continue
    seconds = perf_counter() - start
    costs = costs_of(candidates, job.engine) if {(one.name, "1") for one in candidates} - done else {}
    for one in candidates:
        truth = Candidate(one.name, replace(job, config={**job.config, "sketch": sketch_config(one.name)}).sketch(exact),
                          evidence)  # fmt: skip
        for times in (1, 2, 4):
            if (one.name, str(times)) in done or (one.name, times) not in predicted:
                continue
            D = times * padded(evidence.d)
            found, time = errors(truth, exact, split, D, budget)
            error = np.std(found, ddof=1) / len(found) ** 0.5
            intercept, slope = costs[one.name].seconds
            yield (kernel, one.name, times, D, one.closed_form, predicted[one.name, times], np.mean(found), error,
                   len(found), seconds, slope, intercept, time)  # fmt: skip


def sketch_config(name: str) -> dict:
    from rfbench.config.labels import default_options

    return dict(default_options("sketch", name))


def measure(dataset: str, directory: Path, budget: float) -> None:
    """Add the missing cases to the CSV file of a dataset."""
    path = directory / f"{dataset}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    before = pd.read_csv(path, dtype=str) if path.exists() else pd.DataFrame(columns=COLUMNS)
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if not len(before):
            writer.writerow(COLUMNS)
        for kernel in KERNELS:
            ours = before[before["kernel"] == kernel]
            for row in cases(dataset, kernel, set(zip(ours["sketch"], ours["times_d"], strict=True)), budget):
                writer.writerow(row)
                file.flush()
            print(dataset, kernel, flush=True)


def at_time(part: pd.DataFrame, seconds: float, error: str, time: str) -> dict[str, float]:
    """The error of every sketch in so many seconds, on the lines between its numbers of features."""
    found = {}
    for name, points in part.groupby("sketch"):
        slope, intercept = np.polyfit(points["features"], points[time], 1) if time == "time" else points[
            ["slope", "intercept"]
        ].iloc[0]
        if len(points) < 3 or seconds <= intercept:
            continue
        D = (seconds - intercept) / max(slope, 1e-12)
        x, y = np.log(points["features"]), np.log(points[error])
        near = np.clip(np.log(D), x.min(), x.max())
        found[name] = float(np.exp(np.interp(near, x, y)) * np.exp((near - np.log(D)) / 2))
    return found


def regrets(frame: pd.DataFrame) -> tuple[list[tuple], list[tuple]]:
    """Measured error of the recommended sketch over the smallest: at equal features, and at equal time."""
    by_features, by_time = [], []
    for (dataset, kernel), part in frame.groupby(["dataset", "kernel"], sort=False):
        for times, same in part.groupby("times_d"):
            chosen = same.loc[same["predicted"].idxmin()]
            by_features.append((dataset, kernel, times, chosen["sketch"], chosen["measured"] / same["measured"].min()))
        plain = part[(part["sketch"] == ("rff" if kernel == "gaussian" else "ctr_tensorsrht")) & (part["times_d"] == 2)]
        for factor in (0.5, 1, 2):
            budget = factor * float(plain["intercept"].iloc[0] + plain["slope"].iloc[0] * plain["features"].iloc[0])
            predicted = at_time(part, budget, "predicted", "model")
            measured = at_time(part, budget, "measured", "model")
            common = predicted.keys() & measured.keys()
            if common:
                chosen = min(common, key=predicted.__getitem__)
                by_time.append((dataset, kernel, factor, chosen, measured[chosen] / min(measured[c] for c in common)))
    return by_features, by_time


def tables(directory: Path) -> None:
    """The tables of docs/advise.md."""
    frames = [pd.read_csv(directory / f"{name}.csv").assign(dataset=name) for name in DATASETS if (directory / f"{name}.csv").exists()]  # fmt: skip
    frame = pd.concat(frames)
    frame = frame[frame["measured"] > 1e-5]  # below, it is rounding
    known = frame[frame["closed_form"]].assign(ratio=lambda f: f["predicted"] / f["measured"])
    print("| dataset | kernel | cases | median | 2.5 % | 97.5 % | within 0.8–1.25 |\n| --- | --- | --- | --- | --- | --- | --- |")
    groups = [*known.groupby(["dataset", "kernel"], sort=False), (("all", "all"), known)]
    for (dataset, kernel), part in groups:
        low, middle, high = part["ratio"].quantile([0.025, 0.5, 0.975])
        inside = part["ratio"].between(0.8, 1.25).mean()
        print(f"| {dataset} | {kernel} | {len(part)} | {middle:.2f} | {low:.2f} | {high:.2f} | {inside:.0%} |")
    misses = known[~known["ratio"].between(0.8, 1.25)]
    print(f"\n{len(known)} cases, median {known['ratio'].median():.3f}, within {known['ratio'].between(0.8, 1.25).mean():.1%};")
    print(f"predictions of a dataset and kernel: at most {frame['predict_seconds'].max():.1f} s")
    print("\n| dataset | kernel | sketch | features | predicted | measured ± error | ratio |\n| --- | --- | --- | --- | --- | --- | --- |")
    for m in misses.itertuples():
        print(f"| {m.dataset} | {m.kernel} | {m.sketch} | {m.features} | {m.predicted:.3g} | {m.measured:.3g} ± {m.standard_error:.2g} | {m.ratio:.2f} |")
    for title, found, most in zip(("features", "time"), regrets(frame), (1.05, 1.15), strict=True):
        good = np.mean([row[-1] <= most for row in found])
        print(f"\nequal {title}: best or within {most - 1:.0%} in {good:.0%} of {len(found)} cases; misses:")
        for dataset, kernel, level, sketch, ratio in found:
            if ratio > most:
                print(f"| {dataset} | {kernel} | {level} | {sketch} | {ratio:.2f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--seconds", type=float, default=0.5, help="for the draws of one case")
    parser.add_argument("--directory", type=Path, default=Path("outputs/advise"))
    parser.add_argument("--docs", action="store_true", help="print the tables of the files")
    options = parser.parse_args()
    if not options.docs:
        for name in options.datasets or DATASETS:
            measure(name, options.directory, options.seconds)
    tables(options.directory)
