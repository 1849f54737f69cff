"""rfbench data: download published datasets, add your own files, verify available ones."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rfbench.blocks import spans
from rfbench.checks import InputError, Parser, did_you_mean
from rfbench.config.files import roots
from rfbench.datasets import GENERATED, load, names, own
from rfbench.datasets.base import Dataset, class_name
from rfbench.datasets.columns import Wishes
from rfbench.datasets.moments import Moments
from rfbench.datasets.published import networks
from rfbench.datasets.published.catalogue import CATALOGUE, EMBEDDED
from rfbench.datasets.published.convert import available_files, convert, converted
from rfbench.datasets.published.fetch import fetch
from rfbench.datasets.published.fingerprints import FINGERPRINTS
from rfbench.datasets.store import READ_ROWS, fingerprint, open_arrays
from rfbench.registry import find
from rfbench.storage import cache_dir, scratch_dir, sweep_cache

WITHOUT_FILES = dict.fromkeys(EMBEDDED, "embedded in scikit-learn") | dict.fromkeys(
    (*GENERATED, "shifted"), "generated on the fly"
)
SHOWN_COLUMNS = 40
PLUGINS = {
    "extract": "compute features of images with a trained network",
    "extract-attention": "compute queries, keys and values of a text",
}


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="rfbench data",
        description="Download published datasets, add your own files, verify available ones.",
        epilog="Files are looked up in RFBENCH_DATA/<name>/, then in the cache: RFBENCH_CACHE, or rfbench/ in the "
        "user's cache directory.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    get = verbs.add_parser("get", help="download datasets into the cache", description=get_sets.__doc__)
    get.add_argument("names", nargs="+", metavar="NAME", help="as in 'rfbench list datasets'")
    _add_options(verbs.add_parser("add", help="use a file of yours as dataset=NAME", description=own.add.__doc__))
    show = verbs.add_parser("show", help="columns, ranges and preparation", description=show_set.__doc__)
    show.add_argument("name", metavar="NAME")
    remove = verbs.add_parser("remove", help="delete a dataset that you added", description=own.remove.__doc__)
    remove.add_argument("names", nargs="+", metavar="NAME")
    check = verbs.add_parser("check", help="verify available datasets", description=check_sets.__doc__)
    check.add_argument("names", nargs="*", metavar="NAME", help="default: all available datasets")
    for verb, purpose in PLUGINS.items():
        verbs.add_parser(verb, help=f"{purpose} (plugin rfbench-extract)")
    return parser


def _add_options(add: argparse.ArgumentParser) -> None:
    add.add_argument(
        "file", type=Path, help="CSV, whitespace-separated or ARFF table, Parquet, NPY, NPZ or LIBSVM; also .gz, .xz"
    )
    add.add_argument("--name", required=True, help="name of the dataset: dataset=NAME")
    add.add_argument("--target", metavar="COLUMN", help="name or index of the target column (default: the last)")
    add.add_argument("--drop", nargs="+", action="extend", default=[], metavar="COLUMN", help="columns to leave out")
    add.add_argument(
        "--onehot", nargs="+", action="extend", default=[], metavar="COLUMN", help="a column of 0 and 1 for every value"
    )
    add.add_argument(
        "--missing",
        choices=["error", "drop", "median"],
        default="error",
        help="rows with empty cells: refuse them (default), drop them, or fill numbers with the median of their column",
    )
    add.add_argument("--standardize", action="store_true", help="prepare by standardize only: rows keep their lengths")
    add.add_argument("--task", choices=["classification", "regression"], help="default: guessed from the target")
    add.add_argument("--test", type=Path, metavar="FILE", help="test rows, with the same columns")
    add.add_argument("--dry-run", action="store_true", help="say what would be added, and write nothing")


def main(words: list[str]) -> int:
    if words and words[0] in PLUGINS:
        run: int = find("data command", words[0], {})(words[1:])
        return run
    options = _parser().parse_args(words)
    sweep_cache()
    if options.verb == "get":
        return get_sets(options.names)
    if options.verb == "check":
        return check_sets(options.names)
    if options.verb == "show":
        return show_set(options.name)
    if options.verb == "remove":
        return remove_sets(options.names)
    if options.name in names():
        raise InputError(f"'{options.name}' is a built-in dataset; choose another --name, e.g. my_{options.name}")
    wishes = Wishes(options.target, tuple(options.drop), tuple(options.onehot), options.missing)
    added = own.Addition(options.file, options.name, wishes, options.task, options.test, options.standardize)
    print(own.add(added, options.dry_run))
    return 0


def _refuse_unknown(wanted: Sequence[str]) -> None:
    known = {*names(), *own.names()}
    for name in wanted:
        if name not in known:
            raise InputError(f"no dataset '{name}'; {did_you_mean(name, known)}")


def get_sets(wanted: Sequence[str]) -> int:
    """Download published datasets and verify their checksums; available ones are kept.  Exit code 1 if one fails."""
    _refuse_unknown(wanted)
    failed = 0
    for name in wanted:
        try:
            print(f"{name}: {_get(name)}")
        except InputError as error:
            print(f"rfbench: error: {error}", file=sys.stderr)
            failed = 1
    return failed


def _get(name: str) -> str:
    if files := available_files(name, None):
        return f"already available in {files[0].parent}"
    if name in networks.MODELS:
        load({"name": name}, data_dir=None, download=True)  # or an error that says how to extract it
        return "already extracted"
    if name in CATALOGUE:
        return f"downloaded to {fetch(name, None, download=True)[0].parent}"
    return WITHOUT_FILES.get(name, "your own file, in the cache")


def remove_sets(wanted: Sequence[str]) -> int:
    _refuse_unknown(wanted)
    for name in wanted:
        if name not in own.names():
            raise InputError(f"'{name}' is a built-in dataset, and only yours can be removed: {', '.join(own.names())}")
    for name in wanted:
        print(own.remove(name))
    return 0


def show_set(name: str) -> int:
    """Print the columns of an available dataset with their types and ranges, its target, preparation and digest."""
    _refuse_unknown([name])
    config = next(node for root in roots() if (node := _config(root, name)))
    data = load(config, data_dir=None, download=False)
    n, d = data.X.shape
    labels = ", ".join(map(class_name, data.labels)) or f"0 to {(data.classes or 0) - 1}"
    what = f"{data.classes} classes: {labels}" if data.classes else "numbers"
    what = f"{data.columns.target}, {what}" if data.columns and data.columns.named else what
    rows = [f"{n} rows", *([f"the first {data.n_train} for training"] if data.n_train else [])]
    print(f"{name}: {', '.join(rows)}, {d} columns; target: {what}")
    print(
        f"preparation: {', '.join(config.get('prepare') or ['none'])}; digest: {data.digest or 'none, cannot change'}"
    )
    table = [("column", "type", "least", "mean", "largest"), *_described(data)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = list(zip(line, widths, strict=True))
        print("  ".join([*(cell.ljust(w) for cell, w in cells[:2]), *(cell.rjust(w) for cell, w in cells[2:])]))
    if d > SHOWN_COLUMNS:
        print(f"… and {d - SHOWN_COLUMNS} more columns")
    return 0


def _described(data: Dataset) -> list[tuple[str, ...]]:
    """Name, type and range of the first columns."""
    (n, d), moments, whole = data.X.shape, Moments(), np.ones(data.X.shape[1], bool)
    with np.errstate(over="ignore", invalid="ignore"):  # squares of huge numbers, which are not shown
        for span in spans(n, READ_ROWS):
            X = data.X.read(span.start, span.stop).astype(np.float64) / data.scale
            moments.add(X)
            whole &= (np.rint(X) == X).all(0)
    columns = data.columns
    names = columns.outputs if columns else [str(j) for j in range(d)]
    fills = columns.fills if columns else {}
    lines = []
    for j, name in enumerate(names[:SHOWN_COLUMNS]):
        low, mean, high = (float(number[j]) for number in (moments.low, moments.mean, moments.high))
        kind = "real" if not whole[j] else "0 or 1" if low >= 0 and high <= 1 else "whole"
        kind += f"; an empty cell is {fills[j]:.6g}" if j in fills else ""
        lines.append((name, kind, *(f"{number:.6g}" for number in (low, mean, high))))
    return lines


def _config(root: Path, name: str) -> dict[str, Any]:
    if (path := root / "dataset" / f"{name}.yaml") == own.recipe(name) and path.is_file():
        return own.recipe_keys(name)
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}


def check_sets(wanted: Sequence[str]) -> int:
    """Read available datasets again and compare them with the published ones.  Exit code 1 if one is bad or missing."""
    _refuse_unknown(wanted)
    failed = 0
    for name in wanted or [*names(), *own.names()]:
        try:
            verdict = _check_published(name) if name in CATALOGUE else _check_other(name)
        except InputError as error:
            verdict, failed = f"BAD: {error}", 1
        if verdict:
            print(f"{name}: {verdict}")
        elif wanted:
            print(f"{name}: missing; download it with 'rfbench data get {name}'")
            failed = 1
    return failed


def _check_published(name: str) -> str:
    """The verdict, empty for a dataset that is missing."""
    files = available_files(name, None)
    if files is None:
        return ""
    with scratch_dir(cache_dir()) as scratch:
        convert(name, files, scratch / "fresh")
        fresh = fingerprint(open_arrays(name, scratch / "fresh"))
    data = converted(name, files)
    known = FINGERPRINTS.get(name) if len(files) == len(CATALOGUE[name].files) else None  # of the complete dataset
    if known and fresh != known:
        raise InputError(f"{files[0].parent} has other rows than the published ones; delete it and download it again")
    if fingerprint(data) != fresh:
        raise InputError(f"the arrays in the cache are damaged; delete {cache_dir() / 'arrays'}")
    return f"good, {_shape(data)}, " + ("as published" if known else "shape as published, no fingerprint known")


def _check_other(name: str) -> str:
    """The verdict on a dataset that is not in the catalogue, empty for one that is missing."""
    if name in WITHOUT_FILES:
        return WITHOUT_FILES[name]
    extracted = name in networks.MODELS
    if extracted and not networks.found(name, "final", None):
        return ""
    data = load({"name": name} if extracted else own.recipe_keys(name), data_dir=None, download=False)
    for start in range(0, data.X.shape[0], READ_ROWS):
        if not np.isfinite(data.X.read(start, start + READ_ROWS)).all():
            remedy = "extract it again" if extracted else f"delete {own.recipe(name)} and add the file again"
            raise InputError(f"rows {start} to {start + READ_ROWS} are damaged; {remedy}")
    return f"good, {_shape(data)}, {'extracted' if extracted else 'own file'}"


def _shape(data: Dataset) -> str:
    return f"{data.X.shape[0]} rows of {data.X.shape[1]} columns"
