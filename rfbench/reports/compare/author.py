"""The thesis author's own results for each setting, as cells, from files in a condensed format [Wacker 2022]."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rfbench.reports.compare.published import IMAGES, KL_ROWS, LEAK, Cell, of_deviation


class Experiment(NamedTuple):
    """The part of the setting that all lines of a file share."""

    kernel: str
    degree: str
    prepare: str
    prepare_images: str
    alpha: float  # of classification with images, in a column of the original files


EXPERIMENTS = {
    "polynomial_degree3": Experiment("polynomial(0.5, 0.5)", "3", "min_zero unit_norm", "unit_norm", 0.001),
    "polynomial_degree20": Experiment("polynomial(0.125, 0.875)", "20", "standardize unit_norm", "unit_norm", 0.01),
    "gaussian": Experiment("gaussian", "", "standardize", "standardize", 0.01),
}
METRICS = {"test_error": "error", "kl_sum": "kl"}  # theirs → ours; the others have one name
KID_FILE = "kid_degree3"
KID_SKETCHES = {"srht": "tensorsrht", "countsketch_scatter": "tensorsketch"}
REGRESSION = ("boston", "concrete", "energy", "powerplant", "yacht")
LEARNED = ("error", "mnll", "kl", "mse")
BROKEN = "their transform is broken there"


def author(directory: Path) -> Iterator[Cell]:
    """The cells of all files of the author's that the directory has."""
    files = [path for name in (*EXPERIMENTS, KID_FILE) if (path := directory / f"{name}.csv").is_file()]
    for path in files:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield from _kid(row) if path.stem == KID_FILE else [_cell(path.stem, row)]


def _cell(name: str, row: dict[str, str]) -> Cell:
    """One line of a file."""
    experiment, dataset, metric = EXPERIMENTS[name], row["dataset"], _metric(row)
    rows = re.search(r"_n(\d+)", row["source"])
    per_row = KL_ROWS if metric == "kl" else 1  # the files have sums over the test rows
    mean, std = float(row["mean"]) / per_row, float(row["std"]) / per_row
    return Cell(
        source=f"author, {name}.csv",
        dataset=dataset,
        n=int(rows[1]) if rows else 0,
        prepare=experiment.prepare_images if dataset in IMAGES else experiment.prepare,
        task="gpr" if dataset in REGRESSION else f"gpc(alpha={experiment.alpha})",
        kernel=experiment.kernel,
        degree=experiment.degree,
        sketch=row["sketch"],
        features=row["features"],
        metric=metric,
        mean=mean,
        std=std,
        count=int(row["seeds"]),
        unit=0.0,
        fault=_fault(row, metric, mean, std),
    )


def _metric(row: dict[str, str]) -> str:
    """Our name of the metric in a line; his kernel errors are those of the real part [T 5.4.1]."""
    metric = METRICS.get(row["metric"], row["metric"])
    if metric == "error" and row["dataset"] in REGRESSION:
        return "mse"
    return metric


def _fault(row: dict[str, str], metric: str, mean: float, std: float) -> str:
    """Why the numbers of a line cannot be compared, or nothing."""
    dataset, sketch = row["dataset"], row["sketch"]
    odd = dataset == "fashion_mnist" or std == 0 or (metric.startswith("rel_") and mean > 1)
    if "tensorsketch" in sketch and odd:
        return BROKEN
    return LEAK if metric in LEARNED and dataset not in IMAGES else ""


def _kid(row: dict[str, str]) -> Iterator[Cell]:
    """Mean and standard deviation of 100 draws, as cells of their own; Block-MMD has no sketch."""
    if row["method"] != "rf":
        return
    sketch = ("ctr_" if float(row["complex_real"]) else "") + KID_SKETCHES[row["proj"]]
    mean, std, draws = float(row["mean"]), float(row["std"]), 100
    for metric, value, spread, count in (("kid", mean, std, draws), ("kid_std", std, *of_deviation(std, draws))):
        setting = ("cifar10_inception", 60_000, "", "kid(exact_degree=0)", "polynomial(1/d, 1)", "3")
        features = str(int(float(row["D"])))
        yield Cell(f"author, {KID_FILE}.csv", *setting, sketch, features, metric, value, spread, count, 0.0)
