"""Your own file as a dataset: checked, converted into the cache, and named by a config file."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from yaml import YAMLError, safe_load

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError, did_you_mean, require
from rfbench.config.identity import LATER
from rfbench.datasets.base import Dataset, OnDisk
from rfbench.datasets.columns import Plan, Wishes, plan
from rfbench.datasets.formats.binary import checked, read_npy, read_npz
from rfbench.datasets.formats.cells import open_table
from rfbench.datasets.formats.files import opened
from rfbench.datasets.formats.tables import CELLS_PER_CHUNK, Block
from rfbench.datasets.published.readers import libsvm_parts
from rfbench.datasets.store import READ_ROWS, DamagedError, open_arrays, write_rows, write_targets
from rfbench.seeds import rng_for
from rfbench.storage import UNREADABLE, atomic_dir, cache_dir, checksum, digest, replace_file

KEYS = ("name", "file", "sha256", "prepare", "threshold", *LATER["dataset"])  # of its config file
MAX_CLASSES = 20  # integers with more different values are a regression target
MEDIAN_ROWS, MEDIAN_CELLS = 100_000, 10_000_000  # from which medians are taken, where there are more


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


def recipe_keys(name: str) -> dict[str, Any]:
    """The config of the dataset that `add` gave this name, or that its owner has written there."""
    with suppress(*UNREADABLE, YAMLError):
        keys = safe_load(recipe(name).read_text(encoding="utf-8"))
        if isinstance(keys["name"], str) and isinstance(keys.get("file", ""), str):
            return keys
    raise InputError(f"{recipe(name)} is damaged; rfbench data remove {name}, then add the file again")


@dataclass(frozen=True)
class Addition:
    """The options of `rfbench data add`."""

    file: Path
    name: str
    wishes: Wishes = field(default_factory=Wishes)
    task: str | None = None
    test: Path | None = None
    standardize: bool = False

    @property
    def files(self) -> list[Path]:
        return [self.file, self.test] if self.test else [self.file]


def add(addition: Addition, dry_run: bool = False) -> str:
    """Convert a file so that dataset=NAME works, and print what it contains and how it is prepared."""
    name, yaml = addition.name, recipe(addition.name)
    _refuse_name(name)
    for path in addition.files:
        require(path.is_file(), "the file to add", "an existing CSV, NPY, NPZ, LIBSVM or Parquet file", str(path))
    if dry_run:
        with tempfile.TemporaryDirectory() as scratch:
            dropped = _convert(Path(scratch), addition, "")
            return f"{_summary(addition, open_arrays(name, Path(scratch)), dropped)}\nnothing was written (--dry-run)"
    sums = [checksum(path) for path in addition.files]
    wishes = [] if addition.wishes == Wishes(addition.wishes.target) else [addition.wishes]
    key = digest(sums, addition.wishes.target, addition.task, *wishes)[:12]
    directory = cache_dir() / "own" / f"{name}-{key}"
    if yaml.is_file() and f"file: {json.dumps(str(directory))}\n" not in yaml.read_text(errors="replace"):
        raise InputError(
            f"'{name}' already exists with different content; choose another --name, or rfbench data remove {name}"
        )
    dropped = 0
    try:
        data = open_arrays(name, directory)
        if "columns" not in json.loads((directory / "meta.json").read_text()):
            raise DamagedError("written by an older version")
    except DamagedError:  # or not there yet
        shutil.rmtree(directory, ignore_errors=True)
        with atomic_dir(directory) as part:
            dropped = _convert(part, addition, sums[0])
        data = open_arrays(name, directory)
    # A JSON string is a YAML string, whatever characters the path has.
    about = f"Own file {addition.file.name}: {data.X.shape[0]} rows of {data.X.shape[1]} columns, {_kind(data)}"
    keys = f"name: {name}\nfile: {json.dumps(str(directory))}\nsha256: {sums[0]}\n"
    steps = ", ".join(_steps(addition, data))
    replace_file(yaml, f"# {about}\n{keys}prepare: [{steps}]\n")
    return _summary(addition, data, dropped)


def _refuse_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,99}", name):
        raise InputError(f"--name must be a letter, then up to 99 letters, digits or _; got {name[:120]!r}")
    if name.lower() in ("null", "true", "false", "yes", "no", "on", "off", "none", "nan", "inf"):
        raise InputError(f"'{name}' has a meaning of its own in config files; choose another --name, e.g. my_{name}")


def _kind(data: Dataset) -> str:
    return f"{data.classes} classes" if data.classes else "regression"


def _steps(addition: Addition, data: Dataset) -> list[str]:
    """A regression may depend on the length of rows, which unit_norm would take away."""
    return ["standardize"] if addition.standardize or data.classes is None else ["standardize", "unit_norm"]


def _summary(addition: Addition, data: Dataset, dropped: int) -> str:
    n, d = data.X.shape
    split = f" (the first {data.n_train} for training)" if data.n_train else ""
    gone = f" ({dropped} with empty cells left out)" if dropped else ""
    steps = _steps(addition, data)
    kept = "row lengths are kept" if steps == ["standardize"] else "every row gets length 1; --standardize keeps it"
    return (
        f"dataset={addition.name} is ready: {n} rows{split}{gone}, {d} columns, {_kind(data)}\n"
        f"preparation: {', '.join(steps)} ({kept}); for one run dataset.prepare=[…] changes it"
    )


def remove(name: str) -> str:
    """Delete a dataset that was added, and its arrays in the cache; your file is not touched."""
    recipe(name).unlink()
    for directory in (cache_dir() / "own").glob(f"{name}-*"):  # no name has a hyphen
        shutil.rmtree(directory, ignore_errors=True)
    return f"{name}: removed"


def _convert(part: Path, addition: Addition, sha256: str) -> int:
    """Write the arrays; return how many rows were left out."""
    found, lengths = parts_of(addition.files, addition.wishes, addition.task), []

    def counted() -> Iterator[Block]:
        for blocks in found if isinstance(found, list) else found.parts():
            lengths.append(0)
            for X, y in blocks:
                lengths[-1] += len(X)
                yield X, y

    (n, _), y = write_rows(part / "X.npy", counted(), "float64")
    if addition.task == "regression" and y.dtype.kind == "U":
        raise InputError(f"--task regression needs numbers as targets; {addition.file.name} has {str(y[0])!r}")
    if y.dtype.kind == "U" and n > MAX_CLASSES and len(np.unique(y)) == n:
        target = f" '{found.columns.target}'" if isinstance(found, Plan) else ""
        raise InputError(
            f"{addition.file.name}: no two rows have the same target{target}, such as {str(y[0])!r}, so there are no "
            "classes to learn; name another --target"
        )
    n_train, columns = lengths[0] if len(lengths) == 2 else None, None
    if isinstance(found, Plan):
        medians = fill_medians(part / "X.npy", found.fills, n_train or n)
        columns = found.columns.filled(medians).saved()
    classification = is_classes(y, addition.task)
    write_targets(part, y, classification=classification, n_train=n_train, sha256=sha256, columns=columns)
    return found.rows - n if isinstance(found, Plan) else 0


def fill_medians(path: Path, places: Sequence[int], n_train: int) -> dict[int, float]:
    """Fill the NaN of some columns with their medians over the training rows, or over some of them at random."""
    if not places:
        return {}
    rows = OnDisk(path)
    most = min(n_train, MEDIAN_ROWS, max(MEDIAN_CELLS // len(places), 1))
    index, sample = np.sort(rng_for(0, "median").choice(n_train, most, replace=False)), []
    for span in spans(n_train, READ_ROWS):
        low, high = np.searchsorted(index, (span.start, span.stop))
        sample.append(rows.read(span.start, span.stop)[np.ix_(index[low:high] - span.start, places)])
    medians = np.nanmedian(np.concatenate(sample), axis=0)
    for span in spans(rows.shape[0], READ_ROWS):
        X = np.load(path, mmap_mode="r+")  # mapped again, so that rows already written do not stay in memory
        block = X[span, places]
        X[span, places] = np.where(np.isnan(block), medians, block)
    return dict(zip(places, medians.tolist(), strict=True))


def is_classes(y: Array, task: str | None) -> bool:
    """Words are classes, and so are integers of few different values, unless the user decides."""
    if task or y.dtype.kind == "U":
        return task != "regression"
    values = np.unique(y).astype(float)
    return len(values) <= MAX_CLASSES and bool((values == values.round()).all())


def parts_of(files: Sequence[Path], wishes: Wishes, task: str | None) -> list[Iterator[Block]] | Plan:
    """The rows of the file, then those of the test file.  The format is recognized by content, not by name."""
    head, target = head_of(files[0]), wishes.target
    if is_table(head):
        return plan([open_table(path, head_of(path)) for path in files], wishes, task)
    if wishes != Wishes(target):
        raise InputError(f"--drop, --onehot and --missing are for tables; {files[0].name} is a file of numbers")
    if head.startswith(b"\x93NUMPY"):
        return [checked(path, _npy_blocks(path, target)) for path in files]
    if target is not None:
        raise InputError(f"--target is for tables and NPY files; {files[0].name} has its own target, drop --target")
    if head.startswith(b"PK"):
        parts = [checked(path, [block]) for path in files for block in read_npz(path)]
        if len(parts) > 2:
            raise InputError(f"{files[0].name} already has test rows; drop --test")
        return parts
    return libsvm_parts(files)


def head_of(path: Path) -> bytes:
    with opened(path) as handle:
        return handle.read(4096)


def is_table(head: bytes) -> bool:
    """Whether a file that begins so is a text table or Parquet: neither NPY, nor NPZ, nor LIBSVM."""
    return not head.startswith((b"\x93NUMPY", b"PK")) and not re.match(rb"\s*[^\s,;]+[ \t]+-?\d+:\S", head)


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
