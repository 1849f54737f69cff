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

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """(X, y) as published, block by block, in order."""
        n, d = self.dataset.X.shape
        for start, stop in spans(n, max(BLOCK_BYTES // (8 * d), 1)):
            chosen = np.zeros(stop - start, bool)
            low, high = np.searchsorted(self.test, (start, stop))
            chosen[self.test[low:high] - start] = True
            if not self.is_test:
                chosen = ~chosen
            if chosen.any():
                X, y = self.dataset.X.read(start, stop), self.dataset.y.read(start, stop)
                yield self.checked(X[chosen], start + np.flatnonzero(chosen)), y[chosen]

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """At most `count` rows, drawn without replacement, as published."""
        index = self._draw(count, rng)
        return self.checked(self.dataset.X.take(index), index)

    def targets(self, count: int, rng: np.random.Generator) -> Array:
        """The outputs of the rows that `sample` draws with the same generator."""
        return self.dataset.targets(self.dataset.y.take(self._draw(count, rng)))

    def _draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        which = np.sort(rng.choice(len(self), min(count, len(self)), replace=False))
        return self.test[which] if self.is_test else self._training(which)

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
