"""`rfbench predict`: a saved model applied to new rows."""

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import regrouped, spans
from rfbench.checks import InputError, Parser
from rfbench.datasets.columns import Columns
from rfbench.datasets.formats.binary import read_npy
from rfbench.datasets.formats.cells import open_table
from rfbench.datasets.own import head_of, is_table
from rfbench.progress import bar
from rfbench.recipes import read_recipe
from rfbench.storage import atomic_file
from rfbench.tasks.model import Model
from rfbench.tasks.rows import PREDICTED_ROWS


def load_model(run: str | Path, features: int | None = None, seed: int | None = None) -> Model:
    """The model that task.save=true kept in a directory of results, or in a file.

    If there are several, it is the one with the most features and, among these, the lowest seed, unless they are given.
    """
    model = read_recipe(find_model(Path(run), features, seed))
    if not isinstance(model, Model):
        raise InputError(f"{run} is not a model")
    model.verify()
    return model


def find_model(run: Path, features: int | None = None, seed: int | None = None) -> Path:
    """The file of a model."""
    if run.is_file() and run.suffix == ".npz":
        return run
    if run.is_file():
        raise InputError(f"{run} is no model; name the directory that rfbench printed first, then the rows: RUN FILE")
    if not run.is_dir():
        raise InputError(f"no directory {run}; name one that rfbench printed, such as outputs/…/…")
    places = sorted({path.parent for path in run.rglob("models/*.npz")})
    if not places:
        raise InputError(
            f"{run} has no saved model; run a command of task=ridge, gpr, gpc or svm again with task.save=true"
        )
    if len(places) > 1:
        raise InputError(
            f"{run} has models of {len(places)} jobs; name one: {', '.join(str(p.parent) for p in places)}"
        )
    known = {_numbers(path): path for path in places[0].glob("*.npz")}
    chosen = [key for key in known if features in (None, key[0]) and seed in (None, key[1])]
    if not chosen:
        have = ", ".join(f"{D} features seed {s}" for D, s in sorted(known))
        raise InputError(f"{run} has no model with these features and seed; it has {have}")
    return known[min(chosen, key=lambda key: (-key[0], key[1]))]


def _numbers(path: Path) -> tuple[int, int]:
    features, _, seed = path.stem.removeprefix("features").partition("-seed")
    return int(features), int(seed)


def rows_of(model: Model, path: Path) -> Iterator[Array]:
    """The rows of a file as the model takes them, block by block."""
    if not path.is_file():
        raise InputError(f"no file {path}")
    head = head_of(path)
    if is_table(head):
        table = open_table(path, head)
        yield from (model.columns or Columns.plain(model.d)).placed(table).rows(table)
        return
    if not head.startswith(b"\x93NUMPY"):
        raise InputError(f"{path.name} is not a table, Parquet or NPY file; convert it to one of these")
    X = read_npy(path)
    if X.ndim != 2 or X.shape[1] != model.d:
        raise InputError(f"{path.name} has shape {X.shape}; the model takes (rows, {model.d})")
    yield from (np.asarray(X[rows]) for rows in spans(len(X), PREDICTED_ROWS))


def _parser() -> Parser:
    parser = Parser("rfbench predict", description="Apply a model that task.save=true kept to the rows of a file.")
    parser.add_argument("run", type=Path, metavar="RUN", help="directory of results, as rfbench printed it")
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="CSV, Parquet or NPY with the columns of the training data"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="CSV to write (default: standard output)")
    parser.add_argument("--features", type=int, metavar="D", help="of several models the one with D features")
    parser.add_argument("--seed", type=int, metavar="S", help="of several models the one of seed S")
    return parser


def main(words: list[str]) -> int:
    """Write the predictions for a file as CSV."""
    options = _parser().parse_args(words)
    path = find_model(options.run, options.features, options.seed)
    model = load_model(path)
    if len(list(path.parent.glob("*.npz"))) > 1 and options.features is None and options.run.is_dir():
        about = model.about
        print(
            f"rfbench: using {about['features']} features, seed {about['seed']} (--features, --seed)", file=sys.stderr
        )
    if options.output is None:
        _write(model, options.file, sys.stdout)
        return 0
    with atomic_file(options.output) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        n = _write(model, options.file, text)
        text.detach()
    print(f"{options.output}: {n} predictions")
    return 0


def _write(model: Model, path: Path, file: IO[str]) -> int:
    writer, n = csv.writer(file, lineterminator="\n"), 0
    blocks = ((X, np.empty(len(X))) for X in rows_of(model, path))
    with bar(None, "predicting", " rows") as shown:
        for X, _ in regrouped(blocks, PREDICTED_ROWS):
            table = model.table(X, n)
            if not n:
                writer.writerow(table)
            writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
            n += len(X)
            shown.update(len(X))
    if not n:
        raise InputError(f"{path.name} has no rows")
    return n
