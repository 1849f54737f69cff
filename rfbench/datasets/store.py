"""Blocks of rows → X.npy, y.npy and meta.json in one directory, written in a stream and read by mapping."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, OnDisk
from rfbench.datasets.formats.tables import Block
from rfbench.storage import checksum


def write_rows(path: Path, blocks: Iterable[Block], dtype: str) -> tuple[tuple[int, int], Array]:
    """X goes to the file block by block; its shape and the targets come back."""
    targets: list[Array] = []
    rows = columns = 0
    from tqdm import tqdm

    with path.open("wb") as file:
        for X, y in tqdm(blocks, "reading, once", unit=" blocks", delay=2, disable=None, leave=False):
            small = np.ascontiguousarray(X, dtype)
            if not np.array_equal(small, X):
                raise InputError(f"numbers that fit {dtype} were wanted, others came after row {rows}")
            if not targets:
                columns = X.shape[1]
                write_header(file, small.dtype, (0, columns))
            elif X.shape[1] != columns:
                raise InputError(f"{columns} columns were wanted, as before; {X.shape[1]} came after row {rows}")
            small.tofile(file)
            targets.append(y)
            rows += len(X)
        if not rows:
            raise InputError("a data set of at least one row was wanted; none came")
        file.seek(0)
        # NumPy pads its header such that the first axis can grow in place.
        write_header(file, small.dtype, (rows, columns))
    if len({y.dtype.kind == "U" for y in targets}) > 1:
        raise InputError("the target is a number in some rows and a word in others; make it one kind")
    return (rows, columns), np.concatenate(targets)


def write_header(file: Any, dtype: np.dtype[Any], shape: tuple[int, int]) -> None:
    head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, head)


def write_targets(directory: Path, y: Array, *, classification: bool, **meta: object) -> int | None:
    """Labels become 0..C-1 in the order of their values, other targets float64; meta.json ends the work."""
    classes = None
    if classification:
        values, codes = np.unique(y, return_inverse=True)
        classes, y = len(values), codes.astype(np.int64)
    np.save(directory / "y.npy", y if classification else y.astype(np.float64))
    content = checksum(directory / "X.npy") + checksum(directory / "y.npy")
    meta |= {"classes": classes, "digest": hashlib.sha256(content.encode()).hexdigest()[:12]}
    (directory / "meta.json").write_text(json.dumps(meta))
    return classes


def open_arrays(name: str, directory: Path, scale: float = 1.0) -> Dataset:
    """The data set a directory holds."""
    meta = json.loads((directory / "meta.json").read_text())
    X, y = OnDisk(directory / "X.npy"), OnDisk(directory / "y.npy")
    return Dataset(name, X, y, meta["classes"], meta["n_train"], scale, meta["digest"])


def fingerprint(dataset: Dataset) -> str:
    """A number for the rows with their targets and part, train or test, whatever their order."""
    total, n = 0, dataset.X.shape[0]
    for start in range(0, n, 10_000):
        X, y = dataset.X.read(start, start + 10_000), dataset.y.read(start, start + 10_000)
        for i, (x, t) in enumerate(zip(X, y, strict=True), start):
            part = b"train" if dataset.n_train is None or i < dataset.n_train else b"test"
            row = hashlib.blake2b(x.tobytes() + t.tobytes() + part, digest_size=16).digest()
            total += int.from_bytes(row)
    return f"{total % 2**128:032x}"
