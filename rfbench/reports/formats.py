"""Tables for the terminal, Markdown, LaTeX, CSV and JSON, all from the same lines.

The terminal shows the standard deviation over seeds, or on request the standard error of the mean, which the other
formats show.
"""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rfbench.reports.names import metric_name, printed
from rfbench.reports.tables import SETTING, Cell, Line, Table, tables

if TYPE_CHECKING:
    import pandas as pd

BEST = "* best mean among the sketches of one setting"
SPREADS = {"std": "standard deviation over seeds", "stderr": "standard error of the mean over seeds"}  # what ± shows
SPREAD = "mean ± standard error over seeds"
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet takes text that begins like this for a formula
LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "–": "--", "²": r"$^2$", "×": r"$\times$", "γ": r"$\gamma$", "ν": r"$\nu$", "ℓ": r"$\ell$",
    "α": r"$\alpha$", "ε": r"$\varepsilon$",
}  # fmt: skip
WORDS = ("dataset", "task", "kernel", "sketch", "metric", "verdict", "note")  # columns of words, aligned to the left
Escape = Callable[[str], str]


def as_text(summary: "pd.DataFrame", spread: str = "std", width: int = sys.maxsize) -> str:
    """One table for each dataset, kernel and task, in columns that fit the width, and what the marks in them mean."""
    if spread == "stderr":
        summary = summary.assign(std=summary["std"] / summary["count"] ** 0.5)
    found = list(tables(summary))
    parts = ["\n".join([*_folded(table.title, width), *_grid(table, width)]) for table in found]
    notes = [[line for note in table.notes for line in _folded(note, width)] for table in found]
    text = "\n\n".join("\n".join([part, *below]) for part, below in zip(parts, notes, strict=True))
    marks = [f"± {SPREADS[spread]}"] * ("±" in text) + [BEST] * any(map(_starred, found))
    return "\n".join(filter(None, [text, *_folded("; ".join(marks), width)]))


def _folded(text: str, width: int) -> list[str]:
    return wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _starred(table: Table) -> set[str]:
    """The metrics that have a best mean."""
    return {metric for line in table.lines for metric, cell in line.cells.items() if cell.best}


def plain(value: Any) -> str:
    """A value of the setting: numbers without decimals, nothing for NaN."""
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == value else ""


def _grid(table: Table, width: int) -> Iterator[str]:
    """The lines of the table; metrics beyond the width stand below the others, beside the same setting."""
    starred = _starred(table)
    rows = [[*table.keys, *table.headers.values()]]
    for line in table.lines:
        if not line.cells.keys() & table.headers.keys():
            continue  # has shared metrics only
        found = {metric: cell.text() + "*" * cell.best for metric, cell in line.cells.items()}
        cells = [_flush(found.get(metric, ""), metric in starred) for metric in table.headers]
        rows.append([*(plain(line.setting[key]) for key in table.keys), *cells])
    for place, columns in enumerate(_side_by_side(rows, len(table.keys), width)):
        yield from [""] * bool(place)
        yield from aligned_lines([[row[column] for column in columns] for row in rows])


def _side_by_side(rows: Sequence[Sequence[str]], keys: int, width: int) -> Iterator[list[int]]:
    """The columns of each part of a table: those of the setting, then as many as fit, at least one."""
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    part = setting = list(range(keys))
    for column in range(keys, len(widths)):
        if len(part) > keys and sum(widths[one] for one in (*part, column)) - 2 > width:
            yield part
            part = setting
        part = [*part, column]
    yield part


def aligned_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells in columns, with a rule below the first row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = ["─" * width for width in widths]
    return ("  ".join(map(_aligned, row, widths)).rstrip() for row in (rows[0], rule, *rows[1:]))


def _flush(cell: str, starred: bool) -> str:
    """Room for the star of another cell, so that numbers stay below each other."""
    return cell + " " if starred and not cell.endswith("*") else cell


def _aligned(cell: str, width: int) -> str:
    """Words to the left, numbers to the right."""
    return cell.ljust(width) if cell[:1].isalpha() else cell.rjust(width)


def as_markdown(table: Table) -> str:
    """A table as GitHub shows it; the best means are bold."""
    notes = [f"{markdown(note)}  " for note in (*table.notes, *reasons(table), SPREAD)]
    rows = [_row(table, line, markdown, "**{}**") for line in table.lines]
    return "\n".join([f"**{markdown(table.title)}**", "", *markdown_lines(_head(table), rows), "", *notes])


