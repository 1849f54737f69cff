"""Where work runs.

Passes over rows are described, not closed over: `accumulate` takes a function without arguments that makes empty sums
(recipes and seeds inside, no arrays of features) and rows that know how to read themselves.  Both can be pickled, so an
engine may hand ranges of rows to other processes, which make the same feature maps from the same seeds.  Every engine
adds up the same parts of the rows, each from zero, and merges them in order: the same bits, wherever they come from.
`map`, `run` and `transform` share arrays in memory among the threads of one process.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from rfbench.arrays import Array
from rfbench.sketches.base import FeatureMap

if TYPE_CHECKING:
    from rfbench.engines.ledger import Ledger

A = TypeVar("A")
B = TypeVar("B")
State = Mapping[str, Any]  # arrays and numbers


class ShardWritten(Exception):  # noqa: N818  (no error)
    """A pass has written the sums of its share of the rows; the sums of others are missing."""


class Rows(Protocol):
    """Rows with their targets, in an order that never changes."""

    def __len__(self) -> int: ...

    def blocks(self) -> Iterable[tuple[Array, Array]]:
        """(X, y), block by block, from the first row whenever asked."""

    def cut(self, size: int) -> Iterable["Rows"]:
        """Parts of `size` rows, one after the other; the last may be shorter.  None reads the rows of another."""


class Sums(Protocol):
    """What a pass over rows keeps: its size does not depend on their number."""

    def add(self, X: Array, y: Array, engine: "Engine") -> None:
        """One block of rows."""

    def merge(self, other: Self) -> None:
        """The sums of the rows that follow."""

    def state(self) -> State:
        """What another process or a file needs to know of the sums."""

    def load(self, state: State) -> None:
        """Become the sums of a state."""


S = TypeVar("S", bound=Sums)


class Engine(Protocol):
    """Runs passes over rows, and functions on arrays in memory."""

    workers: int
    block_rows: int  # rows of features computed at once
    part_rows: int  # rows whose sums are one message, one file and one step of the sum; rounded down to whole blocks
    ledger: "Ledger"  # where sums outlive the process
    shard: tuple[int, int] | None  # which of how many shares of the rows this process sums, of a pass that others share
    spread: bool  # whether other processes take part in passes

    def running(self) -> AbstractContextManager["Engine"]:
        """Within it, the other methods may be called."""

    def accumulate(
        self, start: Callable[[], S], rows: Rows, size: int, what: str = "rows", part: int | None = None
    ) -> S:
        """The sums over all rows, in blocks of `size` and parts of `part_rows` or `part` rows.

        The same bits however many workers there are.
        """

    def map(
        self, function: Callable[[A], B], items: Iterable[A], what: str = "", total: int | None = None
    ) -> Iterator[B]:
        """Results in the order of the items; each worker has at most two items pending."""

    def run(self, function: Callable[[A], object], items: Iterable[A]) -> None:
        """Call a function for its effect on every item."""

    def transform(self, features: FeatureMap, X: Array, Phi: Array) -> Array:
        """Φ(X) into an array made for it, block by block."""
