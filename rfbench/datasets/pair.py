"""Two .npy files as a data set: the rows of the first are for training, those of the second for testing."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory, OnDisk
from rfbench.datasets.formats.binary import read_npy
from rfbench.storage import checksum


@dataclass(frozen=True)
class Stacked:
    """The rows of one file, then those of another."""

    first: OnDisk
    second: OnDisk

    @property
    def shape(self) -> tuple[int, ...]:
        (n, d), (m, _) = self.first.shape, self.second.shape
        return n + m, d

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
    """The config of the data set of task.x and task.y, where they are given."""
    x, y = task.get("x"), task.get("y")
    if x is None and y is None:
        return None
    if x is None or y is None:
        raise InputError(f"task.x and task.y are two files to compare; only task.{'y' if x is None else 'x'} was given")
    files = {key: str(Path(str(file)).expanduser().absolute()) for key, file in (("x", x), ("y", y))}
    return {"name": f"{Path(str(x)).stem}-{Path(str(y)).stem}", **files}


def load_pair(config: Mapping[str, Any]) -> Dataset:
    files = [Path(config[key]) for key in ("x", "y")]
    (n, d), (m, other) = (_shape(f"task.{key}", file) for key, file in zip("xy", files, strict=True))
    if d != other:
        raise InputError(f"task.x has rows of {d} columns and task.y of {other}; use the same extractor for both")
    digest = hashlib.sha256("".join(map(checksum, files)).encode()).hexdigest()[:12]
    labels = InMemory(np.broadcast_to(0.0, (n + m,)))
    return Dataset(config["name"], Stacked(*map(OnDisk, files)), labels, None, n, digest=digest)


def _shape(key: str, file: Path) -> tuple[int, ...]:
    """Of a file of rows of numbers."""
    wanted = f"{key} wants an .npy file of feature vectors, one a row"
    if not file.is_file():
        raise InputError(f"{wanted}; there is no {file}")
    if file.suffix != ".npy":
        raise InputError(f"{wanted} (np.save('{file.stem}.npy', features)); {file.name} was given")
    array = read_npy(file)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or 0 in array.shape:
        raise InputError(f"{wanted}; {file.name} is {array.dtype} of shape {array.shape}")
    return array.shape
