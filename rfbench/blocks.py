"""Row ranges that cover 0..n exactly once, and buffers that are reused for each of them."""

import threading
from collections.abc import Iterable, Iterator
from math import prod
from typing import Any

import numpy as np

LINE = 64  # bytes of a line of the cache
_buffers = threading.local()


def spans(n: int, size: int, first: int = 0) -> Iterator[slice]:
    """Consecutive slices of at most `size` rows that cover first..n."""
    return (slice(start, min(start + size, n)) for start in range(first, n, size))


def regrouped(blocks: Iterable[tuple[np.ndarray, np.ndarray]], size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same rows in blocks of one size; the last may be shorter."""
    held: list[tuple[np.ndarray, np.ndarray]] = []
    have = 0
    for block in blocks:
        held.append(block)
        have += len(block[0])
        if have < size:
            continue
        X, y = (np.concatenate(column) for column in zip(*held, strict=True))
        whole, have = have - have % size, have % size
        yield from ((X[span], y[span]) for span in spans(whole, size))
        held = [(X[whole:], y[whole:])]
    if have:
        X, y = (np.concatenate(column) for column in zip(*held, strict=True))
        yield X, y


def scratch(role: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """This thread's buffer for a role; its content is arbitrary.

    Fresh pages cost more than the arithmetic done on them, so each role keeps its largest buffer.  It begins with a
    line of the cache, lest every vector that a processor reads or writes be in two lines.
    """
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    held = _buffers.__dict__.get(role)
    if held is None or held.size < size:
        fresh = np.empty(size + LINE, np.uint8)
        first = -fresh.ctypes.data % LINE
        held = _buffers.__dict__[role] = fresh[first : first + size]
    return held[:size].view(dtype).reshape(shape)


def rows_of_lines(lines: int, dtype: Any) -> int:
    """How many numbers of a type fill an odd number of lines of the cache, at most `lines`.

    The columns of an array of so many columns are not a power of two apart, so they do not share a few lines.
    """
    return ((lines - 1) | 1) * LINE // np.dtype(dtype).itemsize


def columns_of(X: np.ndarray, dtype: Any) -> np.ndarray:
    """X transposed, (d, n), in this thread's buffers."""
    n, d = X.shape
    columns = scratch("columns", (d, n), dtype)
    if X.strides[0] > X.strides[1] and X.strides[0] % (4 * LINE) == 0:
        # Rows a power of two apart share a few lines of the cache; some more columns keep them apart.
        rows = scratch("rows", (n, d + 16), X.dtype)[:, :d]
        rows[...] = X
        X = rows
    columns[...] = X.T
    return columns
