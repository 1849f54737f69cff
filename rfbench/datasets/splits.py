"""Training and test rows of one repetition: as published, or drawn 90/10 from the whole set for every seed.

Only the index of the test rows is kept; training rows are all the others, in order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset
from rfbench.seeds import rng_for

Array = NDArray[Any]
BLOCK_BYTES = 1 << 25  # of rows read at once, as doubles
TEST_FRACTION = 0.1


@dataclass(frozen=True, eq=False)
class Part:
    """The training rows or the test rows of a data set."""

    dataset: Dataset
    test: NDArray[np.int64]  # increasing
    is_test: bool

    def __len__(self) -> int:
        n = self.dataset.X.shape[0]
        return len(self.test) if self.is_test else n - len(self.test)

    def blocks(self, label: int | None = None) -> Iterator[tuple[Array, Array]]:
        """(X, y) as published, block by block, in order; all rows, or those of one class."""
        n, d = self.dataset.X.shape
        for start, stop in spans(n, max(BLOCK_BYTES // (8 * d), 1)):
            chosen = self.chosen(start, stop)
            y = self.dataset.y.read(start, stop)
            if label is not None:
                chosen &= y == label
            if chosen.any():
                X = self.dataset.X.read(start, stop)
                yield self.checked(X[chosen], start + np.flatnonzero(chosen)), y[chosen]

    def labels(self) -> Iterator[Array]:
        """y alone, block by block, in order."""
        for start, stop in spans(self.dataset.y.shape[0], BLOCK_BYTES // 8):
            yield self.dataset.y.read(start, stop)[self.chosen(start, stop)]

    def chosen(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Which of the rows start..stop are in this part."""
        chosen = np.full(stop - start, not self.is_test)
        low, high = np.searchsorted(self.test, (start, stop))
        chosen[self.test[low:high] - start] = self.is_test
        return chosen

    def divided(self, fraction: float, rng: np.random.Generator) -> tuple["Part", "Part"]:
        """(the rest, a fraction of the rows drawn without replacement) of training rows."""
        left_out = self._training(np.sort(rng.choice(len(self), max(round(fraction * len(self)), 1), replace=False)))
        both = np.union1d(self.test, left_out)
        return Part(self.dataset, both, False), Part(self.dataset, left_out, True)

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """(X, y) of at most `count` rows, drawn without replacement, as published."""
        return self.take(np.sort(rng.choice(len(self), min(count, len(self)), replace=False)))

    def take(self, which: NDArray[np.int64]) -> tuple[Array, Array]:
        """(X, y) of the rows at increasing places of this part, as published."""
        index = self.test[which] if self.is_test else self._training(which)
        return self.checked(self.dataset.X.take(index), index), self.dataset.y.take(index)

    def _training(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """Row numbers of the training rows at these places: place + how many test rows come before it."""
        before = self.test - np.arange(len(self.test))
        return which + np.searchsorted(before, which, side="right")

    def checked(self, X: Array, rows: NDArray[np.int64]) -> Array:
        """X in floating point, unless a number is missing."""
        X = X.astype(np.float64)
        # The sum is quick to take and not finite if any number is not.
        if not np.isfinite(X.sum()) and len(bad := np.argwhere(~np.isfinite(X))):
            row, column = bad[0]
            raise InputError(
                f"dataset '{self.dataset.name}' has {X[row, column]} in row {rows[row] + 1}, column {column + 1}; "
                "fill or drop it and add the file again"
            )
        X /= self.dataset.scale
        return X


def split(dataset: Dataset, seed: int) -> tuple[Part, Part]:
    """(train, test) of one repetition."""
    n = dataset.X.shape[0]
    test: Any
    if dataset.n_train is not None:
        test = np.arange(dataset.n_train, n)
    else:
        rng = rng_for(seed, "split", dataset.name)
        test = np.sort(rng.choice(n, max(round(n * TEST_FRACTION), 1), replace=False))
    train, test = Part(dataset, test, False), Part(dataset, test, True)
    if not len(train) or not len(test):
        raise InputError(f"dataset '{dataset.name}' has {n} rows, too few for a training and a test part; add more")
    return train, test
