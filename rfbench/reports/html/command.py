"""`rfbench report`: a page, or tables, of everything below a directory; or what differs between two."""

import argparse
import os
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any, NoReturn

from rfbench.checks import InputError, did_you_mean
from rfbench.progress import say
from rfbench.reports import formats
from rfbench.reports.html.budgets import budget_tables, headings
from rfbench.reports.html.changes import COLUMNS as CHANGE_COLUMNS
from rfbench.reports.html.changes import MOVED, Changes, changes
from rfbench.reports.html.collect import Collection, collect
from rfbench.reports.tables import sign, summarize, tables
from rfbench.storage import replace_file

COSTS = ("seconds_total", "bytes", "flops")  # of costs=true
FORMATS = ("html", "md", "latex", "csv", "json")
USAGE = (
    "rfbench report takes a directory, --output FILE, --format html|md|latex|csv|json, --metric M, --at COST=X,Y "
    "and --compare A B"
)


def main(words: list[str]) -> int:
    """Write the page and say where it is; tables go to the terminal unless a file is named."""
    args = _parse(words)
    if args.compare:
        return _compare(args)
    found = collect(args.directory)
    _check_metric(args.metric, found, args.format)
    if args.format != "html":
        return _deliver(table_text(found, args.format, args.metric, args.at), args.output)
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

    about = "Write a page, or tables, of all results below a directory; or what differs between two directories."
    parser = argparse.ArgumentParser("rfbench report", description=about, allow_abbrev=False)
    parser.error = refuse  # type: ignore[method-assign]
    parser.add_argument("directory", nargs="?", type=Path, metavar="DIR", help="of results (default: outputs)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: DIR/report.html; tables: the terminal")
    parser.add_argument("--format", choices=FORMATS, default="html", help="a page (html), or tables")
    parser.add_argument("--metric", metavar="M", help="the metric that ranks sketches, or the only one of tables")
    parser.add_argument(
        "--at", type=_budgets, metavar="COST=X,Y", help="tables of one metric at equal cost, as in seconds_total=1,10"
    )
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar=("A", "B"), help="which numbers moved between two directories"
    )
    args = parser.parse_args(words)
    if args.at and (args.format == "html" or args.compare):
        refuse("--at is for the tables of one directory, so it needs --format md, latex, csv or json")
    if args.compare and args.directory:
        refuse(f"--compare names both directories, so '{args.directory}' is one too many")
    args.directory = args.directory or Path("outputs")
    if args.output and args.output.is_dir():
        raise InputError(f"--output {args.output} is a directory; name a file")
    return args


def _budgets(text: str) -> tuple[str, list[float]]:
    """The name of a cost, and its values."""
    name, _, values = text.partition("=")
    try:
        found = [float(value) for value in values.split(",")]
    except ValueError:
        found = []
    if not name or not found or not all(0 < value < inf for value in found):
        raise argparse.ArgumentTypeError(f"wanted a cost and numbers, such as seconds_total=1,10; {text!r} was given")
    return name, found


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


def table_text(
    found: Collection, kind: str, metric: str | None = None, at: tuple[str, list[float]] | None = None
) -> str:
    """All tables in one text."""
    if at:
        return _budget_text(found, kind, metric, *at)
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


def _budget_text(found: Collection, kind: str, metric: str | None, cost: str, budgets: list[float]) -> str:
    """Of all experiments together: a setting may have sketches in several."""
    numbers, _ = found.frames
    if cost != "features" and cost not in (known := set(numbers["metric"])):
        hint = "; run with costs=true" if cost in COSTS else f"; {did_you_mean(cost, known)}"
        raise InputError(f"no '{cost}' below {found.directory}{hint}")
    shown = list(budget_tables(numbers, metric, cost, budgets))
    if kind in ("csv", "json"):
        lines = [line for table in shown for line in formats.records(table)]
        if kind == "json":
            return formats.as_json(lines)
        return "\n".join(formats.csv_lines(lines, list(headings(cost, budgets)))) + "\n"
    return "\n\n".join(map(formats.as_markdown if kind == "md" else formats.as_latex, shown)) + "\n"


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
