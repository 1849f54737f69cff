"""A dataset: rows that are read block by block, never all at once, and that can be pickled."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.datasets.columns import Columns


class Rows(Protocol):
    """n rows of several columns, or of one number each."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def read(self, start: int, stop: int) -> Array:
        """Rows start..stop, as a read-only view or a copy."""
        ...

    def take(self, index: Array) -> Array:
        """The rows of an increasing index, as a copy."""
        ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """Rows of a small array."""

    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def read(self, start: int, stop: int) -> Array:
        view = self.array[start:stop]
        view.flags.writeable = False
        return view

    def take(self, index: Array) -> Array:
        return self.array[index]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a sparse CSR matrix; only those that are read become dense."""

    matrix: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return self.matrix.shape

    def read(self, start: int, stop: int) -> Array:
        return self.matrix[start:stop].toarray()

    def take(self, index: Array) -> Array:
        return self.matrix[index].toarray()


@dataclass(frozen=True)
class OnDisk:
    """Rows of an .npy file.  It is mapped again for each block, so that rows already read do not stay in memory."""

    path: Path

    def _map(self) -> Array:
        return np.load(self.path, mmap_mode="r")

    @property
    def shape(self) -> tuple[int, ...]:
        return self._map().shape

    def read(self, start: int, stop: int) -> Array:
        return np.array(self._map()[start:stop])

    def take(self, index: Array) -> Array:
        return self._map()[index]


@dataclass(frozen=True)
class Rescaled:
    """Targets minus a shift, over a scale."""

    rows: Rows
    shift: float
    scale: float

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.shape

    def read(self, start: int, stop: int) -> Array:
        return (self.rows.read(start, stop) - self.shift) / self.scale

    def take(self, index: Array) -> Array:
        return (self.rows.take(index) - self.shift) / self.scale


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows as published.  The first n_train are the training rows; None: the split is drawn for each seed."""

    name: str
    X: Rows  # (n, d), any real dtype
    y: Rows  # (n,), int64 classes 0..C-1 or float64; (n, p) float64 for several outputs
    classes: int | None  # None: regression
    n_train: int | None = None
    scale: float = 1.0  # the rows are divided by it: 255 for pixels
    digest: str = ""  # of the files; empty for rows that cannot change
    labels: tuple[Any, ...] = ()  # names of the classes as in the file; empty: their numbers
    columns: Columns | None = None  # of the table that it was; None: rows of numbers
    files: tuple[tuple[str, int], ...] = ()  # those that it consists of, in the order of their rows, with their counts
    folds: Rows | None = None  # (n,), for each row which of its published splits it is a test row of
    source: tuple[Any, ...] | None = None  # the arguments that load it

    @property
    def identity(self) -> Any:
        """What tells its rows from those of others: the digest of the files, else the arguments that make it."""
        return self.digest or self.source

    def place(self, row: int) -> tuple[str, int]:
        """What to call the source of a row, and the number of the row in it."""
        for name, count in self.files:
            if row < count:
                return name, row
            row -= count
        return f"dataset '{self.name}'", row

    def rescaled(self, shift: float, scale: float) -> "Dataset":
        """The dataset with its targets minus a shift, over a scale."""
        return replace(self, y=Rescaled(self.y, shift, scale))

    def __reduce__(self) -> Any:
        """Another process loads it by itself, from its own memory map, cache or download, and rescales as here."""
        if isinstance(self.y, Rescaled):
            return Dataset.rescaled, (replace(self, y=self.y.rows), self.y.shift, self.y.scale)
        if self.source is None:
            return super().__reduce__()
        from rfbench.datasets import loaded_again

        return loaded_again, (*self.source, self.digest)

    def targets(self, y: Array) -> NDArray[np.float64]:
        """Labels with a column for each output, (n, p); classes are one-hot."""
        if self.classes is not None:
            return np.eye(self.classes)[y]
        return y.reshape(len(y), -1).astype(np.float64)


def class_name(label: Any) -> str:
    """The name of a class as its file has it: 1 rather than 1.0."""
    return f"{label:g}" if isinstance(label, float) else str(label)
