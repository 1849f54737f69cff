"""Advice against measurements: predicted over measured error, and whether the recommended sketch is the best.

measured            mean over draws of ‖K̂ − K‖/‖K‖ on test rows, drawn anew each time, of sketches fitted as in a run
predicted           what `rfbench advise` says of a kernel matrix of as many rows, from training rows only
at equal features   measured error of the recommended sketch over the smallest, of all sketches with D features
at equal time       the same in a half, one and two times the time of ctr_tensorsrht (rff) with 2d features, to fit and
                    compute a million rows; the advice goes by its own timing, with a tenth to spare as in
                    seconds=…, the measured errors by another one at d/2, d, 2d and 4d, each by its own time of that
                    sketch; both are interpolated, for d/4 to 8d
by halves           the same where predicted errors meet measured times, and measured errors the advice's times
repeated            the same where measured errors meet a second timing like the first: what no advice can exceed

A case takes at least 4 draws, and then more until its mean is known to 3 % or its seconds are spent.  The CSV files of
a dataset are resumed where they stopped: python bench/advise.py digits letter.  --again measures cases once more whose
mean is known to no better than 5 %; --tables prints what the files say.
"""

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd

from rfbench.advise.candidates import Candidate, candidates_of, with_every_sketch
from rfbench.advise.cost import Curve, cost_of, drawn, timed
from rfbench.advise.cost import measured as costs_of
from rfbench.advise.evidence import Evidence, observe
from rfbench.advise.ranking import SPARED
from rfbench.arrays import padded
from rfbench.checks import InputError
from rfbench.config.compose import compose_jobs
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
           "predict_seconds")  # fmt: skip
TIMINGS = ("advice", "measured", "repeated")
TIMES = ("kernel", "sketch", "timing", "features", "seconds")  # of a million rows, fitting included


def errors(sketch: Sketch, name: str, evidence: Evidence, split: Split, D: int, budget: float) -> Any:
    """Measured errors of draws."""
    found, start = [], perf_counter()
    for seed in range(MOST):
        X, _ = split.test.sample(ROWS, rng_for(seed, "kernel_error", "rows"))
        K = evidence.kernel.gram(X, X)
        features = sketch.sample(X.shape[1], D, rng_for(seed, "sketch", name, D, 0), "float32")
        Phi = features(X)
        found.append(float(np.linalg.norm(features.product(Phi, Phi).real - K) / np.linalg.norm(K)))
        known = np.std(found) <= PRECISE * np.mean(found) * len(found) ** 0.5 and len(found) >= 4 * FEWEST
        if len(found) >= FEWEST and (known or perf_counter() - start > budget):
            break
    return np.array(found)


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


def cases(job: Job, done: set[tuple[str, int]], budget: float) -> Iterator[tuple[Any, ...]]:
    """The columns after the kernel, for each sketch and number of features that is not done yet."""
    data = load(job.config["dataset"], data_dir=None, download=False)
    split = prepared_split(data, job.preparation, 0, job.dtype)
    evidence = replace(observe(job, data), n=min(ROWS, len(split.test)))
    candidates = candidates_of(with_every_sketch(job), evidence)
    start = process_time()
    predicted = predictions(candidates)
    seconds = process_time() - start
    for name, times in (key for key in predicted if key not in done):
        one, D = next(one for one in candidates if one.name == name), times * padded(evidence.d)
        sample, _ = split.train.sample(max(1000, one.sketch.sample_rows), rng_for(0, "kernel"))
        found = errors(one.sketch.adapt(sample, D), name, evidence, split, D, budget)
        error = np.std(found, ddof=1) / len(found) ** 0.5
        yield name, times, D, one.closed_form, predicted[name, times], np.mean(found), error, len(found), seconds


