"""Text tables of numbers: CSV, whitespace-separated or ARFF, with or without a header, read in chunks.

A cell that is not a finite number is refused with its line and column.  The fast reader only detects that
something is wrong; a second, slow pass finds the cell.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.formats.layout import WHITE_SPACE, Layout, cells_of, column, is_number, lines_of, sniff

CELLS_PER_CHUNK = 1_000_000

Block = tuple[Array, Array]  # (b, d) and (b,)


def read_table(
    path: Path,
    target: str | int | None = -1,
    drop: Sequence[str | int] = (),
    missing: str | None = None,
    skip: int = 0,
) -> Iterator[Block]:
    """Rows and their targets, which are words if the first one is; cells equal to `missing` become 0."""
    layout = sniff(path, skip, missing)
    y = None if target is None else column(path, layout.names, target)
    dropped = {y, *(column(path, layout.names, name) for name in drop)}
    features = [j for j in range(len(layout.names)) if j not in dropped]
    if unnamed := [j for j in features if not layout.names[j]]:
        raise InputError(f"{path.name}: column {unnamed[0]} has no name; name it, or drop it if it counts the rows")
    words = y is not None and not is_number(layout.first[y])
    if not features:
        raise InputError(f"{path.name} has no column besides the target; add features")
    for lines in _chunks(path, layout, missing):
        try:
            labels = _labels(lines, layout, y) if words and y is not None else None
            numbers = _numbers(lines, layout, features if words else None)
        except ValueError as error:
            _refuse(path, layout, features if words else range(len(layout.names)), missing, str(error))
        if labels is None:
            labels = np.zeros(len(lines)) if y is None else numbers[:, y]
        yield numbers if words else numbers[:, features], labels


def _chunks(path: Path, layout: Layout, missing: str | None) -> Iterator[list[str]]:
    lines = (line for number, line in lines_of(path) if number > layout.skip)
    if missing is not None:
        lines = (line.replace(missing, "0") for line in lines)
    while chunk := list(islice(lines, max(1, CELLS_PER_CHUNK // len(layout.names)))):
        yield chunk


def _labels(lines: list[str], layout: Layout, y: int) -> Array:
    rows = [cells_of(line, layout.separator) for line in lines]
    if any(len(row) != len(layout.names) for row in rows):
        raise ValueError("rows of different lengths")
    return np.array([row[y] for row in rows])


def _numbers(lines: list[str], layout: Layout, columns: list[int] | None) -> Array:
    separator = None if layout.separator == WHITE_SPACE else layout.separator
    numbers = np.loadtxt(lines, comments=None, delimiter=separator, quotechar='"', usecols=columns, ndmin=2)
    if numbers.shape[1] != len(columns or layout.names) or not np.isfinite(numbers).all():
        raise ValueError("cells that are not finite, or rows of different lengths")
    return numbers


def _refuse(path: Path, layout: Layout, numeric: Sequence[int], missing: str | None, error: str) -> NoReturn:
    """Find the first bad cell and report it."""
    d = len(layout.names)
    for number, line in lines_of(path):
        if number <= layout.skip:
            continue
        cells = cells_of(line, layout.separator)
        if len(cells) != d:
            raise InputError(f"{path.name}: line {number} has {len(cells)} cells; the lines before have {d}")
        for j in numeric:
            if cells[j] != missing and not is_number(cells[j]):
                raise InputError(
                    f"{path.name}: line {number}, column '{layout.names[j]}' is not a number: {cells[j]!r}; "
                    "fix the cell or drop the row"
                )
    raise InputError(f"{path.name} is not a table of numbers ({error.strip().splitlines()[0]})")
