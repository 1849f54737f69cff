"""A data set is rows that can be read block by block; nothing here holds all of them in memory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array


class Rows(Protocol):
    """n rows, of several columns each or of one number each."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def read(self, start: int, stop: int) -> Array:
        """Rows start..stop, read-only or fresh."""
        ...

    def take(self, index: Array) -> Array:
        """The rows of an increasing index, as a fresh array."""
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


@dataclass(frozen=True)
class OnDisk:
    """Rows of an .npy file.  The map is opened anew for each block: what was read does not stay resident."""

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


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows as published.  The first n_train are the training rows, or None: the split is drawn per seed."""

    name: str
    X: Rows  # (n, d), any real dtype
    y: Rows  # (n,), int64 classes 0..C-1 or float64; (n, p) float64 for several outputs
    classes: int | None  # None: regression
    n_train: int | None = None
    scale: float = 1.0  # raw numbers are divided by it: 255 for pixels
    digest: str = ""  # of the rows as they lie on disk; none where they cannot change

    def targets(self, y: Array) -> NDArray[np.float64]:
        """Labels as a column for each output, (n, p): a class is a unit vector."""
        if self.classes is not None:
            return np.eye(self.classes)[y]
        return y.reshape(len(y), -1).astype(np.float64)