def markdown_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table whose cells are Markdown; words to the left, numbers to the right."""
    rule = [":--" if name in WORDS else "--:" for name in head]
    return [f"| {' | '.join(row)} |" for row in ([markdown(name) for name in head], rule, *rows)]


def as_latex(table: Table) -> str:
    """A tabular with the rules of booktabs; the best means are bold."""
    before, lines, after = latex_lines(table)
    notes = [f"% {' '.join(note.split())}" for note in (printed(table.title), *table.notes, *reasons(table), SPREAD)]
    return "\n".join([*notes, *before, *lines, *after])


def latex_lines(table: Table) -> tuple[list[str], list[str], list[str]]:
    """What comes before the lines of a table, its lines, and what comes after."""
    units = (re.search(r" \[.*\]$", heading) for heading in table.headers.values())
    names = (
        f"{short_name(metric)}{unit[0] if unit else ''}" for metric, unit in zip(table.headers, units, strict=True)
    )
    return booktabs([*table.keys, *names], [_row(table, line, latex_name, r"\textbf{{{}}}") for line in table.lines])


def booktabs(head: Sequence[str], rows: Iterable[Sequence[str]]) -> tuple[list[str], list[str], list[str]]:
    """The same for rows whose cells are LaTeX."""
    columns = "".join("l" if name in WORDS else "r" for name in head)
    before = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", rf"{' & '.join(map(latex, head))} \\", r"\midrule"]
    return before, [" & ".join(row) + r" \\" for row in rows], [r"\bottomrule", r"\end{tabular}"]


def _head(table: Table) -> list[str]:
    return [*table.keys, *table.headers.values()]


def _row(table: Table, line: Line, escape: Escape, bold: str) -> list[str]:
    setting = [escape(plain(line.setting[key])) for key in table.keys]
    return setting + [_marked(line.cells.get(metric), escape, bold) for metric in table.headers]


def _marked(cell: Cell | None, escape: Escape, bold: str) -> str:
    if cell is None:
        return "–" if escape is markdown else "--"
    if not cell.count:
        return "none"
    text = escape(cell.text(standard_error=True))
    return bold.format(text) if cell.best else text


def reasons(table: Table) -> Iterator[str]:
    """Why cells have no number, each reason once with the lines it holds for."""
    found: dict[str, list[str]] = {}
    for line in table.lines:
        where = " ".join(filter(None, (plain(line.setting[key]) for key in table.keys)))
        for reason in dict.fromkeys(cell.reason for cell in line.cells.values() if cell.reason):
            found.setdefault(reason, []).append(where)
    return (f"{', '.join(where)}: {reason}" for reason, where in found.items())


def markdown(text: str) -> str:
    """Text that Markdown and HTML take for nothing else."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*|\[\]])", r"\\\1", " ".join(text.split()))


def latex(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in " ".join(text.split()))


def latex_name(text: str) -> str:
    return latex(printed(text))


def short_name(metric: str) -> str:
    """A metric as the heading of a column, whose unit stands behind it."""
    return re.sub(r"^seconds (of|to) | \[.*\]$", "", metric_name(metric))


def records(table: Table) -> list[dict[str, Any]]:
    """A line as a mapping: the columns of its setting, then its metrics, each with mean, spread, count and reason."""
    return [
        {key: _number(value) for key, value in line.setting.items()}
        | {"metrics": {metric: _record(cell) for metric, cell in line.cells.items()}}
        for line in table.lines
    ]


def _record(cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {"mean": cell.mean, "std": cell.std, "standard_error": cell.error, "count": cell.count}
    found = {key: value for key, value in found.items() if value == value}
    return found | ({"best": True} if cell.best else {}) | ({"reason": cell.reason} if cell.reason else {})


def _number(value: Any) -> Any:
    """What JSON has: whole numbers, and null for what is empty."""
    if isinstance(value, str):
        return value
    return int(value) if value == value else None


def as_json(found: Iterable[dict[str, Any]]) -> str:
    return json.dumps(list(found), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def csv_lines(found: Sequence[dict[str, Any]], metrics: Sequence[str], first: Sequence[str] = ()) -> list[str]:
    """Head and lines: the setting, then mean, standard error and count of every metric, and the reasons for gaps."""
    numbers = ("mean", "standard_error", "count")
    names = [metric if one == "mean" else f"{metric}_{one}" for metric in metrics for one in numbers]
    rows: list[list[Any]] = [[*first, *SETTING, *names, "reason"]]
    for one in found:
        cells = [one["metrics"].get(metric, {}) for metric in metrics]
        why = dict.fromkeys(cell["reason"] for cell in cells if "reason" in cell)
        values = [cell.get(key, "") if cell.get("count") else "" for cell in cells for key in numbers]
        rows.append([*(one[key] for key in (*first, *SETTING)), *values, "; ".join(why)])
    return list(map(csv_line, rows))


def csv_line(cells: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(map(harmless, cells))
    return text.getvalue()


def harmless(cell: Any) -> Any:
    """Text that begins like a formula gets an apostrophe, so that a spreadsheet shows it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
