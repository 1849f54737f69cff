"""Renews docs/paper.md and docs/paper/ after `make paper`: verdicts, seconds and numbers of every figure.

Seconds are the sum over the jobs of an experiment, numbers are means and standard deviations to four digits.
"""

import argparse
import csv
import json
import re
from collections import Counter
from pathlib import Path

import pandas as pd

from rfbench.storage import replace_file

SILENT = "runs; nothing published to compare with"


def seconds(directory: Path) -> str:
    jobs = [json.loads(path.read_text()) for path in directory.glob("jobs/*/run.json")]
    total = sum(job["seconds"] for job in jobs)
    finished = (directory / "figure.png").exists()
    return f"{total:.0f}{'' if finished else ', unfinished'}" if jobs else ""


def verdicts(figure: str, cells: list[dict[str, str]]) -> str:
    """Counts of the verdicts on a figure and its parts: Fig. 2(b) belongs to Fig. 2."""
    pattern = re.escape(figure.partition(",")[0]) + r"(\(\w\))?"
    sources = (re.split(r", (?=[TOCB] )", cell["source"]) for cell in cells)
    own = [any(re.fullmatch(pattern, name) for name in names) for names in sources]
    found = Counter(cell["verdict"] for cell, is_own in zip(cells, own, strict=True) if is_own)
    return ", ".join(f"{found[word]} {word}" for word in ("agree", "disagree") if found[word]) or SILENT


def renewed(line: str, outputs: Path, cells: list[dict[str, str]]) -> str:
    """A line of the table with new verdicts and seconds; any other line unchanged."""
    command = re.match(r"\| ([TOCB] [^|]+) \| `make (fig|table)-(\w+)-([\w.]+)` \| ([^|]+) \|", line)
    if not command:
        return line
    figure, kind, paper, number, shows = command.groups()
    took = seconds(outputs / paper / f"{kind}{number.replace('.', '_')}")
    verdict = verdicts(figure, cells) if took else "not run"
    return f"| {figure} | `make {kind}-{paper}-{number}` | {shows} | {verdict} | {took} |"


def keep(experiment: Path, docs: Path) -> None:
    """Copy the summary of an experiment."""
    if (summary := experiment / "summary.csv").exists():
        name = docs / experiment.parent.name / f"{experiment.name}.csv"
        replace_file(name, pd.read_csv(summary).to_csv(index=False, float_format="%.4g", lineterminator="\n"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", nargs="?", type=Path, default=Path("outputs"))
    parser.add_argument("docs", nargs="?", type=Path, default=Path("docs"))
    options = parser.parse_args()
    text = (options.outputs / "compare.csv").read_text()
    cells = list(csv.DictReader(text.splitlines()))
    page = options.docs / "paper.md"
    lines = page.read_text().splitlines()
    replace_file(page, "\n".join(renewed(line, options.outputs, cells) for line in lines) + "\n")
    judged = [line for line in text.splitlines(keepends=True) if ",not computed," not in line]
    replace_file(options.docs / "paper" / "compare.csv", "".join(judged))
    for jobs in options.outputs.glob("*/*/jobs/"):
        keep(jobs.parent, options.docs / "paper")


if __name__ == "__main__":
    main()
