"""`rfbench report`: a page, or tables, of everything below a directory; or what differs between two."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from rfbench.checks import InputError, did_you_mean
from rfbench.progress import say
from rfbench.reports import formats
from rfbench.reports.html.changes import COLUMNS as CHANGE_COLUMNS
from rfbench.reports.html.changes import MOVED, Changes, changes
from rfbench.reports.html.collect import Collection, collect
from rfbench.reports.tables import sign, summarize, tables
from rfbench.storage import replace_file

FORMATS = ("html", "md", "latex", "csv", "json")
USAGE = "rfbench report takes a directory, --output FILE, --format html|md|latex|csv|json, --metric M and --compare A B"


def main(words: list[str]) -> int:
    """Write the page and say where it is; tables go to the terminal unless a file is named."""
    args = _parse(words)
    if args.compare:
        return _compare(args)
    found = collect(args.directory)
    _check_metric(args.metric, found, args.format)
    if args.format != "html":
        return _deliver(table_text(found, args.format, args.metric), args.output)
    from rfbench.reports.html.page import read_published, report_page

    path = args.output or args.directory / "report.html"
    replace_file(path, report_page(found, read_published(args.directory), args.metric))
    several = "s" if len(found.experiments) > 1 else ""
    say(f"{os.path.relpath(path)}: {len(found.experiments)} experiment{several}; open it in a browser")
    for place, reason in found.unreadable:
        say(f"unreadable: {place}: {reason}")
    return 0


def _parse(words: list[str]) -> argparse.Namespace:
    def refuse(message: str) -> NoReturn:
        raise InputError(f"{message}; {USAGE}")

    parser = argparse.ArgumentParser("rfbench report", add_help=False, allow_abbrev=False)
    parser.error = refuse  # type: ignore[method-assign]
    parser.add_argument("directory", nargs="?", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--format", choices=FORMATS, default="html")
    parser.add_argument("--metric")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"))
    args = parser.parse_args(words)
    if args.compare and args.directory:
        refuse(f"--compare names both directories, so '{args.directory}' is one too many")
    args.directory = args.directory or Path("outputs")
    if args.output and args.output.is_dir():
        raise InputError(f"--output {args.output} is a directory; name a file")
    return args


def _check_metric(metric: str | None, found: Collection, kind: str) -> None:
    known = set(found.frames[0]["metric"])
    if metric and metric not in known:
        raise InputError(f"no metric '{metric}' below {found.directory}; {did_you_mean(metric, known)}")
    if metric and kind == "html" and sign(metric) != sign(metric):
        better = sorted(name for name in known if sign(name) == sign(name))
        raise InputError(
            f"'{metric}' has no better and worse, so it names no best sketch; choose from {', '.join(better)}"
        )


def _deliver(text: str, output: Path | None) -> int:
    if output:
        replace_file(output, text)
        say(f"{os.path.relpath(output)}: written")
    else:
        say(text.removesuffix("\n"))
    return 0


def table_text(found: Collection, kind: str, metric: str | None = None) -> str:
    """All tables in one text."""
    if kind in ("csv", "json"):
        lines = list(_records(found, metric))
        metrics = list(dict.fromkeys(name for line in lines for name in line["metrics"]))
        if kind == "json":
            return formats.as_json(lines)
        return "\n".join(formats.csv_lines(lines, metrics, first=["experiment"])) + "\n"
    parts = []
    for experiment in found.experiments:
        numbers, gaps = experiment.frames
        if metric:
            numbers, gaps = numbers[numbers["metric"] == metric], gaps[gaps["metric"].isin(["", metric])]
        shown = [table for table in tables(summarize(numbers), gaps) if table.headers]
        if kind == "md" and shown:
            parts += [f"## {formats.markdown(experiment.name)}", *map(formats.as_markdown, shown)]
        elif shown:
            parts += [f"% {experiment.name}", *map(formats.as_latex, shown)]
    return "\n\n".join(parts) + "\n"


def _records(found: Collection, metric: str | None) -> Iterator[dict[str, Any]]:
    for experiment in found.experiments:
        for line in formats.records(experiment.table):
            kept = {name: cell for name, cell in line["metrics"].items() if metric in (None, name)}
            if kept:
                yield {"experiment": experiment.name} | line | {"metrics": kept}


def _compare(args: argparse.Namespace) -> int:
    before, after = args.compare
    found = changes(collect(before).frames, collect(after).frames)
    if args.metric:
        found = found.only(args.metric)
    if args.format != "html":
        return _deliver(change_text(found, args.format), args.output)
    from rfbench.reports.html.page import changes_page

    path = args.output or after / "changes.html"
    replace_file(path, changes_page(found, str(before), str(after)))
    moved = f"{len(found.of(MOVED))} of {len(found.cells)} numbers moved beyond chance"
    say(f"{moved}, {len(found.new)} new, {len(found.gone)} gone")
    say(f"{os.path.relpath(path)}: open it in a browser")
    return 0


def change_text(found: Changes, kind: str) -> str:
    """A line for each number of either side."""
    lines = found.lines()
    if kind == "json":
        return formats.as_json({key: None if value == "" else value for key, value in line.items()} for line in lines)
    rows = [list(line.values()) for line in lines]
    if kind == "csv":
        return "\n".join(map(formats.csv_line, [CHANGE_COLUMNS, *rows])) + "\n"
    escape = formats.markdown if kind == "md" else formats.latex
    cells = [[escape(f"{one:.4g}" if isinstance(one, float) else str(one)) for one in row] for row in rows]
    if kind == "md":
        return "\n".join(formats.markdown_lines(CHANGE_COLUMNS, cells)) + "\n"
    before, body, after = formats.booktabs(CHANGE_COLUMNS, cells)
    return "\n".join([*before, *body, *after]) + "\n"
