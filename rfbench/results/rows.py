"""results.csv: one row per number, in a fixed order of columns; a row is complete or absent."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rfbench.checks import InputError
from rfbench.storage import exclusive_lock, replace_file

COLUMNS = (
    "dataset", "n_train", "n_test", "d", "task", "sketch", "kernel", "degree", "features", "seed",
    "metric", "value", "unit", "status", "message",
)  # fmt: skip
MISSING = "missing"  # status of a number that a finished trial could not measure, with the reason
Row = Mapping[str, Any]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a results.csv, or none."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise InputError(f"{path} has other columns than this version writes; move it away and rerun")
        rows = list(reader)
    try:
        for row in rows:
            if row["status"] == "ok":
                int(row["features"]), int(row["seed"]), float(row["value"])
    except (TypeError, ValueError):
        raise InputError(f"{path} is damaged near row {rows.index(row) + 2}; move it away and rerun") from None
    return rows


def finished_rows(path: Path) -> list[dict[str, str]]:
    """The rows of finished trials."""
    return [row for row in read_rows(path) if row["status"] in ("ok", MISSING)]


def joined_rows(directories: Iterable[Path]) -> list[dict[str, str]]:
    """The rows of several jobs, each number once: jobs may share a number of features."""
    return unique_rows(row for directory in directories for row in read_rows(directory / "results.csv"))


def unique_rows(rows: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Of rows for the same number the first."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in COLUMNS[: COLUMNS.index("value")]), row)
    return list(found.values())


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    replace_file(path, text.getvalue())


class Results:
    """The rows of one job.  A job that starts again drops its failed rows and keeps its finished trials."""

    def __init__(self, directory: Path, force: bool = False) -> None:
        self.path = directory / "results.csv"
        self.rows: list[Row] = [*finished_rows(self.path)]
        self.stale = len(read_rows(self.path)) > len(self.rows)  # the file has failed rows of an earlier start
        self.done = set() if force else {trial_key(row) for row in self.rows}

    def add(self, rows: Sequence[Row]) -> None:
        """Write all rows of a trial at once, in place of earlier ones: they appear together or not at all."""
        again = {trial_key(row) for row in rows}
        self.rows = [row for row in self.rows if trial_key(row) not in again] + list(rows)
        write_rows(self.path, self.rows)
        self.stale = False


def trial_key(row: Row) -> tuple[str, str]:
    """(features, seed), which identify a trial within its job."""
    return str(row.get("features", "")), str(row.get("seed", ""))


def only_writer(directory: Path) -> AbstractContextManager[None]:
    """Refuse a second process in the same directory."""
    return exclusive_lock(directory / ".lock", f"another run is writing {directory}; wait for it or stop it")
