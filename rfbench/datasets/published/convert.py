"""Published files → arrays in the cache, converted once for each version of the files."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rfbench.checks import InputError, in_short
from rfbench.datasets.base import Dataset
from rfbench.datasets.formats.files import find
from rfbench.datasets.published import readers
from rfbench.datasets.published.catalogue import CATALOGUE
from rfbench.datasets.published.fingerprints import UNVERIFIED
from rfbench.datasets.store import DamagedError, open_arrays, write_rows, write_targets
from rfbench.storage import atomic_dir, cache_dir, digest

# Part of the name of every conversion: increase it when a reader changes its result.
VERSION = 2


def directories(name: str, data_dir: str | None) -> list[Path]:
    """Where to look for the files of a dataset, in this order."""
    user = data_dir or os.environ.get("RFBENCH_DATA")
    return [*([Path(user).expanduser() / name] if user else []), cache_dir() / "files" / name]


def files_in(name: str, directory: Path) -> list[Path] | None:
    """The files of a dataset, or None if a required one is missing."""
    entry = CATALOGUE[name]
    found = {file: find(directory, file) for file in entry.files}
    if any(path is None for file, path in found.items() if file not in entry.optional):
        return None
    return [path for path in found.values() if path]


def available_files(name: str, data_dir: str | None) -> list[Path] | None:
    """The published files of a dataset, or None if they are missing or it has none."""
    places = directories(name, data_dir) if name in CATALOGUE else ()
    return next(filter(None, (files_in(name, d) for d in places)), None)


def converted(name: str, files: Sequence[Path]) -> Dataset:
    """The dataset as arrays in the cache, converted now unless these files already were."""
    entry = CATALOGUE[name]
    if missing := len(entry.files) - len(files):
        rows = entry.rows - entry.n_test - 10_000 * missing
        print(f"rfbench: {name}: {missing} training files are missing; using {rows} training rows", file=sys.stderr)
    if name in UNVERIFIED:
        print(
            f"rfbench: {name}: no checksum of the published files is known; only their shape is verified",
            file=sys.stderr,
        )
    if entry.note:
        print(f"rfbench: {name}: {entry.note}", file=sys.stderr)
    facts = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    directory = cache_dir() / "arrays" / f"{name}-{digest(VERSION, facts)[:12]}"
    if directory.is_dir():
        try:
            return open_arrays(name, directory, entry.scale)
        except DamagedError as error:
            print(f"rfbench: {error}; converting {files[0].parent} again", file=sys.stderr)
            shutil.rmtree(directory)
    convert(name, files, directory)
    return open_arrays(name, directory, entry.scale)


def convert(name: str, files: Sequence[Path], directory: Path) -> None:
    entry = CATALOGUE[name]
    rows = entry.rows - 10_000 * (len(entry.files) - len(files))
    where = f"{files[0].parent}/{files[0].name}" + (", …" if len(files) > 1 else "")
    with atomic_dir(directory) as part:
        try:
            shape, y = write_rows(part / "X.npy", entry.read(files[:-1] if entry.folds else files), entry.dtype)
            if entry.folds:
                np.save(part / "folds.npy", readers.folds(files[-1], rows))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        except (ValueError, LookupError) as error:
            raise InputError(
                f"{name}: {where} differs from the published file ({in_short(error)}); download it again"
            ) from None
        n_train = rows - entry.n_test if entry.n_test else None
        classes = write_targets(part, y, classification=entry.classes is not None, n_train=n_train)
        if (shape, classes) != ((rows, entry.columns), entry.classes):
            raise InputError(
                f"{name}: expected {rows} rows, {entry.columns} columns and {entry.classes} classes; "
                f"{where} has {shape[0]}, {shape[1]} and {classes}; download it again"
            )
