"""Training and test rows of one repetition: the published split, or 90/10 at random for each seed.

Only the index of the test rows is stored; the training rows are all others, or a random subset of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset
from rfbench.seeds import rng_for

BLOCK_BYTES = 1 << 23  # of rows read at once, in double precision; preparing them takes a few times as much
TEST_FRACTION = 0.1


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of an index, or all other rows."""

    dataset: Dataset
    index: NDArray[np.int64]  # increasing
    others: bool

    def __len__(self) -> int:
        n = self.dataset.X.shape[0]
        return n - len(self.index) if self.others else len(self.index)

    def blocks(self, label: int | None = None) -> Iterator[tuple[Array, Array]]:
        """(X, y) as published, block by block, in order: all rows, or those of one class."""
        n, d = self.dataset.X.shape
        for span in spans(n, max(BLOCK_BYTES // (8 * d), 1)):
            start, stop = span.start, span.stop
            chosen, (X, y) = self.chosen(start, stop), (self.dataset.X, self.dataset.y)
            if label is not None:
                chosen &= y.read(start, stop) == label
            rows = start + np.flatnonzero(chosen)
            if 2 * len(rows) > stop - start:
                yield self.checked(X.read(start, stop)[chosen], rows), y.read(start, stop)[chosen]
            elif len(rows):  # read no others: reading may mean computing
                yield self.checked(X.take(rows), rows), y.take(rows)

    def labels(self) -> Iterator[Array]:
        """y without X, block by block, in order."""
        for span in spans(self.dataset.y.shape[0], BLOCK_BYTES // 8):
            yield self.dataset.y.read(span.start, span.stop)[self.chosen(span.start, span.stop)]

    def chosen(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Which of the rows start..stop are in this part."""
        chosen = np.full(stop - start, self.others)
        low, high = np.searchsorted(self.index, (start, stop))
        chosen[self.index[low:high] - start] = not self.others
        return chosen

    def divided(self, fraction: float, rng: np.random.Generator) -> tuple["Part", "Part"]:
        """(the remaining rows, a fraction of the rows held out at random)."""
        held_out = self.draw(max(round(fraction * len(self)), 1), rng)
        rest = np.union1d(self.index, held_out) if self.others else np.setdiff1d(self.index, held_out)
        return Part(self.dataset, rest, self.others), Part(self.dataset, held_out, False)

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """(X, y) of at most `count` rows, drawn without replacement, as published."""
        return self._take(self.draw(count, rng))

    def take(self, which: NDArray[np.int64]) -> tuple[Array, Array]:
        """(X, y) of the rows at increasing positions of this part, as published."""
        return self._take(self._rows(which))

    def _take(self, index: NDArray[np.int64]) -> tuple[Array, Array]:
        return self.checked(self.dataset.X.take(index), index), self.dataset.y.take(index)

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Row numbers in the dataset of at most `count` rows, drawn without replacement, increasing."""
        return self._rows(np.sort(rng.choice(len(self), min(count, len(self)), replace=False)))

    def _rows(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """Row numbers in the dataset of the rows at these positions."""
        if not self.others:
            return self.index[which]
        before = self.index - np.arange(len(self.index))
        return which + np.searchsorted(before, which, side="right")  # position + rows of the index before it

    def checked(self, X: Array, rows: NDArray[np.int64]) -> Array:
        """X in double precision and scaled; a number that is not finite is refused."""
        X = X.astype(np.float64)
        # The sum is fast, and not finite if any number is not.
        if not np.isfinite(X.sum()) and len(bad := np.argwhere(~np.isfinite(X))):
            row, column = bad[0]
            raise InputError(
                f"dataset '{self.dataset.name}' has {X[row, column]} in row {rows[row] + 1}, column {column + 1}; "
                "fill or drop it and add the file again"
            )
        X /= self.dataset.scale
        return X


def split(dataset: Dataset, seed: int, train_rows: int | None = None) -> tuple[Part, Part]:
    """(train, test) of one repetition, with all training rows or `train_rows` of them at random."""
    n = dataset.X.shape[0]
    if dataset.n_train is not None:
        index = np.arange(dataset.n_train, n)
    else:
        rng = rng_for(seed, "split", dataset.name)
        index = np.sort(rng.choice(n, max(round(n * TEST_FRACTION), 1), replace=False))
    train, test = Part(dataset, index, True), Part(dataset, index, False)
    if train_rows is not None:
        train = Part(dataset, train.draw(train_rows, rng_for(seed, "train_rows", dataset.name)), False)
    if not len(train) or not len(test):
        raise InputError(f"dataset '{dataset.name}' has {n} rows, too few to split into training and test rows")
    return train, test
