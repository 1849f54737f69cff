"""Rows with the targets that a model is fitted to; all of them can be pickled and read again from the first row."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import regrouped, spans
from rfbench.datasets.base import Dataset
from rfbench.datasets.prepare import Prepared
from rfbench.engines import Rows
from rfbench.progress import bar, with_progress

Blocks = Iterable[tuple[Array, Array]]  # (X, y)
PREDICTED_ROWS = 4096  # predicted at once


@dataclass(frozen=True, eq=False)
class Held:
    """Rows in memory."""

    X: Array
    y: Array

    def __len__(self) -> int:
        return len(self.X)

    def blocks(self) -> Blocks:
        return [(self.X, self.y)]

    def cut(self, size: int) -> Iterator["Held"]:
        return (Held(self.X[span], self.y[span]) for span in spans(len(self), size))


@dataclass(frozen=True, eq=False)
class Centred:
    """Labels minus their mean."""

    part: Prepared
    shift: float

    def __len__(self) -> int:
        return len(self.part)

    def blocks(self) -> Blocks:
        return ((X, y - self.shift) for X, y in self.part.blocks())

    def cut(self, size: int) -> Iterator["Centred"]:
        return (replace(self, part=part) for part in self.part.cut(size))


@dataclass(frozen=True, eq=False)
class Targets:
    """A column for each output, centred; a class is 1 in its own column and 0, or −1 if signed, in the others."""

    part: Prepared
    shift: Array
    signed: bool = False

    def __len__(self) -> int:
        return len(self.part)

    def blocks(self) -> Blocks:
        dataset = self.part.part.dataset
        columns = signed_targets if self.signed else Dataset.targets
        return ((X, columns(dataset, y) - self.shift) for X, y in self.part.blocks())

    def cut(self, size: int) -> Iterator["Targets"]:
        return (replace(self, part=part) for part in self.part.cut(size))


@dataclass(frozen=True, eq=False)
class OfClass:
    """The rows of one class, each with the target 1."""

    part: Prepared
    label: int
    n: int  # how many rows the class has

    def __len__(self) -> int:
        return self.n

    def blocks(self) -> Blocks:
        return ((X, np.ones(len(X))) for X, _ in self.part.blocks(self.label))

    def cut(self, size: int) -> Iterator["OfClass"]:
        parts = (replace(self.part, part=part) for part in self.part.part.cut_class(self.label, size))
        return (
            OfClass(part, self.label, span.stop - span.start)
            for part, span in zip(parts, spans(self.n, size), strict=True)
        )


def signed_targets(dataset: Dataset, y: Array) -> Array:
    """Targets; a class is +1 in its own column and −1 in the others."""
    targets = dataset.targets(y)
    return targets if dataset.classes is None else 2 * targets - 1


def gathered(*parts: Rows) -> tuple[Array, Array]:
    """(X, y) of all rows in memory."""
    X, y = (
        np.concatenate(column) for column in zip(*(block for rows in parts for block in rows.blocks()), strict=True)
    )
    return X, y


def new_rows(part: Prepared) -> Iterator[tuple[Array, Array]]:
    """(X, y) of all rows to predict, block by block, with a progress bar."""
    with bar(len(part), "new rows", " rows") as shown:
        yield from with_progress(regrouped(part.blocks(), PREDICTED_ROWS), shown)
