"""results.csv: one row per number, in a fixed order of columns; a row is complete or absent."""

import csv
import fcntl
import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rfbench.checks import InputError
from rfbench.results.files import replace_file

COLUMNS = (
    "dataset", "n_train", "n_test", "d", "task", "sketch", "kernel", "degree", "features", "seed",
    "metric", "value", "unit", "status", "message",
)  # fmt: skip
Row = Mapping[str, Any]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a results.csv, or none."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise InputError(f"{path} has other columns than this version writes; move it away and run again")
        return list(reader)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    replace_file(path, text.getvalue())


class Results:
    """The rows of one job.  What failed before is forgotten when the job starts again; what is done stays."""

    def __init__(self, directory: Path, force: bool = False) -> None:
        self.path = directory / "results.csv"
        self.rows: list[Row] = [] if force else [r for r in read_rows(self.path) if r["status"] == "ok"]

    @property
    def done(self) -> set[tuple[int, int]]:
        """(features, seed) of the finished trials."""
        return {(int(row["features"]), int(row["seed"])) for row in self.rows if row["status"] == "ok"}

    def add(self, rows: Iterable[Row]) -> None:
        """All rows of a trial at once: they appear together or not at all."""
        self.rows.extend(rows)
        write_rows(self.path, self.rows)


@contextmanager
def only_writer(directory: Path) -> Iterator[None]:
    """Refuse a second process in the same directory.  The lock goes with the process, however it ends."""
    with open(directory / ".lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another run is writing {directory}; wait for it or stop it") from None
        yield
