"""Renews docs/paper.md and docs/paper/ after `make paper` and `make paper-cells`: verdicts, seconds and numbers.

Seconds are the sum over the jobs of an experiment, numbers are means and standard deviations to four digits.
With --keep the verdicts of docs/paper/compare.csv stay, and the outputs, which hold some runs, add those that it lacks.
"""

import argparse
import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from rfbench.reports.compare.command import CELL, SETTING, Line, as_csv, counted
from rfbench.reports.compare.verdicts import NOT_COMPUTED
from rfbench.storage import replace_file

SILENT = "runs; nothing to compare with"


def seconds(directory: Path) -> str:
    jobs = [json.loads(path.read_text()) for path in directory.glob("jobs/*/run.json")]
    total = sum(job["seconds"] for job in jobs)
    finished = (directory / "figure.png").exists()
    return f"{total:.0f}{'' if finished else ', unfinished'}" if jobs else ""


def belongs(line: Line, figure: str) -> bool:
    """Fig. 2(b) belongs to Fig. 2; a line may have several sources."""
    pattern = re.escape(figure.partition(",")[0]) + r"(\(\w\))?"
    return any(re.fullmatch(pattern, name) for name in re.split(r", (?=[TOCB] )", line["source"]))


def renewed(row: str, outputs: Path, lines: list[Line], judged: set[str]) -> str:
    """A row of the table with new verdicts and seconds; any other row unchanged.

    Rows of one figure, as `T Fig. 5.6` and `T Fig. 5.6, distances`, share its verdicts: the first of them has them.
    """
    command = re.match(
        r"\| ([TOCB] [^|]+) \| `make (fig|table)-(\w+)-([\w.]+)` \| ([^|]+) \| ([^|]*) \| ([^|]*) \|", row
    )
    if not command:
        return row
    figure, kind, paper, number, shows, verdict, before = command.groups()
    took = seconds(outputs / paper / f"{kind}{number.replace('.', '_')}") or before
    first = (name := figure.partition(",")[0]) not in judged
    judged.add(name)
    if took:
        verdict = (counted([line for line in lines if belongs(line, figure)]) or SILENT) if first else f"see {name}"
    return f"| {figure} | `make {kind}-{paper}-{number}` | {shows} | {verdict} | {took} |"


def keep(experiment: Path, docs: Path) -> None:
    """Copy the summary of an experiment."""
    if (summary := experiment / "summary.csv").exists():
        name = docs / experiment.parent.name / f"{experiment.name}.csv"
        replace_file(name, pd.read_csv(summary).to_csv(index=False, float_format="%.4g", lineterminator="\n"))


def read(path: Path) -> list[Line]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def key(line: Line) -> tuple[str, ...]:
    """A cell by its setting and published number, a claim by its words: it has a line for every setting."""
    names = ("kind", *SETTING, "published") if line["kind"] == CELL else ("kind", "source", "sketch", "published")
    return tuple(line[name] for name in names)


def merged(old: list[Line], new: list[Line]) -> Iterator[Line]:
    """The new lines, with the verdicts of the old ones in their places."""
    judged: dict[tuple[str, ...], list[Line]] = {}
    for line in old:
        if line["verdict"] != NOT_COMPUTED:
            judged.setdefault(key(line), []).append(line)
    for line in new:
        if key(line) not in judged:
            yield line
        else:
            yield from judged[key(line)]
            judged[key(line)] = []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", nargs="?", type=Path, default=Path("outputs"))
    parser.add_argument("docs", nargs="?", type=Path, default=Path("docs"))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    lines, kept = read(options.outputs / "compare.csv"), options.docs / "paper" / "compare.csv"
    if options.keep:
        lines = list(merged(read(kept), lines))
    page, judged = options.docs / "paper.md", set[str]()
    rows = [renewed(row, options.outputs, lines, judged) for row in page.read_text().splitlines()]
    replace_file(page, "\n".join(rows) + "\n")
    replace_file(kept, as_csv(lines))
    for jobs in options.outputs.glob("*/*/jobs/"):
        keep(jobs.parent, options.docs / "paper")
    print(counted(lines))


if __name__ == "__main__":
    main()