def times_of(job: Job) -> Iterator[tuple[Any, ...]]:
    """The time of every sketch as advice has it, and twice at numbers of features of our own."""
    evidence = observe(job, load(job.config["dataset"], data_dir=None, download=False))
    candidates = candidates_of(with_every_sketch(job), evidence)
    found = [costs_of(candidates, job.engine)]
    ours = [one for one in candidates if one.name in found[0]]
    h = padded(evidence.d)
    maps = {one.name: drawn(one, (max(h // 2, 2), h, 2 * h, 4 * h)) for one in ours}
    for _ in TIMINGS[1:]:
        seconds = timed(maps, evidence, job.engine)
        found.append({one.name: cost_of(one, maps[one.name], seconds[one.name]) for one in ours})
    for timing, costs in zip(TIMINGS, found, strict=True):
        for name, cost in costs.items():
            yield from ((name, timing, D, y) for D, y in zip(cost.total.D[1:], cost.total.y[1:], strict=True))


def append(path: Path, columns: tuple[str, ...], rows: Callable[[str, Job, pd.DataFrame], Iterator[Any]]) -> None:
    """Add to a CSV file the rows of every kernel that it lacks; each row is complete or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=columns)
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if not len(before):
            writer.writerow(columns)
        for kernel, words in KERNELS.items():
            config = compose_jobs([f"dataset={path.stem.removesuffix('-times')}", *words], multirun=False)[0]
            job = build_job(plain_config(config))
            for row in rows(kernel, job, before[before["kernel"] == kernel]):
                writer.writerow((kernel, *row))
                file.flush()


def measure(directory: Path, dataset: str, budget: float, again: bool) -> None:
    """Fill both CSV files of a dataset."""

    def missing(kernel: str, job: Job, before: pd.DataFrame) -> Iterator[Any]:
        good = before[before["standard_error"] <= 0.05 * before["measured"]] if again else before
        return cases(job, set(zip(good["sketch"], good["times_d"], strict=True)), budget)

    append(directory / f"{dataset}-times.csv", TIMES, lambda _, job, found: iter(()) if len(found) else times_of(job))
    append(directory / f"{dataset}.csv", COLUMNS, missing)


def in_time(errors: pd.DataFrame, curves: dict[str, Curve], seconds: float, kind: str) -> dict[str, float]:
    """The predicted or measured error of every sketch in so many seconds."""
    found = {}
    for name, curve in curves.items():
        points = errors[errors["sketch"] == name].sort_values("features")
        if len(points) < len(TIMES_D):
            continue
        x, y = np.log(points["features"].to_numpy()), np.log(points[kind].to_numpy())
        if np.exp(x[0]) / 4 <= (most := curve.within(seconds)):
            D = np.log(min(most, 2 * np.exp(x[2])))
            near = np.clip(D, x[0], x[2])
            found[name] = float(np.exp(np.interp(near, x, y) + (near - D) / 2))
    return found


COMPARED = ["dataset", "kernel", "at", "recommended", "best", "ratio"]


def at_equal_features(frame: pd.DataFrame) -> pd.DataFrame:
    """Measured error of the recommended sketch over the smallest."""
    found = []
    for (dataset, kernel, times), same in frame.groupby(["dataset", "kernel", "times_d"], sort=False):
        best, chosen = (same.loc[same[kind].idxmin()] for kind in ("measured", "predicted"))
        ratio = chosen["measured"] / best["measured"]
        found.append((dataset, kernel, f"{times}d", chosen["sketch"], best["sketch"], ratio))
    return pd.DataFrame(found, columns=COMPARED)


def at_equal_time(frame: pd.DataFrame, times: pd.DataFrame, kind: str, timing: str) -> pd.DataFrame:
    """The same in three times, recommended by errors and times of a kind; sketches that need more are left out."""
    found = []
    for (dataset, kernel), part in frame.groupby(["dataset", "kernel"], sort=False):
        same = times[(times["dataset"] == dataset) & (times["kernel"] == kernel)]
        if not len(same):
            continue
        curves = {
            source: {
                name: Curve.through(points["features"].to_list(), points["seconds"].to_numpy())
                for name, points in of.groupby("sketch")
            }
            for source, of in same.groupby("timing")
        }
        plain = "rff" if kernel == "gaussian" else "ctr_tensorsrht"
        unit = {source: of[plain](2 * part["features"].min()) for source, of in curves.items()}
        for factor in (0.5, 1, 2):
            measured = in_time(part, curves["measured"], factor * unit["measured"], "measured")
            recommended = in_time(part, curves[timing], SPARED * factor * unit[timing], kind)
            if measured and recommended:
                best, chosen = (min(of, key=of.__getitem__) for of in (measured, recommended))
                ratio = measured.get(chosen, np.inf) / measured[best]
                found.append((dataset, kernel, f"{factor:g} t", chosen, best, ratio))
    return pd.DataFrame(found, columns=COMPARED)


def markdown(frame: pd.DataFrame) -> str:
    """A table of a page; numbers have three digits."""
    cells = frame.map(lambda cell: f"{cell:.3g}" if isinstance(cell, float) else str(cell))
    lines = [list(frame.columns), ["---"] * len(frame.columns), *cells.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def tables(directory: Path) -> None:
    """The tables of docs/advise.md."""
    names = [name for name in DATASETS if (directory / f"{name}-times.csv").exists()]
    frame, times = (
        pd.concat(
            [pd.read_csv(directory / f"{name}{end}.csv").assign(dataset=name) for name in names], ignore_index=True
        )
        for end in ("", "-times")
    )
    frame = frame.sort_values("draws").drop_duplicates(["dataset", "kernel", "sketch", "times_d"], keep="last")
    frame = frame[frame["measured"] > 1e-5].sort_index()  # below, it is rounding
    known = frame[frame["closed_form"]].assign(ratio=lambda f: f["predicted"] / f["measured"])
    inside = known["ratio"].between(0.8, 1.25)
    print(f"{len(known)} cases: median {known['ratio'].median():.3f}, within 0.8–1.25 {inside.mean():.1%}\n")
    groups = known.assign(inside=inside).groupby(["dataset", "kernel"], sort=False)
    summary = groups.agg(cases=("ratio", "size"), median=("ratio", "median"), within=("inside", "mean")).reset_index()
    summary["2.5 %"], summary["97.5 %"] = (groups["ratio"].quantile(level).to_numpy() for level in (0.025, 0.975))
    print(markdown(summary))
    shown = ["dataset", "kernel", "sketch", "features", "predicted", "measured", "standard_error", "ratio"]
    print(markdown(known.loc[~inside, shown]))
    for title, found, most in (
        ("features", at_equal_features(frame), 1.05),
        ("time, by predicted errors and measured times", at_equal_time(frame, times, "predicted", "measured"), 1.15),
        ("time, by measured errors and times of the advice", at_equal_time(frame, times, "measured", "advice"), 1.15),
        ("time, by measured errors and times repeated", at_equal_time(frame, times, "measured", "repeated"), 1.15),
        ("time", at_equal_time(frame, times, "predicted", "advice"), 1.15),
    ):
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
    parser.add_argument(
        "--again", action="store_true", help="measure cases again that are known to no better than 5 %%"
    )
    parser.add_argument("--tables", action="store_true", help="print the tables of the files and measure nothing")
    options = parser.parse_args()
    for name in () if options.tables else options.datasets:
        measure(options.directory, name, options.seconds, options.again)
    tables(options.directory)
