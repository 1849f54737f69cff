"""From the published files, wherever they lie, to arrays in the cache: once per version of the files."""

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rfbench.checks import InputError
from rfbench.datasets.base import Dataset
from rfbench.datasets.formats.files import find
from rfbench.datasets.published.catalogue import CATALOGUE
from rfbench.datasets.store import open_arrays, write_rows, write_targets
from rfbench.storage import atomic_dir, cache_dir

# Part of the name of every conversion: raise it when a reader's result changes.
VERSION = 2


def directories(name: str, data_dir: str | None) -> list[Path]:
    """Where the files of a set may lie, in the order of preference."""
    user = data_dir or os.environ.get("RFBENCH_DATA")
    return [*([Path(user).expanduser() / name] if user else []), cache_dir() / "files" / name]


def files_in(name: str, directory: Path) -> list[Path] | None:
    """The files of a set, or None where one that is needed is not there."""
    entry = CATALOGUE[name]
    found = {file: find(directory, file) for file in entry.files}
    if any(path is None for file, path in found.items() if file not in entry.optional):
        return None
    return [path for path in found.values() if path]


def at_hand(name: str, data_dir: str | None) -> list[Path] | None:
    """Published files; a set of which none are known has none."""
    places = directories(name, data_dir) if name in CATALOGUE else ()
    return next(filter(None, (files_in(name, d) for d in places)), None)


def converted(name: str, files: Sequence[Path]) -> Dataset:
    """The set as arrays in the cache, made now if these files were never seen."""
    entry = CATALOGUE[name]
    if absent := len(entry.files) - len(files):
        rows = entry.rows - entry.n_test - 10_000 * absent
        print(f"rfbench: {name}: {absent} training files are absent; {rows} rows are used", file=sys.stderr)
    facts = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    digest = hashlib.sha256(repr((VERSION, facts)).encode()).hexdigest()[:12]
    directory = cache_dir() / "arrays" / f"{name}-{digest}"
    if not directory.is_dir():
        convert(name, files, directory)
    return open_arrays(name, directory, entry.scale)


def convert(name: str, files: Sequence[Path], directory: Path) -> None:
    entry = CATALOGUE[name]
    rows = entry.rows - 10_000 * (len(entry.files) - len(files))
    where = f"{files[0].parent}/{files[0].name}" + (", …" if len(files) > 1 else "")
    with atomic_dir(directory) as part:
        try:
            shape, y = write_rows(part / "X.npy", entry.read(files), entry.dtype)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        except (ValueError, LookupError) as error:
            raise InputError(f"{name}: {where} is not as published ({error}); copy it again") from None
        n_train = rows - entry.n_test if entry.n_test else None
        classes = write_targets(part, y, classification=entry.classes is not None, n_train=n_train)
        if (shape, classes) != ((rows, entry.columns), entry.classes):
            raise InputError(
                f"{name}: {rows} rows, {entry.columns} columns and {entry.classes} classes were wanted; "
                f"{where} gave {shape[0]}, {shape[1]} and {classes}; fetch or copy it again"
            )
