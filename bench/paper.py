"""docs/paper.md and docs/paper/compare.csv from what `make paper` left: the verdicts and seconds of every figure.

Seconds are the sum over the runs of an experiment, over as many cores where they ran side by side.
"""

import argparse
import csv
import json
import re
from collections import Counter
from pathlib import Path

from rfbench.results.files import replace_file

SILENT = "runs; nothing published to compare with"


def seconds(directory: Path, side_by_side: int) -> str:
    runs = [json.loads(path.read_text()) for path in directory.glob("*/run.json")]
    total = sum(run["seconds"] for run in runs) / side_by_side
    whole = any(directory.glob("*/figure.png"))
    return f"{total:.0f}{'' if whole else ', not to the end'}" if runs else ""


def verdicts(figure: str, cells: list[dict[str, str]]) -> str:
    found = Counter(cell["verdict"] for cell in cells if figure in re.split(r", (?=[TOCB] )", cell["source"]))
    return ", ".join(f"{found[word]} {word}" for word in ("agree", "disagree") if found[word]) or SILENT


def renewed(line: str, outputs: Path, cells: list[dict[str, str]], side_by_side: int) -> str:
    """A line of the table with its verdicts and seconds; any other line as it is."""
    command = re.match(r"\| ([TOCB] [^|]+) \| `make (fig|table)-(\w+)-([\w.]+)` \| ([^|]+) \|", line)
    if not command:
        return line
    figure, kind, paper, number, shows = command.groups()
    took = seconds(outputs / paper / f"{kind}{number.replace('.', '_')}", side_by_side)
    verdict = verdicts(figure, cells) if took else "not run"
    return f"| {figure} | `make {kind}-{paper}-{number}` | {shows} | {verdict} | {took} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", nargs="?", type=Path, default=Path("outputs"))
    parser.add_argument("docs", nargs="?", type=Path, default=Path("docs"))
    parser.add_argument(
        "--side-by-side", type=int, default=1, help="processes of hydra/launcher=joblib, if that was used"
    )
    options = parser.parse_args()
    text = (options.outputs / "compare.csv").read_text()
    cells = list(csv.DictReader(text.splitlines()))
    page = options.docs / "paper.md"
    lines = page.read_text().splitlines()
    replace_file(page, "\n".join(renewed(line, options.outputs, cells, options.side_by_side) for line in lines) + "\n")
    judged = [line for line in text.splitlines(keepends=True) if ",not computed," not in line]
    replace_file(options.docs / "paper" / "compare.csv", "".join(judged))


if __name__ == "__main__":
    main()
