"""series.csv: curves that belong to a trial, one row per point.

The columns of results.csv up to the seed name the trial; `name` is the curve, x and y are its points.
"""

import csv
import io
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.results.rows import COLUMNS, as_csv, trial_key
from rfbench.storage import append_file, replace_file

FILE = "series.csv"
SERIES_COLUMNS = (*COLUMNS[: COLUMNS.index("metric")], "name", "x", "y")
Row = Mapping[str, Any]


class Curve(NamedTuple):
    """y against x."""

    name: str
    x: Array
    y: Array

    def rows(self, columns: Row) -> list[dict[str, Any]]:
        points = zip(self.x, self.y, strict=True)
        return [{**columns, "name": self.name, "x": repr(float(x)), "y": repr(float(y))} for x, y in points]


def read_series(directory: Path) -> list[dict[str, str]]:
    """The points of all curves in a directory, or none."""
    path = directory / FILE
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    text = text[: text.rfind("\n") + 1]  # a kill may cut the last curve, which then has no rows in results.csv
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(reader.fieldnames or ()) != SERIES_COLUMNS:
        raise InputError(f"{path} has other columns than this version writes; move it away and rerun")
    points = list(reader)
    for line, point in enumerate(points, 2):
        if not is_point(point):
            raise InputError(f"{path} is damaged near row {line}; move {directory} away and rerun")
    return points


def is_point(point: dict[str, str]) -> bool:
    """Whether all cells are there and x and y are numbers."""
    try:
        return None not in point and None not in point.values() and all(float(point[one]) or True for one in "xy")
    except ValueError:
        return False


def joined_series(directories: Iterable[Path]) -> list[dict[str, str]]:
    """The points of all jobs of a sweep; a curve that several jobs share is that of the first, as in joined_rows."""
    curves: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for directory in directories:
        own: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for point in read_series(directory):
            own.setdefault(tuple(point[column] for column in SERIES_COLUMNS[:-2]), []).append(point)
        curves |= {key: points for key, points in own.items() if key not in curves}
    return [point for points in curves.values() for point in points]


def of_finished(points: Iterable[dict[str, str]], rows: Iterable[Row]) -> list[dict[str, str]]:
    """The points of trials that have rows; a killed run may leave the curves of one that has none."""
    columns = SERIES_COLUMNS[: SERIES_COLUMNS.index("name")]
    trials = {tuple(row[column] for column in columns) for row in rows}
    return [point for point in points if tuple(point[column] for column in columns) in trials]


def write_series(directory: Path, rows: Iterable[Row]) -> None:
    replace_file(directory / FILE, as_csv(rows, SERIES_COLUMNS, header=True))


def keep_series(directory: Path, trials: Collection[tuple[str, str]]) -> None:
    """Drop the curves of other trials, which a killed run has left, and a line that it has cut."""
    points, path = read_series(directory), directory / FILE
    kept = [point for point in points if trial_key(point) in trials]
    if len(kept) < len(points) or (path.exists() and not path.read_bytes().endswith(b"\n")):
        write_series(directory, kept)


def add_series(directory: Path, rows: list[dict[str, Any]], known: Collection[tuple[str, str]]) -> None:
    """Append the points of some trials, or put them in place of those of `known` trials."""
    again, path = {trial_key(row) for row in rows}, directory / FILE
    if not rows:
        return
    if path.exists() and again.isdisjoint(known):
        append_file(path, as_csv(rows, SERIES_COLUMNS).encode())
    else:
        write_series(directory, [*(row for row in read_series(directory) if trial_key(row) not in again), *rows])
