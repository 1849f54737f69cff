"""Published numbers as cells: the tables of the papers, and files of the author's own results for each setting.

published.csv holds them as printed (T = Wacker 2022, O = Ohana et al. 2019, C = Chang et al. 2017, B = Brault et al.
2016), percentages as fractions.  Kernels are named by γ and ν of (γ x·y + ν)^p, scaled to γ + ν = 1; the features of
Wacker's tables are multiples of the columns of his Table 5.2.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, sqrt
from pathlib import Path

from rfbench.checks import InputError

IMAGES = ("mnist", "fashion_mnist")  # with a split of their own; the rows of other sets were split again for every seed
TRUTH = {  # file → (kernel, degree, preparation of most sets, of images)
    "polynomial_degree3": ("polynomial(0.5, 0.5)", "3", "min_zero unit_norm", "unit_norm"),
    "polynomial_degree20": ("polynomial(0.125, 0.875)", "20", "standardize unit_norm", "unit_norm"),
    "gaussian": ("gaussian", "", "standardize", "standardize"),
}
METRICS = {"rel_frobenius": "rel_frobenius", "test_error": "error", "mnll": "mnll", "kl_sum": "kl"}
KID = {"srht": "tensorsrht", "countsketch_scatter": "tensorsketch"}
LEARNED = ("error", "mnll", "kl", "mse")
KL_ROWS = 5000  # over which the author's files have the sum
LEAK = "test rows were among their training rows from the second seed on"
BROKEN = "their transform is broken there"
ELSEWHERE = "seconds of another machine"
UNTOLD = "the paper does not tell how many features"


@dataclass(frozen=True)
class Cell:
    """One published number, its setting, and why it cannot be compared with anything, where that is known."""

    source: str
    dataset: str
    n: int  # rows of the whole set; of training rows for task=vector_field
    prepare: str
    task: str
    kernel: str
    degree: str
    sketch: str
    features: str
    metric: str
    mean: float
    std: float | None
    count: int | None
    unit: float  # of the last printed digit of the mean
    fault: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return self.dataset, self.prepare, self.kernel, self.degree, self.sketch, self.features, self.metric

    @property
    def rows(self) -> int:
        """Test rows of a kernel error or a divergence."""
        return min(KL_ROWS, 10_000 if self.dataset in IMAGES else round(0.1 * self.n))


def printed() -> Iterator[Cell]:
    """The tables of the papers."""
    with open(Path(__file__).with_name("published.csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            leaks = row["source"] == "T Table D.1" and row["metric"] == "mnll" and row["dataset"] not in IMAGES
            seconds = row["metric"].endswith("_seconds")
            untold = row["source"] == "B Table 3" and row["metric"] == "rmse"
            fault = LEAK if leaks else ELSEWHERE if seconds else UNTOLD if untold else ""
            yield _cell(row | {"fault": fault})


def author(directory: Path) -> Iterator[Cell]:
    """Files in the format of the author's condensed results, those that are there."""
    files = [path for name in (*TRUTH, "kid_degree3") if (path := directory / f"{name}.csv").is_file()]
    if not files:
        raise InputError(f"no {' or '.join(f'{name}.csv' for name in TRUTH)} in {directory}; give --truth their folder")
    for path in files:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield from _kid(row) if path.stem == "kid_degree3" else [_setting(path.stem, row)]


def _cell(row: dict[str, str]) -> Cell:
    std = row.pop("std")
    mean, unit = _number(row.pop("mean"))
    n, count = int(row.pop("n")), row.pop("count")
    spread, times = None, int(count) if count else None
    if std:  # 0.00 is anything below half of its last digit
        value, last = _number(std)
        spread = max(value, last / 2)
    elif row["metric"] == "kid_std" and times:
        spread, times = of_deviation(mean, times)
    return Cell(n=n, mean=mean, std=spread, count=times, unit=unit, **row)


def of_deviation(s: float, draws: int) -> tuple[float, int]:
    """(spread, count) such that spread/√count is s/√(2(n − 1)), the standard error of a deviation s of n draws."""
    return s / sqrt(2), draws - 1


def _number(text: str) -> tuple[float, float]:
    """(value, one unit of its last digit)."""
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not isfinite(value):
        raise InputError(f"{text} among the published numbers is no number")
    return float(value), 10.0**exponent


def _setting(name: str, row: dict[str, str]) -> Cell:
    """A line of the author's results."""
    kernel, degree, prepare, of_images = TRUTH[name]
    dataset, sketch, metric = row["dataset"], row["sketch"], METRICS.get(row["metric"], row["metric"])
    regression = "_d" in row["source"] and dataset in ("boston", "concrete", "energy", "powerplant", "yacht")
    mean, std = float(row["mean"]), float(row["std"])
    if metric == "kl":
        mean, std = mean / KL_ROWS, std / KL_ROWS
    if metric == "rel_frobenius" and "complex_" in sketch:
        metric = "rel_frobenius_complex"  # the imaginary part was kept
    if metric == "error" and regression:
        metric = "mse"
    fault = LEAK if metric in LEARNED and dataset not in IMAGES else ""
    if "tensorsketch" in sketch and (dataset == "fashion_mnist" or std == 0 or (metric[:3] == "rel" and mean > 1)):
        fault = BROKEN
    if sketch.startswith("optimized_maclaurin") and int(row["features"]) < 20:
        fault = "they have one feature more, a large part of so few"
    rows = re.search(r"_n(\d+)", row["source"])
    return Cell(
        source=f"author, {name}.csv",
        dataset=dataset,
        n=int(rows[1]) if rows else 0,
        prepare=of_images if dataset in IMAGES else prepare,
        task="gpr" if regression else "gpc(alpha=0.001)",
        kernel=kernel,
        degree=degree,
        sketch=sketch,
        features=row["features"],
        metric=metric,
        mean=mean,
        std=std,
        count=int(row["seeds"]),
        unit=0.0,
        fault=fault,
    )


def _kid(row: dict[str, str]) -> Iterator[Cell]:
    """Mean and deviation of 100 draws, as cells of their own; Block-MMD has no sketch."""
    if row["method"] != "rf":
        return
    sketch = ("ctr_" if float(row["complex_real"]) else "") + KID[row["proj"]]
    std, draws = float(row["std"]), 100
    for metric, mean, spread, count in (
        ("kid", float(row["mean"]), std, draws),
        ("kid_std", std, *of_deviation(std, draws)),
    ):
        setting = ("cifar10_inception", 60_000, "", "kid", "polynomial(1/d, 1)", "3")
        features = str(int(float(row["D"])))
        yield Cell("author, kid_degree3.csv", *setting, sketch, features, metric, mean, spread, count, 0.0)
