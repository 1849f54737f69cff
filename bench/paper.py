"""Renews docs/paper.md and docs/paper/ after `make paper` and `make paper-cells`: verdicts, seconds and numbers.

Seconds are the sum over the jobs of an experiment, numbers are means and standard deviations to four digits.
With --keep the verdicts of docs/paper/compare.csv stay, and the outputs, which hold some runs, add those that it lacks.
"""

import argparse
import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from rfbench.reports.compare.command import CELL, SETTING, Line, as_csv, counted
from rfbench.reports.compare.verdicts import NOT_COMPUTED
from rfbench.storage import replace_file

SILENT = "runs; published as a picture"
TOTAL = "Verdicts: "  # begins the line of the page with the counts


def seconds(directory: Path) -> str:
    jobs = [json.loads(path.read_text()) for path in directory.glob("jobs/*/run.json")]
    total = sum(job["seconds"] for job in jobs)
    finished = (directory / "figure.png").exists()
    return f"{total:.0f}{'' if finished else ', unfinished'}" if jobs else ""


def belongs(line: Line, figure: str) -> bool:
    """Fig. 2(b) belongs to Fig. 2; a line may have several sources."""
    pattern = re.escape(figure.partition(",")[0]) + r"(\(\w\))?"
    return any(re.fullmatch(pattern, name) for name in re.split(r", (?=[TOCB] )", line["source"]))


def verdict(figure: str, lines: list[Line], shown: dict[int, str]) -> str:
    """The counts of a figure, or the figure that has shown all of them before: two may share a claim."""
    own = [i for i, line in enumerate(lines) if belongs(line, figure)]
    judged = [i for i in own if lines[i]["verdict"] != NOT_COMPUTED]
    before = [shown.setdefault(i, figure) for i in judged]
    if judged and figure not in before:
        return f"see {before[0]}"
    reasons = Counter(lines[i]["reason"] for i in own)
    none = f"runs; {len(own)} not computed ({reasons.most_common(1)[0][0]})" if own else SILENT
    return counted([lines[i] for i, name in zip(judged, before, strict=True) if name == figure]) or none


def renewed(row: str, outputs: Path, lines: list[Line], shown: dict[int, str]) -> str:
    """A row of the table with new verdicts and seconds, or the line of counts; any other row unchanged."""
    if row.startswith(TOTAL):
        return f"{TOTAL}{counted(lines)}."
    command = re.match(
        r"\| ([TOCB] [^|]+) \| `make (fig|table)-(\w+)-([\w.]+)` \| ([^|]+) \| ([^|]*) \| ([^|]*)\|", row
    )
    if not command:
        return row
    figure, kind, paper, number, shows, said, before = (word.strip() for word in command.groups())
    if took := seconds(outputs / paper / f"{kind}{number.replace('.', '_')}") or before:
        said = verdict(figure, lines, shown)
    return f"| {figure} | `make {kind}-{paper}-{number}` | {shows} | {said} | {took} |"


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
    """The new lines, with the verdicts of the old ones in their places unless a cell has more seeds now."""
    judged: dict[tuple[str, ...], list[Line]] = {}
    for line in old:
        if line["verdict"] != NOT_COMPUTED:
            judged.setdefault(key(line), []).append(line)
    for line in new:
        before = judged.get(key(line))
        if before is None or (line["kind"] == CELL and before and seeds(line) > seeds(before[0])):
            yield line
        else:
            yield from before
            before.clear()


def seeds(line: Line) -> int:
    """Of ours, as in 0.5 ± 0.1 (10); without a verdict none."""
    found = re.search(r"\((\d+)\)$", line["ours"])
    return int(found[1]) if found and line["verdict"] != NOT_COMPUTED else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", nargs="?", type=Path, default=Path("outputs"))
    parser.add_argument("docs", nargs="?", type=Path, default=Path("docs"))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    lines, kept = read(options.outputs / "compare.csv"), options.docs / "paper" / "compare.csv"
    if options.keep:
        lines = list(merged(read(kept), lines))
    page, shown = options.docs / "paper.md", dict[int, str]()
    rows = [renewed(row, options.outputs, lines, shown) for row in page.read_text().splitlines()]
    replace_file(page, "\n".join(rows) + "\n")
    replace_file(kept, as_csv(lines))
    for jobs in options.outputs.glob("*/*/jobs/"):
        keep(jobs.parent, options.docs / "paper")
    print(counted(lines))


if __name__ == "__main__":
    main()
