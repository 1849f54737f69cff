"""Published numbers as cells: the tables of the papers.

published.csv holds them as printed (T = Wacker 2022, O = Ohana et al. 2019, C = Chang et al. 2016, B = Brault et al.
2016), percentages as fractions.  Kernels are named by γ and ν of (γ x·y + ν)^p, scaled to γ + ν = 1; the features of
Wacker's tables are multiples of the columns of his Table 5.2.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, sqrt
from pathlib import Path

from rfbench.checks import InputError

IMAGES = ("mnist", "fashion_mnist")  # which have a fixed split; the rows of other datasets are split for every seed
KL_ROWS = 5000  # test rows of the author's divergences
LEAK = "test rows were among their training rows from the second seed on"
ELSEWHERE = "seconds of another machine"
UNSAID = "the paper does not say how many features"


@dataclass(frozen=True)
class Cell:
    """One published number, its setting, and a known reason why it cannot be compared with ours, if any."""

    source: str
    dataset: str
    n: int  # rows of the dataset; training rows for task=vector_field
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
    unit: float  # one unit of the last printed digit of the mean
    fault: str = ""
    between: tuple[float, float] | None = None  # where other seeds or splits of theirs land

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
            unsaid = row["source"] == "B Table 3" and row["metric"] == "rmse"
            fault = LEAK if leaks else ELSEWHERE if seconds else UNSAID if unsaid else ""
            yield _cell(row | {"fault": fault})


def _cell(row: dict[str, str]) -> Cell:
    std = row.pop("std")
    mean, unit = _number(row.pop("mean"))
    n, count = int(row.pop("n")), row.pop("count")
    spread, times = None, int(count) if count else None
    if std:  # a printed 0.00 is anything below half of its last digit
        value, last = _number(std)
        spread = max(value, last / 2)
    elif row["metric"] == "kid_std" and times:
        spread, times = of_deviation(mean, times)
    return Cell(n=n, mean=mean, std=spread, count=times, unit=unit, between=None, **row)


def of_deviation(s: float, draws: int) -> tuple[float, int]:
    """(spread, count) with spread/√count = s/√(2(n − 1)), the standard error of the standard deviation s of n draws."""
    return s / sqrt(2), draws - 1


def _number(text: str) -> tuple[float, float]:
    """(value, one unit of its last digit)."""
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not isfinite(value):
        raise InputError(f"{text} among the published numbers is not finite")
    return float(value), 10.0**exponent
