"""Everything below a directory: runs, the experiments they belong to, and what cannot be read."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfbench.checks import InputError
from rfbench.progress import bar
from rfbench.reports.formats import plain
from rfbench.reports.html.unfinished import not_run
from rfbench.reports.tables import SETTING, Table, numbers_and_gaps, summarize, whole_table
from rfbench.results.places import home_of, job_directories
from rfbench.results.rows import COLUMNS, read_rows, unique_rows

if TYPE_CHECKING:
    import pandas as pd

IDENTITY = list(COLUMNS[: COLUMNS.index("value")])  # the columns that name a number
NUMBERS = ("n_train", "n_test", "d", "degree", "features", "seed", "value")
GROUPS = ("dataset", "kernel", "sketch", "task")


@dataclass(frozen=True)
class Run:
    """One job; the manifest is empty where it failed before its first number."""

    directory: Path
    rows: list[dict[str, str]]
    manifest: dict[str, Any]
    not_run: list[dict[str, str]] = field(default_factory=list)


@dataclass
class Experiment:
    """The jobs of a sweep, or one run; `name` is its path below the directory of the report."""

    name: str
    directory: Path
    runs: list[Run] = field(default_factory=list)

    @cached_property
    def rows(self) -> list[dict[str, str]]:
        return unique_rows(row for run in self.runs for row in run.rows)

    @cached_property
    def frames(self) -> "tuple[pd.DataFrame, pd.DataFrame]":
        """The rows with a number, and those with a reason instead, also of trials that were not run."""
        started = {_trial(row) for row in self.rows}  # jobs may share a number of features
        waiting = unique_rows(row for run in self.runs for row in run.not_run if _trial(row) not in started)
        return numbers_and_gaps([*self.rows, *waiting])

    @cached_property
    def table(self) -> Table:
        numbers, gaps = self.frames
        return whole_table(summarize(numbers), gaps)


@dataclass(frozen=True)
class Collection:
    """All experiments below a directory, and (path, reason) of what is unreadable."""

    directory: Path
    experiments: list[Experiment]
    unreadable: list[tuple[str, str]]

    @cached_property
    def frames(self) -> "tuple[pd.DataFrame, pd.DataFrame]":
        """Those of all experiments; a number that several of them have counts once."""
        import pandas as pd

        numbers, gaps = (pd.concat(part) for part in zip(*(one.frames for one in self.experiments), strict=True))
        return numbers.drop_duplicates(IDENTITY), gaps.drop_duplicates(IDENTITY)


def collect(directory: Path) -> Collection:
    """Read all runs below; refuse a directory that has none."""
    if not directory.is_dir():
        raise InputError(f"no directory {directory}; run an experiment first, or name another directory")
    found: dict[Path, Experiment] = {}
    unreadable = []
    places = job_directories(directory)
    with bar(len(places), "reading", "run") as shown:
        for place in places:
            shown.update()
            home = home_of(place) if place != directory else place
            try:
                run = read_run(place)
            except (InputError, OSError, ValueError) as error:
                unreadable.append((_name(place, directory), " ".join(str(error).split())))
                continue
            found.setdefault(home, Experiment(_name(home, directory), home)).runs.append(run)
    if not found:
        why = f"; {unreadable[0][0]}: {unreadable[0][1]}" if unreadable else ""
        raise InputError(f"no results below {directory}{why}; run an experiment first, or name another directory")
    return Collection(directory, list(found.values()), unreadable)


def _name(place: Path, directory: Path) -> str:
    inside = place.relative_to(directory).as_posix() if place.is_relative_to(directory) else "."
    return place.resolve().name if inside == "." else inside


def read_run(directory: Path) -> Run:
    """The rows and the manifest of a job, checked."""
    rows = read_rows(directory / "results.csv")
    if not rows:
        raise InputError("has no rows yet; rerun its command to resume")
    for number, row in enumerate(rows):
        if not _sound(row):
            raise InputError(f"results.csv is damaged near row {number + 2}")
    path = directory / "run.json"
    if not path.exists():
        return Run(directory, rows, {})
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        config = manifest["config"]
        _ = [config[group]["name"] for group in GROUPS], config["degree"]
        waiting = list(not_run(rows, config))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"run.json is damaged ({error!r})") from None
    return Run(directory, rows, manifest, waiting)


def _sound(row: dict[str, str]) -> bool:
    """Whether a row is complete and its numbers are finite."""
    try:
        return None not in row.values() and all(isfinite(float(row[column] or 0)) for column in NUMBERS)
    except ValueError:
        return False


def _trial(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[column] for column in (*SETTING, "seed"))


def makers_of(experiment: Experiment) -> Iterator[Run | None]:
    """For each line of the table the run that made it."""
    makers: dict[tuple[str, ...], Run] = {}
    for run in experiment.runs:
        for row in (*run.rows, *run.not_run):
            makers.setdefault(tuple(row[column] for column in SETTING), run)
    for line in experiment.table.lines:
        yield makers.get(tuple(plain(line.setting[column]) for column in SETTING))
