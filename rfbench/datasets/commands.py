"""rfbench data: fetch published sets, add own files, verify what is at hand."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from rfbench.checks import InputError, did_you_mean
from rfbench.datasets import GENERATED, bert, extract, load, names, own
from rfbench.datasets.base import Dataset
from rfbench.datasets.published import networks
from rfbench.datasets.published.catalogue import CATALOGUE, EMBEDDED
from rfbench.datasets.published.convert import at_hand, convert, converted
from rfbench.datasets.published.fetch import fetched
from rfbench.datasets.published.fingerprints import FINGERPRINTS
from rfbench.datasets.store import fingerprint, open_arrays
from rfbench.storage import cache_dir, ensure_dir

NOT_FILES = dict.fromkeys(EMBEDDED, "embedded in scikit-learn") | dict.fromkeys(GENERATED, "generated, not stored")


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see rfbench data --help")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="rfbench data",
        description=__doc__,
        epilog="Files are looked for in RFBENCH_DATA/<name>/, then in the cache (RFBENCH_CACHE, "
        "else rfbench/ in the user's cache directory).",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="get | add | check | extract | extract-attention")
    get = verbs.add_parser("get", help="fetch published sets into the cache", description=get_sets.__doc__)
    get.add_argument("names", nargs="+", metavar="NAME", help="as in 'rfbench list datasets'")
    add = verbs.add_parser("add", help="make dataset=NAME work for a file of yours", description=own.add.__doc__)
    add.add_argument("file", type=Path, help="CSV, white space or ARFF table, NPY, NPZ or LIBSVM; also .gz or .xz")
    add.add_argument("--name", required=True, help="the name to use: dataset=NAME")
    add.add_argument("--target", metavar="COLUMN", help="name or index of the target column (default: the last)")
    add.add_argument("--task", choices=["classification", "regression"], help="default: by the look of the target")
    add.add_argument("--test", type=Path, metavar="FILE", help="test rows, with the columns of the first file")
    check = verbs.add_parser("check", help="verify what is at hand", description=check_sets.__doc__)
    check.add_argument("names", nargs="*", metavar="NAME", help="default: every set at hand")
    features = verbs.add_parser(
        "extract", help="features of images by a trained network", description=extract.extract.__doc__
    )
    features.add_argument("--model", choices=list(networks.NETWORKS), required=True)
    features.add_argument("--layer", default="final", help="as dataset.layer (default: final)")
    features.add_argument("--images", choices=["cifar10"], default="cifar10", help="the set of images")
    features.add_argument("--out", type=Path, metavar="DIR", help="default: the cache; read by data_dir=DIR")
    out = verbs.add_parser(
        "extract-attention", help="queries, keys and values of a text", description=bert.extract.__doc__
    )
    out.add_argument("--model", choices=list(bert.MODELS), default="minilm", help="whose weights must be installed")
    out.add_argument("--text", type=Path, required=True, metavar="FILE", help="a text; its first tokens are used")
    out.add_argument("--out", type=Path, metavar="NPZ", help="default: the name of the text, .npz, in this directory")
    return parser


def main(argv: list[str]) -> int:
    options = _parser().parse_args(argv)
    if options.verb == "get":
        return get_sets(options.names)
    if options.verb == "check":
        return check_sets(options.names)
    if options.verb == "extract":
        print(extract.extract(options.model, options.layer, options.out))
        return 0
    if options.verb == "extract-attention":
        print(bert.extract(options.model, options.text, options.out or Path(f"{options.text.stem}.npz")))
        return 0
    print(own.add(options.file, options.name, options.target, options.task, options.test))
    return 0


def _refuse_unknown(wanted: Sequence[str]) -> None:
    known = {*names(), *own.names()}
    for name in wanted:
        if name not in known:
            raise InputError(f"no dataset '{name}'; {did_you_mean(name, known)}")


def get_sets(wanted: Sequence[str]) -> int:
    """Fetch published sets, each with its checksum verified; sets at hand are left alone."""
    _refuse_unknown(wanted)
    failed = 0
    for name in wanted:
        if name not in CATALOGUE and name not in networks.MODELS:
            print(f"{name}: {NOT_FILES.get(name, 'an own file, in the cache')}")
            continue
        try:
            if name in networks.MODELS and not at_hand(name, None):
                load({"name": name}, data_dir=None, download=True)  # or a line on how it is made
                print(f"{name}: extracted already")
                continue
            here = at_hand(name, None)
            files = here or fetched(name, None, download=True)
            print(f"{name}: {'at hand already' if here else 'fetched'}, in {files[0].parent}")
        except InputError as error:
            print(f"rfbench: error: {error}", file=sys.stderr)
            failed = 1
    return failed


def check_sets(wanted: Sequence[str]) -> int:
    """Read the sets at hand anew and compare them with what was published; exit code 1 if one is bad."""
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
            print(f"{name}: not at hand; 'rfbench data get {name}' fetches it")
            failed = 1
    return failed


def _check_published(name: str) -> str:
    files = at_hand(name, None)
    if files is None:
        return ""
    with tempfile.TemporaryDirectory(dir=ensure_dir(cache_dir())) as scratch:
        convert(name, files, Path(scratch, "fresh"))
        fresh = fingerprint(open_arrays(name, Path(scratch, "fresh")))
    data = converted(name, files)
    known = FINGERPRINTS.get(name)
    if fresh != (known or fresh):
        raise InputError(f"{files[0].parent} holds other rows than the published ones; delete it and fetch it again")
    if fingerprint(data) != fresh:
        raise InputError(f"the arrays in the cache are damaged; delete {cache_dir() / 'arrays'}")
    return f"good, {_shape(data)}, " + ("as published" if known else "by shape; no fingerprint is known")


def _check_other(name: str) -> str:
    if name in NOT_FILES:
        return NOT_FILES[name]
    if name in networks.MODELS and not networks.found(name, "final", None):
        return ""
    extracted = name in networks.MODELS
    data = load({"name": name}, data_dir=None, download=False) if extracted else own.load_named(name)
    for start in range(0, data.X.shape[0], 10_000):
        if not np.isfinite(data.X.read(start, start + 10_000)).all():
            remedy = "extract it again" if extracted else f"delete {own.recipe(name)} and add it again"
            raise InputError(f"rows {start} to {start + 10_000} are damaged; {remedy}")
    return f"good, {_shape(data)}, {'extracted' if extracted else 'own file'}"


def _shape(data: Dataset) -> str:
    return f"{data.X.shape[0]} rows of {data.X.shape[1]} columns"
