"""results.csv: one row per number, in a fixed order of columns; a row is complete or absent."""

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from math import isfinite
from pathlib import Path
from typing import Any

from rfbench.checks import InputError
from rfbench.results.journal import Journalled, journal_of, read_whole
from rfbench.storage import exclusive_lock, replace_file

COLUMNS = (
    "dataset", "n_train", "n_test", "d", "task", "sketch", "kernel", "degree", "features", "seed",
    "metric", "value", "unit", "status", "message",
)  # fmt: skip
MISSING = "missing"  # status of a number that a finished trial could not measure, with the reason
FINISHED = ("ok", MISSING)
LOCK = ".lock"  # of the run that writes a directory
Row = Mapping[str, Any]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of whole trials in a results.csv, or none."""
    content = read_whole(path)
    rows = parsed(path, content.data) if content.data else []
    if content.damaged:
        raise damaged(path, content.damaged)
    return rows


def parsed(path: Path, data: bytes) -> list[dict[str, str]]:
    """The rows, each of them possible and no number twice."""
    rows: list[dict[str, str]] = []
    numbers: set[tuple[str, ...]] = set()
    try:
        reader = csv.DictReader(io.StringIO(data.decode(errors="replace"), newline=""), strict=True)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise InputError(f"{path} has other columns than this version writes; move it away and rerun")
        for row in reader:
            key = number_key(row)
            if not is_row(row) or key in numbers:
                raise damaged(path, len(rows) + 2)
            if row["status"] != "failed":
                numbers.add(key)
            rows.append(row)
    except csv.Error:
        raise damaged(path, len(rows) + 2) from None
    if not data.endswith(b"\n"):
        raise damaged(path, len(rows) + 1)
    return rows


def is_row(row: dict[str, str]) -> bool:
    """Whether all cells are there and are what they should be."""
    cells = list(row.values())
    if len(cells) != len(COLUMNS) or None in cells or "\0" in "".join(cells):
        return False
    if row["status"] != "ok":
        return row["status"] in (MISSING, "failed")
    try:
        return int(row["features"]) >= 0 and int(row["seed"]) >= 0 and isfinite(float(row["value"]))
    except ValueError:
        return False


def damaged(path: Path, line: int) -> InputError:
    return InputError(f"{path} is damaged near row {line}; move it away and rerun")


def finished_rows(path: Path) -> list[dict[str, str]]:
    """The rows of finished trials."""
    return [row for row in read_rows(path) if row["status"] in FINISHED]


def joined_rows(asked: Mapping[Path, Collection[int]]) -> tuple[list[dict[str, str]], int]:
    """The rows of several jobs with the seeds asked of each, and how many other seeds are on disk."""
    rows: list[dict[str, str]] = []
    others: set[str] = set()
    for directory, seeds in asked.items():
        wanted = {"", *map(str, seeds)}  # a job that failed as a whole has no seed
        for row in read_rows(directory / "results.csv"):
            if row["seed"] in wanted:
                rows.append(row)
            else:
                others.add(row["seed"])
    return unique_rows(rows), len(others)


def unique_rows(rows: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """The first of the rows for the same number: jobs may share a number of features."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        found.setdefault(number_key(row), row)
    return list(found.values())


def as_csv(rows: Iterable[Row], columns: Sequence[str] = COLUMNS, *, header: bool = False) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    replace_file(path, as_csv(rows, header=True))


class Results:
    """The rows of one job.  A job that starts again drops its failed rows and keeps its finished trials."""

    def __init__(self, directory: Path, force: bool = False) -> None:
        self.path = directory / "results.csv"
        found = read_rows(self.path)
        self.rows: list[Row] = [row for row in found if row["status"] in FINISHED]
        whole = read_whole(self.path).data
        torn = self.path.exists() and (self.path.stat().st_size > len(whole) or not journal_of(self.path).exists())
        # Whether the file must be written anew: it ends in half a trial, has no journal, or failed rows.
        self.stale = torn or len(found) > len(self.rows)
        self.file = Journalled(self.path, whole)
        self.written = {trial_key(row) for row in self.rows}
        self.done = set() if force else set(self.written)

    def set_aside(self, name: str) -> None:
        """Start with no rows; those so far stay in another file."""
        write_rows(self.path.with_name(name), self.rows)
        self.rows, self.stale, self.written, self.done = [], False, set(), set()
        self.file.rewrite(as_csv((), header=True).encode())

    def add(self, rows: Sequence[Row]) -> None:
        """Append all rows of a trial at once: they count together or not at all.

        If they replace earlier ones, the whole file is written again.
        """
        keys = {trial_key(row) for row in rows}
        if keys & self.written:
            self.rows = [row for row in self.rows if trial_key(row) not in keys]
            self.stale = True
        self.rows.extend(rows)
        self.written |= keys
        if self.stale or not self.file.size:
            self.file.rewrite(as_csv(self.rows, header=True).encode())
        else:
            self.file.append(as_csv(rows).encode())
        self.stale = False


def number_key(row: Row) -> tuple[str, ...]:
    """All columns that say what a number is of."""
    return tuple(row[column] for column in COLUMNS[: COLUMNS.index("value")])


def trial_key(row: Row) -> tuple[str, str]:
    """(features, seed), which identify a trial within its job."""
    return str(row.get("features", "")), str(row.get("seed", ""))


def only_writer(directory: Path) -> AbstractContextManager[None]:
    """Refuse a second process in the same directory."""
    return exclusive_lock(directory / LOCK, f"another run is writing {directory}; wait for it or stop it")
