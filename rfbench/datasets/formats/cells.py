"""Tables whose cells may be words or empty: text tables and Parquet files, read in chunks of columns."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, in_short
from rfbench.datasets.formats.layout import MISSING, WHITE_SPACE, Layout, is_number, lines_of, sniff
from rfbench.storage import UNREADABLE

CELLS_PER_CHUNK = 250_000  # as Python strings


class Chunk(NamedTuple):
    """Some rows: their lines in the file, and an array for each column, of words or of float64."""

    lines: Array
    columns: list[Array]


@dataclass(frozen=True)
class Table:
    """A file with its names of columns, which are their indices where the file has none."""

    path: Path
    names: tuple[str, ...]
    named: bool
    layout: Layout | None  # None: Parquet

    def chunks(self) -> Iterator[Chunk]:
        return _parquet_chunks(self.path) if self.layout is None else _text_chunks(self.path, self.layout)


@dataclass(frozen=True, eq=False)
class Frame(Table):
    """The columns of a pandas DataFrame, all at once."""

    frame: Any = None

    def chunks(self) -> Iterator[Chunk]:
        columns = [self.frame.iloc[:, j] for j in range(len(self.names))]
        yield Chunk(np.arange(len(self.frame)), [_series_column(column) for column in columns])


def frame_table(frame: Any) -> Table:
    """A pandas DataFrame as a table; messages call it X, and its rows lines from 0."""
    return Frame(Path("X"), tuple(map(str, frame.columns)), True, None, frame)


def _series_column(column: Any) -> Array:
    if column.dtype.kind in "biuf":
        return column.to_numpy(np.float64)
    return np.array(
        ["" if gone else str(cell).strip() for cell, gone in zip(column, column.isna(), strict=True)], object
    )


def open_table(path: Path, head: bytes) -> Table:
    """The table in a file that begins with these bytes."""
    if head.startswith(b"PAR1"):
        return Table(path, tuple(_parquet(path).schema_arrow.names), True, None)
    layout = sniff(path)
    return Table(path, tuple(layout.names), layout.named, layout)


def empty(cells: Array) -> Array:
    """Which cells have no value."""
    if cells.dtype.kind == "f":
        return np.isnan(cells)
    return np.fromiter((cell.lower() in MISSING for cell in cells), bool, len(cells))


def numbers(cells: Array) -> Array:
    """The cells as numbers, NaN where they are not finite numbers."""
    if cells.dtype.kind == "f":
        return np.where(np.isfinite(cells), cells, np.nan)
    try:
        values = np.where(empty(cells), "nan", cells).astype(np.float64)
    except ValueError:
        values = np.array([float(cell) if is_number(cell) else np.nan for cell in cells])
    return np.where(np.isfinite(values), values, np.nan)


def words(cells: Array) -> Array:
    """The cells as words."""
    if cells.dtype.kind != "f":
        return cells
    return np.array(["" if np.isnan(value) else f"{value:.17g}" for value in cells], object)


def _text_chunks(path: Path, layout: Layout) -> Iterator[Chunk]:
    numbered = ((number, line) for number, line in lines_of(path) if number > layout.skip)
    d = len(layout.names)
    while some := list(islice(numbered, max(1, CELLS_PER_CHUNK // d))):
        lines, texts = zip(*some, strict=True)
        if layout.separator == WHITE_SPACE:
            rows = [text.split() for text in texts]
        else:
            texts = tuple(text.strip("\r\n") for text in texts)
            rows = list(csv.reader(texts, delimiter=layout.separator, skipinitialspace=True))
        for line, row in zip(lines, rows, strict=False):
            if len(row) != d:
                raise InputError(f"{path.name}: line {line} has {len(row)} cells; the lines before have {d}")
        columns = [np.array([cell.strip() for cell in column], object) for column in zip(*rows, strict=True)]
        yield Chunk(np.array(lines), columns)


def _parquet(path: Path) -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError(f"{path.name} is a Parquet file; pip install pyarrow to read it") from None
    with _refusing(path):
        return parquet.ParquetFile(path)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise InputError(f"cannot read {path} ({in_short(error)}); save it again") from None


def _parquet_chunks(path: Path) -> Iterator[Chunk]:
    file, row = _parquet(path), 1
    batches = file.iter_batches(max(1, CELLS_PER_CHUNK // max(1, len(file.schema_arrow.names))))
    while True:
        with _refusing(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield Chunk(np.arange(row, row + len(batch)), [_arrow_column(column) for column in batch.columns])
        row += len(batch)


def _arrow_column(column: Any) -> Array:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    if (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    ):
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    return np.array(["" if cell is None else str(cell).strip() for cell in column.to_pylist()], object)
