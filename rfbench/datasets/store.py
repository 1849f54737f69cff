"""Blocks of rows → X.npy, y.npy and meta.json in one directory, written block by block and memory-mapped."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, in_short
from rfbench.datasets.base import Dataset, OnDisk
from rfbench.datasets.columns import Columns
from rfbench.datasets.formats.tables import Block
from rfbench.progress import bar, with_progress
from rfbench.storage import UNREADABLE, checksum, replace_file

FILES = ("X.npy", "y.npy", "folds.npy")  # the last one only where splits are published
READ_ROWS = 10_000  # at once, where all rows are checked


class DamagedError(InputError):
    """Arrays in the cache that are not those that were written."""


def write_rows(path: Path, blocks: Iterable[Block], dtype: str) -> tuple[tuple[int, int], Array]:
    """Write X to the file block by block; return its shape and the targets."""
    targets: list[Array] = []
    rows = columns = 0
    with path.open("wb") as file, bar(None, "converting", " rows") as shown:
        for X, y in with_progress(blocks, shown):
            cast = np.ascontiguousarray(X, dtype)
            if not np.array_equal(cast, X, equal_nan=cast.dtype.kind == "f"):
                raise InputError(f"a number after row {rows} does not fit {dtype}")
            if not targets:
                columns = X.shape[1]
                write_header(file, cast.dtype, (0, columns))
            elif X.shape[1] != columns:
                raise InputError(f"rows after row {rows} have {X.shape[1]} columns; expected {columns}, as before")
            cast.tofile(file)
            targets.append(y)
            rows += len(X)
        if not rows:
            raise InputError("there are no rows; expected at least one")
        file.seek(0)
        # NumPy pads its header such that the first axis can grow in place.
        write_header(file, cast.dtype, (rows, columns))
    if len({y.dtype.kind == "U" for y in targets}) > 1:
        raise InputError("the target is a number in some rows and a word in others; use one kind")
    return (rows, columns), np.concatenate(targets)


def write_header(file: Any, dtype: np.dtype[Any], shape: tuple[int, int]) -> None:
    head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, head)


def write_targets(directory: Path, y: Array, *, classification: bool, **meta: object) -> int | None:
    """Write labels as 0..C-1 in the order of their values, other targets as float64, and last meta.json."""
    classes, labels = None, None
    if classification:
        values, codes = np.unique(y, return_inverse=True)
        classes, y, labels = len(values), codes.astype(np.int64), values.tolist()
    np.save(directory / "y.npy", y if classification else y.astype(np.float64))
    content = data_digest(*arrays_in(directory))
    meta |= {"classes": classes, "labels": labels, "digest": content, "stamps": stamps(directory)}
    (directory / "meta.json").write_text(json.dumps(meta))
    return classes


def data_digest(*files: Path) -> str:
    """Digest of the contents of files; run.json keeps it to tell when the data of a job have changed."""
    return hashlib.sha256("".join(map(checksum, files)).encode()).hexdigest()[:12]


def arrays_in(directory: Path) -> list[Path]:
    """X, y and perhaps the folds."""
    return [path for file in FILES if (path := directory / file).exists() or file in FILES[:2]]


def stamps(directory: Path) -> list[list[int]]:
    """Size and time of the last change of the arrays."""
    return [[(stat := path.stat()).st_size, stat.st_mtime_ns] for path in arrays_in(directory)]


def open_arrays(name: str, directory: Path, scale: float = 1.0) -> Dataset:
    """The dataset in a directory; its checksum is verified unless the files are as they were when it last was."""
    try:
        meta = json.loads((directory / "meta.json").read_text())
        X, y, *folds = map(OnDisk, arrays_in(directory))
        dataset = Dataset(name, X, y, meta["classes"], meta["n_train"], scale, meta["digest"])
        dataset = replace(dataset, folds=folds[0] if folds else None)
        if columns := meta.get("columns"):
            dataset = replace(dataset, columns=Columns.read(columns))
        dataset = replace(dataset, labels=tuple(meta.get("labels") or ()))
        if (now := stamps(directory)) != meta.get("stamps"):
            if data_digest(*arrays_in(directory)) != dataset.digest:
                raise ValueError("checksum mismatch")
            with suppress(InputError):  # a cache that cannot be written is verified again
                replace_file(directory / "meta.json", json.dumps(meta | {"stamps": now}))
        return dataset
    except UNREADABLE as error:
        raise DamagedError(f"dataset '{name}': its arrays in {directory} are damaged ({in_short(error)})") from None


def fingerprint(dataset: Dataset) -> str:
    """Digest of the rows with their targets and part (train or test, or their fold), independent of their order."""
    total, n = 0, dataset.X.shape[0]
    for start in range(0, n, READ_ROWS):
        X, y = dataset.X.read(start, start + READ_ROWS), dataset.y.read(start, start + READ_ROWS)
        folds = dataset.folds.read(start, start + READ_ROWS) if dataset.folds else None
        for i, (x, t) in enumerate(zip(X, y, strict=True), start):
            part = b"train" if dataset.n_train is None or i < dataset.n_train else b"test"
            part = part if folds is None else b"fold %d" % folds[i - start]
            row = hashlib.blake2b(x.tobytes() + t.tobytes() + part, digest_size=16).digest()
            total += int.from_bytes(row)
    return f"{total % 2**128:032x}"
