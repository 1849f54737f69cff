"""The layout of a text table, guessed from its first lines: separator, header, names of the columns."""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rfbench.checks import InputError, did_you_mean
from rfbench.datasets.formats.files import opened

WHITE_SPACE = r"\s+"
MISSING = frozenset(("", "?", "na", "n/a", "nan", "null", "none"))  # cells without a value, in lower case


@dataclass(frozen=True)
class Layout:
    separator: str
    names: list[str]
    skip: int  # lines before the first row
    first: list[str]  # cells of the first row
    named: bool  # by the file; else the names are indices


def is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def cells_of(line: str, separator: str) -> list[str]:
    if separator == WHITE_SPACE:
        return line.split()
    rows = csv.reader([line.strip("\r\n")], delimiter=separator, skipinitialspace=True)
    try:
        return [cell.strip() for cell in next(rows, [])]
    except csv.Error as error:
        raise InputError(f"the line that begins with {line[:40]!r} cannot be read ({error}); fix or drop it") from None


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The nonempty lines, with their numbers from 1."""
    with opened(path) as handle:
        text = io.TextIOWrapper(handle, encoding="utf-8-sig", errors="replace")
        yield from ((number, line) for number, line in enumerate(text, 1) if line.strip())


def sniff(path: Path, skip: int = 0, missing: str | None = None) -> Layout:
    """Guess the layout: a first line without numbers is a header, and an ARFF header names the columns."""
    lines = ((number, line) for number, line in lines_of(path) if number > skip)
    names: list[str] = []
    number, line = next(lines, (0, ""))
    while line.startswith(("@", "%")):
        if match := re.match(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)", line, re.IGNORECASE):
            names.append(match[1].strip("'\""))
        number, line = next(lines, (0, ""))
    separator = _separator(line)
    first = cells_of(line, separator)
    if line and not names and not any(map(is_number, first)):
        names = first
        number, line = next(lines, (0, ""))
        first = cells_of(line, separator)
    if not line:
        raise InputError(f"{path.name} has no rows")
    if len(first) != len(names or first):
        raise InputError(f"{path.name}: line {number} has {len(first)} cells; the header has {len(names)}")
    if missing is None and not names:
        _refuse_mixture(path, number, first, cells_of(next(lines, (0, line))[1], separator))
    return Layout(separator, names or [str(j) for j in range(len(first))], number - 1, first, bool(names))


def _separator(line: str) -> str:
    best = max(",;\t", key=line.count)
    return best if best in line and not (best == "\t" and _is_padded(line)) else WHITE_SPACE


def _is_padded(line: str) -> bool:
    """Whether spaces stand between numbers, or before or after tabs, so that tabs are white space too."""
    cells = [cell.split() for cell in line.strip("\r\n").split("\t")]
    return " " in line and any(not cell or (len(cell) > 1 and all(map(is_number, cell))) for cell in cells)


def _refuse_mixture(path: Path, number: int, first: list[str], second: list[str]) -> None:
    # It could be half a header or a bad cell.  Either guess could lose or invent a row.
    for above, below in zip(first, second, strict=False):
        if is_number(below) and not is_number(above) and above.lower() not in MISSING:
            raise InputError(
                f"{path.name}: line {number} has {above!r} above {below!r}, and numbers beside it; "
                "fix the cell, or make the line a header of names"
            )


def column(path: Path, names: Sequence[str], wanted: str | int) -> int:
    """Position of a column given by name or by index."""
    if names.count(str(wanted)) > 1:
        raise InputError(f"{path.name} has several columns named {wanted!r}; rename one, or give an index")
    if wanted in names:
        return names.index(str(wanted))
    d = len(names)
    if re.fullmatch(r"-?\d+", str(wanted)) and -d <= int(wanted) < d:
        return int(wanted) % d
    raise InputError(f"{path.name} has no column {wanted!r}; {did_you_mean(str(wanted), names)}")
