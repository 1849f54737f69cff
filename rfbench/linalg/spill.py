"""Large arrays that are computed once and read often: in memory while they are small, else in a temporary file."""

import os
import shutil
from collections.abc import Callable, Iterator
from errno import ENOSPC
from math import prod
from tempfile import TemporaryFile, gettempdir
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import regrouped, scratch, spans
from rfbench.engines import Engine, Rows
from rfbench.linalg.tiles import TILE
from rfbench.sketches import FeatureMap, flops

A = TypeVar("A")
Panels = list[tuple[slice, Array]]
MEMORY = 2 << 30  # bytes of one spill held in memory
SEEKING = Lock()
DISK_SHARE = 0.5  # of the free space that features may take
STORE_ENTRIES = 1 << 22  # of Φ of one block
STORE_ROWS = 128  # of a block at least: sums over blocks have D numbers each
CHEAP = 200.0  # operations of a feature that take less time than to read it from a file


class Spill:
    """Numbers of one type, by their positions.  The file has no name, lies in TMPDIR and disappears with the object.

    Threads may read and write different positions at the same time.
    """

    def __init__(self, size: int, dtype: Any, memory: int = MEMORY) -> None:
        self.dtype = np.dtype(dtype)
        small = size * self.dtype.itemsize <= memory
        self.held = np.empty(size, self.dtype) if small else None
        self.file = None if small else TemporaryFile()  # noqa: SIM115

    def place(self, start: int, shape: tuple[int, ...], buffer: Callable[[], Array]) -> Array:
        """The numbers themselves if they are in memory, else a buffer for them."""
        return buffer() if self.held is None else self.held[start : start + prod(shape)].reshape(shape)

    def write(self, start: int, values: Array) -> None:
        if self.held is not None:
            np.copyto(self.held[start : start + values.size].reshape(values.shape), values, "same_kind")
        elif self.file:
            content = np.ascontiguousarray(values, self.dtype)
            if write_at(self.file, content, start * self.dtype.itemsize) < content.nbytes:
                raise OSError(ENOSPC, f"the disk is full; set TMPDIR to a place with more space than {gettempdir()}")

    def read(self, start: int, shape: tuple[int, ...], buffer: Callable[[], Array]) -> Array:
        """The numbers themselves if they are in memory, else a copy in the buffer."""
        found = self.place(start, shape, buffer)
        if self.file:
            read_at(self.file, found, start * self.dtype.itemsize)
        return found


def write_at(file: Any, content: Array, offset: int) -> int:
    """Write at a position; threads do not wait for each other where the system has a call for that."""
    if hasattr(os, "pwrite"):
        return os.pwrite(file.fileno(), content.data, offset)
    with SEEKING:
        file.seek(offset)
        return int(file.write(content.data))


def read_at(file: Any, found: Array, offset: int) -> None:
    """Read from a position, as above."""
    if hasattr(os, "preadv"):
        os.preadv(file.fileno(), [found.data], offset)
        return
    with SEEKING:
        file.seek(offset)
        file.readinto(found.data.cast("B"))


def panels(U: Array) -> Panels:
    """The upper triangle of a matrix as columns of tiles, each down to its tile on the diagonal."""
    return [(j, U[: j.stop, j]) for j in spans(len(U), TILE)]


class Triangles:
    """The upper triangles of `count` matrices of one size and precision."""

    def __init__(self, count: int, size: int, dtype: Any, memory: int = MEMORY, numbers: Array | None = None) -> None:
        self.count, self.size, self.columns = count, size, list(spans(size, TILE))
        self.starts = np.cumsum([0, *(j.stop * (j.stop - j.start) for j in self.columns)]).tolist()
        self.spill = Spill(count * self.starts[-1], dtype, memory)
        if numbers is not None:
            self.spill.write(0, numbers)
        self.buffer = np.empty(self.starts[-1] if self.spill.file else 0, self.spill.dtype)

    def recipe(self) -> dict[str, Any]:
        """The arguments of the constructor, for a saved model."""
        if self.spill.held is None:
            raise MemoryError(f"the factors of the model are larger than {MEMORY >> 30} GB; use fewer features")
        return {"count": self.count, "size": self.size, "dtype": self.spill.dtype, "numbers": self.spill.held}

    def put(self, place: int, U: Array, engine: Engine) -> None:
        """Copy an upper triangle, in the precision given."""
        first = place * self.starts[-1]
        items = zip(self.starts[:-1], panels(U), strict=True)
        engine.run(lambda item: self.spill.write(first + item[0], item[1][1]), items)

    def get(self, place: int) -> Panels:
        """The panels of a matrix, to be read until the next call."""

        def read(j: slice, start: int) -> Array:
            shape = j.stop, j.stop - j.start
            buffer = self.buffer[start : start + prod(shape)]
            return self.spill.read(place * self.starts[-1] + start, shape, lambda: buffer.reshape(shape))

        return [(j, read(j, start)) for j, start in zip(self.columns, self.starts[:-1], strict=True)]


class FeatureStore:
    """Φ of all rows, block by block: kept in memory or in a file, or computed again.

    Where memory has no room for them, those are computed again that are structured, or that the disk has no room for.
    """

    def __init__(
        self,
        features: FeatureMap,
        rows: Rows,
        engine: Engine,
        *,
        entries: int = STORE_ENTRIES,
        least_rows: int = STORE_ROWS,
        memory: int = MEMORY,
        disk_share: float = DISK_SHARE,
    ) -> None:
        self.features, self.rows, self.engine = features, rows, engine
        self.size, numbers = max(entries // features.D, least_rows), len(rows) * features.D
        need, disk = numbers * features.dtype.itemsize, disk_share * shutil.disk_usage(gettempdir()).free
        room = need <= (memory if flops(features) <= CHEAP * features.D else max(memory, disk))
        self.spill = Spill(numbers, features.dtype, memory) if room else None

    def first(self, work: Callable[[Array, Array], A]) -> Iterator[A]:
        """`work` of Φ and the targets of every block, in order; Φ is kept on the way."""
        count = -(-len(self.rows) // self.size)
        return self.engine.map(lambda item: work(self._write(*item[:2]), item[2]), self._blocks(), "features", count)

    def again(self, work: Callable[[Array], A]) -> Iterator[A]:
        """`work` of Φ of every block, in order."""
        if self.spill is None:
            return self.engine.map(lambda item: work(self._write(*item[:2])), self._blocks())
        return self.engine.map(lambda rows: work(self._read(rows)), spans(len(self.rows), self.size))

    def _blocks(self) -> Iterator[tuple[int, Array, Array]]:
        """(first row, X, y)."""
        start = 0
        for X, y in regrouped(self.rows.blocks(), self.size):
            yield start, X, y
            start += len(X)

    def _place(self, start: int, n: int) -> tuple[int, tuple[int, int], Callable[[], Array]]:
        shape = n, self.features.D
        return start * self.features.D, shape, lambda: scratch("feature store", shape, self.features.dtype)

    def _write(self, start: int, X: Array) -> Array:
        first, shape, buffer = self._place(start, len(X))
        if self.spill is None:
            return self.features(X, buffer())
        Phi = self.features(X, self.spill.place(first, shape, buffer))
        if self.spill.file:
            self.spill.write(first, Phi)
        return Phi

    def _read(self, rows: slice) -> Array:
        assert self.spill
        return self.spill.read(*self._place(rows.start, rows.stop - rows.start))
