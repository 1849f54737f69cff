"""Sets of rows, such as files, as a dataset: training rows are the first set, test rows all others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory, OnDisk, Rows
from rfbench.datasets.formats.binary import read_npy, unpacked
from rfbench.datasets.store import data_digest
from rfbench.registry import find
from rfbench.storage import cache_dir, ensure_dir

MOST_NAMES = 3  # in the name of a directory


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
    if x is None or not y:
        raise InputError(f"task.x and task.y compare two files; give task.{'x' if x is None else 'y'} too")
    others = [str(file) for file in y] if isinstance(y, list) else [str(y)]
    files = [str(Path(file).expanduser().absolute()) for file in (str(x), *others)]
    if len(set(files[1:])) < len(others):
        raise InputError("task.y names a file twice; give each once")
    words = [Path(file).stem for file in others] if len(others) <= MOST_NAMES else [f"{len(others)}-sets"]
    name = "-".join([Path(files[0]).stem, *words])
    return {"name": name, "x": files[0], "y": files[1] if len(others) == 1 else files[1:]}


def names_of(files: Sequence[Path]) -> list[str]:
    """Names without folders where these differ, else with as many of the last folders as they need to."""
    depth = 1
    while len(set(names := ["/".join(file.parts[-depth:]) for file in files])) < len(set(files)):
        depth += 1
    return names


def stacked(name: str, parts: Iterable[tuple[str, Rows]], digest: str = "") -> Dataset:
    """Training rows, then test rows, of one or several files, without labels."""
    parts = list(parts)
    rows = reduce(Stacked, (rows for _, rows in parts))
    labels = InMemory(np.broadcast_to(0.0, rows.shape[:1]))
    files = tuple((file, rows.shape[0]) for file, rows in parts)
    return Dataset(name, rows, labels, None, files[0][1], digest=digest, files=files)


def load_pair(config: Mapping[str, Any]) -> Dataset:
    x, y = config["x"], config["y"]
    others = [Path(file) for file in (y if isinstance(y, list) else [y])]
    sources = [("task.x", Path(x)), *(("task.y", file) for file in others)]
    files = [feature_file(key, file) for key, file in sources]
    widths = [read_npy(file).shape[1] for file in files]
    for (key, source), width in zip(sources, widths, strict=True):
        if width != widths[0]:
            raise InputError(
                f"{Path(x).name} (task.x) has {widths[0]} columns and {source.name} ({key}) {width}; "
                "extract both with the same network"
            )
    names = names_of([source for _, source in sources])
    rows = zip(names, map(OnDisk, files), strict=True)
    return stacked(config["name"], rows, data_digest(*files))


def feature_file(key: str, source: Path) -> Path:
    """The .npy file of the feature vectors of a source, which may be a copy in the cache."""
    wanted = f"{key} must be an .npy or .npz file with one feature vector per row, or a folder of images"
    if source.is_dir():
        return of_images(source)
    if not source.is_file():
        raise InputError(f"{wanted}; {source} does not exist")
    if source.suffix not in (".npy", ".npz"):
        raise InputError(f"{wanted} (np.save('{source.stem}.npy', features)); got {source.name}")
    file = source if source.suffix == ".npy" else unpacked(source)
    array = read_npy(file)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or 0 in array.shape:
        raise InputError(f"{wanted}; {source.name} has {array.dtype} of shape {array.shape}")
    if len(array) < 2:
        raise InputError(f"task=kid needs at least 2 rows of each set; {source.name} has one")
    return file


def of_images(folder: Path) -> Path:
    """The Inception features of the images in a folder, which a plugin computes once for the same images."""
    extract = find("images", "inception", {})
    file: Path = extract(folder, ensure_dir(cache_dir() / "features"))
    return file
