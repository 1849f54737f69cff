"""Training rows of one dataset with test rows unlike them: negated, Gaussian, or those of another dataset."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, Rows
from rfbench.datasets.generated.synthetic import Drawn
from rfbench.datasets.pair import Stacked

CHANGED = ("negated", "gaussian")  # test rows that are no other dataset


@dataclass(frozen=True)
class Excerpt:
    """Some consecutive rows, each divided by a scale, which may be negative."""

    rows: Rows
    start: int
    stop: int
    scale: float = 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.stop - self.start, *self.rows.shape[1:]

    def read(self, start: int, stop: int) -> Array:
        return self._scaled(self.rows.read(self.start + start, min(self.start + stop, self.stop)))

    def take(self, index: Array) -> Array:
        return self._scaled(self.rows.take(index + self.start))

    def _scaled(self, rows: Array) -> Array:
        return rows if self.scale == 1 else rows / self.scale


def load_shifted(config: Mapping[str, Any], load: Callable[[str], Dataset]) -> Dataset:
    """The training rows of dataset.train, then the test rows that dataset.test names; the split is fixed."""
    base, name = load(str(config["train"])), str(config["test"])
    other = base if name in CHANGED else _another(name, load)
    (n, d), (m, columns) = base.X.shape, other.X.shape
    if d != columns:
        raise InputError(f"'{base.name}' has {d} columns and '{other.name}' {columns}; dataset=shifted needs as many")
    n, start = (
        rows if one.n_train is None else one.n_train for one, rows in ((base, n - n // 10), (other, m - m // 10))
    )
    test: Rows = Excerpt(other.X, start, m, -other.scale if name == "negated" else other.scale)
    if name == "gaussian":
        test = Drawn("gaussian", m - start, d, 1.0)
    labels = Stacked(Excerpt(base.y, 0, n), Excerpt(other.y, start, m))
    classes = base.classes if base.classes == other.classes else None
    rows = Stacked(Excerpt(base.X, 0, n, base.scale), test)
    return Dataset("shifted", rows, labels, classes, n, digest=base.digest + other.digest)


def _another(name: str, load: Callable[[str], Dataset]) -> Dataset:
    """The dataset of that name; a word like those of CHANGED is explained as one."""
    try:
        return load(name)
    except InputError:
        if close := get_close_matches(name, CHANGED, n=1):
            raise InputError(f"no dataset.test={name}; did you mean '{close[0]}'?") from None
        raise
