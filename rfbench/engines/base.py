"""Where work runs.

Passes over rows are described, not closed over: `accumulate` takes a function without arguments that makes empty sums
(recipes and seeds inside, no arrays of features) and rows that know how to read themselves.  Both can be pickled, so an
engine may hand ranges of rows to other processes, which make the same feature maps from the same seeds, and merge
their sums in the order of the rows.  `map`, `run` and `transform` share arrays in memory among the threads of one
process.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, Self, TypeVar

from rfbench.arrays import Array
from rfbench.sketches.base import FeatureMap

A = TypeVar("A")
B = TypeVar("B")


class Rows(Protocol):
    """Rows with their targets, in an order that never changes."""

    def __len__(self) -> int: ...

    def blocks(self) -> Iterable[tuple[Array, Array]]:
        """(X, y), block by block, from the first row whenever asked."""


class Sums(Protocol):
    """What a pass over rows keeps: its size does not depend on their number."""

    def add(self, X: Array, y: Array, engine: "Engine") -> None:
        """One block of rows."""

    def merge(self, other: Self) -> None:
        """The sums of the rows that follow."""


S = TypeVar("S", bound=Sums)


class Engine(Protocol):
    """Runs passes over rows, and functions on arrays in memory."""

    workers: int
    block_rows: int  # rows of features computed at once

    def running(self) -> AbstractContextManager["Engine"]:
        """Within it, the other methods may be called."""

    def accumulate(self, start: Callable[[], S], rows: Rows, size: int, what: str = "rows") -> S:
        """The sums over all rows, in blocks of `size`; the same bits however many workers there are."""

    def map(
        self, function: Callable[[A], B], items: Iterable[A], what: str = "", total: int | None = None
    ) -> Iterator[B]:
        """Results in the order of the items; each worker has at most two items pending."""

    def run(self, function: Callable[[A], object], items: Iterable[A]) -> None:
        """Call a function for its effect on every item."""

    def transform(self, features: FeatureMap, X: Array, Phi: Array) -> Array:
        """Φ(X) into an array made for it, block by block."""
