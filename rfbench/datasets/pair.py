"""Two sets of rows, such as two .npy files, as a dataset: training rows are the first, test rows the second."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory, OnDisk, Rows
from rfbench.datasets.formats.binary import read_npy
from rfbench.datasets.store import data_digest


@dataclass(frozen=True)
class Stacked:
    """Some rows, then others."""

    first: Rows
    second: Rows

    @property
    def shape(self) -> tuple[int, ...]:
        n, *columns = self.first.shape
        return n + self.second.shape[0], *columns

    def read(self, start: int, stop: int) -> Array:
        n = self.first.shape[0]
        if stop <= n:
            return self.first.read(start, stop)
        if start >= n:
            return self.second.read(start - n, stop - n)
        return np.concatenate((self.first.read(start, n), self.second.read(0, stop - n)))

    def take(self, index: NDArray[Any]) -> Array:
        n = self.first.shape[0]
        inside = index < n
        return np.concatenate((self.first.take(index[inside]), self.second.take(index[~inside] - n)))


def pair(task: Mapping[str, Any]) -> dict[str, Any] | None:
    """The config of the dataset of task.x and task.y, where they are given."""
    x, y = task.get("x"), task.get("y")
    if x is None and y is None:
        return None
    if x is None or y is None:
        raise InputError(f"task.x and task.y compare two files; give task.{'x' if x is None else 'y'} too")
    files = {key: str(Path(str(file)).expanduser().absolute()) for key, file in (("x", x), ("y", y))}
    return {"name": f"{Path(str(x)).stem}-{Path(str(y)).stem}", **files}


def stacked(name: str, first: Rows, second: Rows, digest: str = "") -> Dataset:
    """Training rows and test rows without labels."""
    rows = Stacked(first, second)
    labels = InMemory(np.broadcast_to(0.0, rows.shape[:1]))
    return Dataset(name, rows, labels, None, first.shape[0], digest=digest)


def load_pair(config: Mapping[str, Any]) -> Dataset:
    files = [Path(config[key]) for key in ("x", "y")]
    (_, d), (_, other) = (_shape(f"task.{key}", file) for key, file in zip("xy", files, strict=True))
    if d != other:
        raise InputError(f"task.x has {d} columns and task.y {other}; extract both with the same network")
    return stacked(config["name"], OnDisk(files[0]), OnDisk(files[1]), data_digest(*files))


def _shape(key: str, file: Path) -> tuple[int, ...]:
    """The shape of an .npy file of numbers."""
    wanted = f"{key} must be an .npy file with one feature vector per row"
    if not file.is_file():
        raise InputError(f"{wanted}; {file} does not exist")
    if file.suffix != ".npy":
        raise InputError(f"{wanted} (np.save('{file.stem}.npy', features)); got {file.name}")
    array = read_npy(file)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or 0 in array.shape:
        raise InputError(f"{wanted}; {file.name} has {array.dtype} of shape {array.shape}")
    return array.shape
