"""Features of all rows, as often as they are needed: computed once and kept, in memory while they are few, else in a
file without a name; computed anew each time where the disk has no room for it.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile, gettempdir
from typing import TypeVar

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import regrouped, scratch
from rfbench.engines import Engine
from rfbench.linalg.gram import Blocks
from rfbench.sketches import FeatureMap

A = TypeVar("A")
NUMBERS = 1 << 22  # of Φ of one block
MEMORY = 2 << 30  # bytes held at most
ROOM = 0.5  # of what is free on the disk, at most


class Kept:
    """Φ of n rows.  TMPDIR says where the file is; it is gone with the object."""

    def __init__(self, features: FeatureMap, blocks: Callable[[], Blocks], n: int, engine: Engine) -> None:
        self.features, self.blocks, self.n, self.engine = features, blocks, n, engine
        self.size = max(NUMBERS // features.D, 1)
        self.row_bytes = features.D * features.dtype.itemsize
        self.held = np.empty((n, features.D), features.dtype) if n * self.row_bytes <= MEMORY else None
        room = ROOM * shutil.disk_usage(gettempdir()).free
        self.file = TemporaryFile() if self.held is None and n * self.row_bytes <= room else None  # noqa: SIM115

    def first(self, work: Callable[[Array, Array], A]) -> Iterator[A]:
        """`work` of Φ and the labels of every block, in order; Φ is kept on the way."""

        def one(item: tuple[int, Array, Array]) -> A:
            start, X, Y = item
            return work(self._write(start, X), Y)

        return self.engine.map(one, self._numbered(), "features", -(-self.n // self.size))

    def again(self, work: Callable[[Array], A]) -> Iterator[A]:
        """`work` of Φ of every block, in order."""
        if self.held is None and self.file is None:
            return self.engine.map(lambda item: work(self._features(item[1])), self._numbered())
        starts = range(0, self.n, self.size)
        return self.engine.map(lambda start: work(self._read(start, min(start + self.size, self.n))), starts)

    def _numbered(self) -> Iterator[tuple[int, Array, Array]]:
        start = 0
        for X, Y in regrouped(self.blocks(), self.size):
            yield start, X, Y
            start += len(X)

    def _features(self, X: Array) -> Array:
        return self.features(X, scratch("kept", (len(X), self.features.D), self.features.dtype))

    def _write(self, start: int, X: Array) -> Array:
        if self.held is not None:
            return self.features(X, self.held[start : start + len(X)])
        Phi = self._features(X)
        if self.file:
            os.pwrite(self.file.fileno(), Phi.data, start * self.row_bytes)
        return Phi

    def _read(self, start: int, stop: int) -> Array:
        if self.held is not None:
            return self.held[start:stop]
        assert self.file
        Phi = scratch("kept", (stop - start, self.features.D), self.features.dtype)
        os.preadv(self.file.fileno(), [Phi.data], start * self.row_bytes)
        return Phi
