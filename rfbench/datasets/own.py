"""Your own file as a dataset: checked, converted into the cache, and named by a config file."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.base import Dataset
from rfbench.datasets.formats.binary import checked, read_npy, read_npz
from rfbench.datasets.formats.files import opened
from rfbench.datasets.formats.tables import CELLS_PER_CHUNK, Block, read_table
from rfbench.datasets.published.readers import libsvm_parts
from rfbench.datasets.store import DamagedError, open_arrays, write_rows, write_targets
from rfbench.storage import atomic_dir, cache_dir, checksum, digest, replace_file

KEYS = ("name", "file", "sha256", "prepare", "threshold")  # of its config file
MAX_CLASSES = 20  # integers with more different values are a regression target


def recipe(name: str) -> Path:
    """The config file that makes dataset=NAME work."""
    return cache_dir() / "conf" / "dataset" / f"{name}.yaml"


def load_own(config: Mapping[str, Any]) -> Dataset:
    """The dataset of a config file that `add` wrote."""
    name, directory = config["name"], Path(config["file"])
    for key in config:
        if key not in KEYS:
            raise InputError(f"{recipe(name)} has an unknown key '{key}'; {did_you_mean(str(key), KEYS)}")
    remedy = f"add the file again: rfbench data add FILE --name {name}"
    try:
        data, meta = open_arrays(name, directory), json.loads((directory / "meta.json").read_text())
    except DamagedError as error:
        raise InputError(f"{error}; {remedy}") from None
    if meta.get("sha256") != config.get("sha256"):
        raise InputError(f"dataset '{name}': the arrays in {directory} belong to another file; {remedy}")
    return data


def names() -> list[str]:
    """The names that `add` was given."""
    return sorted(yaml.stem for yaml in recipe("").parent.glob("[A-Za-z]*.yaml"))


def load_named(name: str) -> Dataset:
    """The dataset that `add` gave this name."""
    keys = dict(line.split(": ", 1) for line in recipe(name).read_text().splitlines()[1:])
    return load_own({**keys, "file": json.loads(keys["file"])})


def add(file: Path, name: str, target: str | None, task: str | None, test: Path | None) -> str:
    """Convert a file so that dataset=NAME works, and print what it contains."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,99}", name):
        raise InputError(f"--name must be a letter, then up to 99 letters, digits or _; got {name[:120]!r}")
    if name.lower() in ("null", "true", "false", "yes", "no", "on", "off", "none", "nan", "inf"):
        raise InputError(f"'{name}' has a meaning of its own in config files; choose another --name, e.g. my_{name}")
    files = [file, test] if test else [file]
    for path in files:
        require(path.is_file(), "the file to add", "an existing CSV, NPY, NPZ or LIBSVM file", str(path))
    sums = [checksum(path) for path in files]
    directory, yaml = cache_dir() / "own" / f"{name}-{digest(sums, target, task)[:12]}", recipe(name)
    if yaml.is_file() and f"file: {json.dumps(str(directory))}\n" not in yaml.read_text():
        raise InputError(
            f"'{name}' already exists with different content; choose another --name or delete {yaml} first"
        )
    try:
        data = open_arrays(name, directory)
    except DamagedError:  # or not there yet
        shutil.rmtree(directory, ignore_errors=True)
        with atomic_dir(directory) as part:
            _convert(part, files, target, task, sums[0])
        data = open_arrays(name, directory)
    n, d = data.X.shape
    what = f"{data.classes} classes" if data.classes else "regression"
    # A JSON string is a YAML string, whatever characters the path has.
    keys = f"name: {name}\nfile: {json.dumps(str(directory))}\nsha256: {sums[0]}\nprepare: [standardize, unit_norm]\n"
    replace_file(yaml, f"# Own file {file.name}: {n} rows of {d} columns, {what}\n{keys}")
    split = f" (the first {data.n_train} for training)" if data.n_train else ""
    return f"dataset={name} is ready: {n} rows{split}, {d} columns, {what}"


def _convert(part: Path, files: Sequence[Path], target: str | None, task: str | None, sha256: str) -> None:
    lengths: list[int] = []

    def counted() -> Iterator[Block]:
        for blocks in parts_of(files, target):
            lengths.append(0)
            for X, y in blocks:
                lengths[-1] += len(X)
                yield X, y

    _, y = write_rows(part / "X.npy", counted(), "float64")
    if task == "regression" and y.dtype.kind == "U":
        raise InputError(f"--task regression needs numbers as targets; {files[0].name} has {str(y[0])!r}")
    n_train = lengths[0] if len(lengths) == 2 else None
    write_targets(part, y, classification=is_classes(y, task), n_train=n_train, sha256=sha256)


def is_classes(y: Array, task: str | None) -> bool:
    """Words are classes, and so are integers of few different values, unless the user decides."""
    if task or y.dtype.kind == "U":
        return task != "regression"
    values = np.unique(y).astype(float)
    return len(values) <= MAX_CLASSES and bool((values == values.round()).all())


def parts_of(files: Sequence[Path], target: str | None) -> list[Iterator[Block]]:
    """The rows of the file, then those of the test file.  The format is recognized by content, not by name."""
    with opened(files[0]) as handle:
        head = handle.read(4096)
    if head.startswith(b"\x93NUMPY"):
        return [checked(path, _npy_blocks(path, target)) for path in files]
    is_npz, is_libsvm = head.startswith(b"PK"), bool(re.match(rb"\s*[^\s,;]+[ \t]+-?\d+:\S", head))
    if target is not None and (is_npz or is_libsvm):
        raise InputError(f"--target is for tables and NPY files; {files[0].name} has its own target, drop --target")
    if is_npz:
        parts = [checked(path, [block]) for path in files for block in read_npz(path)]
        if len(parts) > 2:
            raise InputError(f"{files[0].name} already has test rows; drop --test")
        return parts
    if is_libsvm:
        return libsvm_parts(files)
    return [read_table(path, -1 if target is None else target) for path in files]


def _npy_blocks(path: Path, target: str | None) -> Iterator[Block]:
    array = read_npy(path)
    if array.ndim != 2 or array.shape[1] < 2:
        raise InputError(f"{path.name} must have rows of features and a target; its shape is {array.shape}")
    try:
        y = range(array.shape[1])[int(target or -1)]
    except (ValueError, IndexError):
        raise InputError(f"--target must be an index below {array.shape[1]}; got {target!r}") from None
    rows = max(1, CELLS_PER_CHUNK // array.shape[1])
    for i in range(0, len(array), rows):
        block = np.asarray(array[i : i + rows])
        yield np.delete(block, y, axis=1), block[:, y]
