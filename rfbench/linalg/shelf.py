"""Large matrices that are needed one at a time: in memory while they are few, else in a file without a name."""

from tempfile import TemporaryFile
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.engines import Engine
from rfbench.linalg.tiles import tiles

MEMORY = 2 << 30  # bytes held at most


class Shelf:
    """`count` upper triangles of one size and precision.  TMPDIR says where the file is; it is gone with the shelf."""

    def __init__(self, count: int, size: int, dtype: Any) -> None:
        self.shape, self.dtype = (size, size), np.dtype(dtype)
        on_disk = count * size * size * self.dtype.itemsize > MEMORY
        self.file = TemporaryFile() if on_disk else None  # noqa: SIM115
        self.held: dict[int, Array] = {}
        self.buffer = np.zeros(self.shape if on_disk else 0, self.dtype)

    def put(self, place: int, A: Array, engine: Engine) -> None:
        """A copy of the upper triangle in the shelf's precision."""
        if self.file is None:
            self.held[place] = copy = np.empty(self.shape, self.dtype)
            engine.run(lambda ij: np.copyto(copy[ij], A[ij], "same_kind"), tiles(len(A)))
            return
        self.file.seek(place * self._bytes())
        for ij in tiles(len(A)):
            A[ij].astype(self.dtype).tofile(self.file)

    def get(self, place: int) -> Array:
        """To read, until the next is asked for."""
        if self.file is None:
            return self.held[place]
        self.file.seek(place * self._bytes())
        for ij in tiles(len(self.buffer)):
            tile = self.buffer[ij]
            tile[...] = np.fromfile(self.file, self.dtype, tile.size).reshape(tile.shape)
        return self.buffer

    def _bytes(self) -> int:
        """Of one triangle, whose tiles on the diagonal are whole."""
        areas = ((i.stop - i.start) * (j.stop - j.start) for i, j in tiles(self.shape[0]))
        return sum(areas) * self.dtype.itemsize
