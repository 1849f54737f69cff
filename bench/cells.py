"""Runs the published cells that have no verdict: those without a known fault, of data that are here, cheapest first.

One rfbench command for each setting and tier of features, in outputs/ below the working directory; what is finished is
not repeated.  `rfbench compare` then judges them.  --plan prints the commands with estimated seconds.
"""

import argparse
import csv
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rfbench.checks import InputError
from rfbench.config.compose import compose_jobs, with_search_path
from rfbench.config.identity import directories
from rfbench.datasets import status
from rfbench.job import build_job, plain_config
from rfbench.reports.compare.command import CELL, SETTING, of_files
from rfbench.reports.compare.published import Cell, printed
from rfbench.reports.compare.verdicts import ENOUGH, KERNEL_ERRORS, NOT_COMPUTED
from rfbench.reports.compare.words import words
from rfbench.trials import run

TIERS = (128, 1024, 2048, 4096, 1 << 30)  # numbers of features that share a command
JUDGED = Path(__file__).parents[1] / "docs" / "paper" / "compare.csv"
DRAWS = 40  # of a Kernel Inception Distance, whose spread is that of its draws
SMALL = 0.01  # kernel errors below it may be those of the diagonal, whose share falls with the number of rows
HERE = ("embedded", "generated", "available")


class Command(NamedTuple):
    """A command, the number of cells that it decides, and a guess of its seconds."""

    words: tuple[str, ...]
    cells: int
    seconds: float


def wanted(cells: Iterable[Cell], known: set[tuple[str, ...]]) -> Iterator[Cell]:
    for cell in cells:
        new = tuple(getattr(cell, name) for name in SETTING) not in known
        good = not cell.fault and cell.features and "opu=" not in cell.sketch
        if new and good and status(cell.dataset.partition("(")[0], None) in HERE:
            yield cell


def commands(cells: Iterable[Cell]) -> list[Command]:
    """Those that decide a cell in the least time first."""
    groups: dict[tuple[tuple[str, ...], int], list[Cell]] = {}
    for cell in cells:
        tier = next(top for top in TIERS if int(cell.features) <= top)
        groups.setdefault((words(cell), tier), []).append(cell)
    return sorted((_command(own, group) for (own, _), group in groups.items()), key=lambda one: one.seconds / one.cells)


def _command(own: tuple[str, ...], cells: list[Cell]) -> Command:
    features = sorted({int(cell.features) for cell in cells})
    wanted_features = f"features=[{','.join(map(str, features))}]"
    if cells[0].task.startswith("kid"):
        own += (wanted_features, "seeds=1", f"task.resamples={DRAWS}", "task.subsets=0", "task.exact_rows=0")
        return Command(own, len(cells), DRAWS * cells[0].n * sum(2e-5 + 6e-9 * D for D in features))
    kernel_error = cells[0].metric in KERNEL_ERRORS
    seeds = 5 if kernel_error else 3 if cells[0].std is None else 2
    counts = wanted_features, f"seeds={seeds}"
    rows = cells[0].rows if kernel_error and min(cell.mean for cell in cells) < SMALL else 0
    own += (f"task.rows={rows}",) if rows > ENOUGH else ()
    return Command((*own, *counts), len(cells), seeds * _seconds(cells[0], features, kernel_error))


def _seconds(cell: Cell, features: list[int], kernel_error: bool) -> float:
    """Of one seed: a transform of a thousand rows, a support vector machine, or Gram matrices and an exact process."""
    if kernel_error:
        return 1 + sum(features) / 3000
    if cell.task.startswith("svm"):
        return sum(3 + cell.n * D / 5e6 if D else cell.n**2 / 1e7 for D in features)
    n = cell.n if cell.task.startswith("gp") else 10 * cell.n
    return 20 + sum(n * D**2 for D in features) / 1e10


def judged(path: Path) -> Iterator[tuple[str, ...]]:
    """The settings of the cells that have a verdict."""
    with open(path, newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if line["kind"] == CELL and line["verdict"] != NOT_COMPUTED:
                yield tuple(line[name] for name in SETTING)


def execute(one: Command) -> bool:
    """Run a command as rfbench does, without the table and the figure; whether all of it succeeded."""
    (config,) = compose_jobs(with_search_path(list(one.words)), False)
    try:
        job = build_job(plain_config(config))
    except InputError as refusal:
        print(f"  {refusal}", flush=True)
        return False
    _, (place,) = directories([job.config], None, False)
    place.mkdir(parents=True, exist_ok=True)
    return all(row["status"] != "failed" for row in run(job, place, keep_going=True).rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truth", type=Path, help="the directory of the author's files")
    parser.add_argument("--judged", type=Path, nargs="+", default=[JUDGED], help="tables of verdicts")
    parser.add_argument("--all", action="store_true", help="cells that have a verdict too")
    parser.add_argument("--plan", action="store_true", help="print the commands and run nothing")
    options = parser.parse_args()
    known = set() if options.all else {setting for path in options.judged for setting in judged(path)}
    cells = [*printed(), *(of_files(options.truth) if options.truth else ())]
    todo, failed = commands(wanted(cells, known)), False
    for number, one in enumerate(todo, 1):
        print(
            f"[{number}/{len(todo)}] {one.cells} cells, {one.seconds:.0f} s: rfbench {shlex.join(one.words)}",
            flush=True,
        )
        if not options.plan:
            failed |= not execute(one)
    print(f"{sum(one.cells for one in todo)} cells")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
