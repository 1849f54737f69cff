"""Large matrices that are needed one at a time: in memory while they are few, else in a file without a name."""

from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
MEMORY = 2 << 30  # bytes held at most


class Shelf:
    """`count` square matrices of one size and precision.  TMPDIR says where the file is; it is gone with the shelf."""

    def __init__(self, count: int, size: int, dtype: Any) -> None:
        self.shape, self.dtype = (size, size), np.dtype(dtype)
        self.bytes = size * size * self.dtype.itemsize
        self.file = TemporaryFile() if count * self.bytes > MEMORY else None  # noqa: SIM115
        self.held: dict[int, Array] = {}

    def put(self, place: int, A: Array) -> None:
        """A copy in the shelf's precision."""
        A = A.astype(self.dtype)
        if self.file is None:
            self.held[place] = A
        else:
            self.file.seek(place * self.bytes)
            A.tofile(self.file)

    def get(self, place: int) -> Array:
        """To read, not to change."""
        if self.file is None:
            return self.held[place]
        self.file.seek(place * self.bytes)
        return np.fromfile(self.file, self.dtype, self.shape[0] ** 2).reshape(self.shape)
