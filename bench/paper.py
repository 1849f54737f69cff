"""docs/paper.md and docs/paper/ from what `make paper` left: verdicts and seconds of every figure, and its numbers.

Seconds are the sum over the runs of an experiment.  Its numbers are means and deviations to four digits; the points of
curves, hundreds to a figure, are left out.
"""

import argparse
import csv
import json
import re
from collections import Counter
from pathlib import Path

import pandas as pd

from rfbench.storage import replace_file

POINT = r"_[a-z]?\d{3,}$"
SILENT = "runs; nothing published to compare with"


def seconds(directory: Path) -> str:
    runs = [json.loads(path.read_text()) for path in directory.glob("*/run.json")]
    total = sum(run["seconds"] for run in runs)
    whole = any(directory.glob("*/figure.png"))
    return f"{total:.0f}{'' if whole else ', not to the end'}" if runs else ""


def verdicts(figure: str, cells: list[dict[str, str]]) -> str:
    """Of a figure, whatever its part: Fig. 2(b) is of Fig. 2."""
    pattern = re.escape(figure.partition(",")[0]) + r"(\(\w\))?"
    sources = (re.split(r", (?=[TOCB] )", cell["source"]) for cell in cells)
    own = [any(re.fullmatch(pattern, name) for name in names) for names in sources]
    found = Counter(cell["verdict"] for cell, is_own in zip(cells, own, strict=True) if is_own)
    return ", ".join(f"{found[word]} {word}" for word in ("agree", "disagree") if found[word]) or SILENT


def renewed(line: str, outputs: Path, cells: list[dict[str, str]]) -> str:
    """A line of the table with its verdicts and seconds; any other line as it is."""
    command = re.match(r"\| ([TOCB] [^|]+) \| `make (fig|table)-(\w+)-([\w.]+)` \| ([^|]+) \|", line)
    if not command:
        return line
    figure, kind, paper, number, shows = command.groups()
    took = seconds(outputs / paper / f"{kind}{number.replace('.', '_')}")
    verdict = verdicts(figure, cells) if took else "not run"
    return f"| {figure} | `make {kind}-{paper}-{number}` | {shows} | {verdict} | {took} |"


def keep(experiment: Path, docs: Path) -> None:
    """The summary of the last whole run of an experiment."""
    whole = [path for path in experiment.glob("*/summary.csv") if not path.with_name("run.json").exists()]
    newest = max(whole or experiment.glob("*/summary.csv"), key=lambda path: path.stat().st_mtime, default=None)
    if newest:
        table = pd.read_csv(newest)
        table = table[~table["metric"].str.contains(POINT)]
        name = docs / experiment.parent.name / f"{experiment.name}.csv"
        replace_file(name, table.to_csv(index=False, float_format="%.4g", lineterminator="\n"))


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
    for experiment in options.outputs.glob("*/*/"):
        keep(experiment, options.docs / "paper")


if __name__ == "__main__":
    main()
