"""Training and test rows of one repetition: the published split, or one drawn for each seed.

Only the index of the test rows is stored; the training rows are all others, or a random subset of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.base import Dataset
from rfbench.seeds import rng_for

BLOCK_BYTES = 1 << 23  # of rows read at once, in double precision; preparing them takes a few times as much
TEST_FRACTION = 0.1
RULES = ("default", "standard", "scikit_learn")


@dataclass(frozen=True)
class Splitting:
    """Which rows are test rows.

    default: the published ones or, where there are none, a fraction drawn for each seed; standard: one of the published
    folds, the k-th for seed k; scikit_learn: those of its train_test_split with the seed as random_state.
    """

    rule: str = "default"
    fraction: float = TEST_FRACTION
    seed: int | None = None  # of every repetition; None: its own

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise InputError(f"no dataset.split={self.rule}; {did_you_mean(self.rule, RULES)}")
        require(0 < self.fraction < 1, "dataset.test_fraction", "between 0 and 1", self.fraction)
        require(self.seed is None or self.seed >= 0, "dataset.split_seed", "null or a number from 0 up", self.seed)

    def test_rows(self, dataset: Dataset, seed: int) -> NDArray[np.int64]:
        """Their numbers, increasing."""
        n, seed = dataset.X.shape[0], seed if self.seed is None else self.seed
        if self.rule == "standard":
            if dataset.folds is None:
                raise InputError(f"dataset '{dataset.name}' has no standard splits; use dataset.split=default")
            folds = dataset.folds.read(0, n)
            return np.flatnonzero(folds == seed % (int(folds.max()) + 1))
        if dataset.n_train is not None:
            if self != DEFAULT_SPLIT:
                raise InputError(f"dataset '{dataset.name}' has published test rows; use dataset.split=default alone")
            return np.arange(dataset.n_train, n)
        if self.rule == "scikit_learn":
            shuffled = np.random.RandomState(seed).permutation(n)
            return np.sort(shuffled[: ceil(self.fraction * n)])
        rng = rng_for(seed, "split", dataset.name)
        return np.sort(rng.choice(n, max(round(n * self.fraction), 1), replace=False))


DEFAULT_SPLIT = Splitting()


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of an index, or all other rows, between two rows of the dataset."""

    dataset: Dataset
    index: NDArray[np.int64]  # increasing, all between the two
    others: bool
    first: int = 0
    stop: int | None = None  # None: the end

    @property
    def end(self) -> int:
        return self.dataset.X.shape[0] if self.stop is None else self.stop

    def __len__(self) -> int:
        return self.end - self.first - len(self.index) if self.others else len(self.index)

    def blocks(self, label: int | None = None) -> Iterator[tuple[Array, Array]]:
        """(X, y) as published, block by block, in order: all rows, or those of one class."""
        d = self.dataset.X.shape[1]
        for span in spans(self.end, max(BLOCK_BYTES // (8 * d), 1), self.first):
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
        for span in spans(self.end, BLOCK_BYTES // 8, self.first):
            yield self.dataset.y.read(span.start, span.stop)[self.chosen(span.start, span.stop)]

    def cut(self, size: int) -> Iterator["Part"]:
        """Parts of `size` rows, one after the other; the last may be shorter.  None reads the rows of another."""
        last = np.append(np.arange(size, len(self), size), len(self)) - 1
        return self._between(self._rows(last) + 1)

    def cut_class(self, label: int, size: int) -> Iterator["Part"]:
        """Parts with `size` rows of a class each, one after the other, after a pass over the labels."""
        seen, stops = 0, []
        for span in spans(self.end, BLOCK_BYTES // 8, self.first):
            y = self.dataset.y.read(span.start, span.stop)
            rows = np.flatnonzero(self.chosen(span.start, span.stop) & (y == label))
            stops.extend((span.start + 1 + rows[(size - 1 - seen) % size :: size]).tolist())
            seen += len(rows)
        if seen % size:
            stops.append(self.end)
        return self._between(np.array(stops))

    def _between(self, stops: NDArray[np.int64]) -> Iterator["Part"]:
        """The rows up to each stop."""
        starts = [self.first, *stops[:-1].tolist()]
        for start, stop in zip(starts, stops.tolist(), strict=True):
            low, high = np.searchsorted(self.index, (start, stop))
            yield replace(self, index=self.index[low:high], first=start, stop=stop)

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
        return replace(self, index=rest), replace(self, index=held_out, others=False)

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
        before = self.index - self.first - np.arange(len(self.index))
        # position + rows of the index before it
        return self.first + which + np.searchsorted(before, which, side="right")

    def checked(self, X: Array, rows: NDArray[np.int64]) -> Array:
        """X in double precision and scaled; a number that is not finite is refused."""
        X = X.astype(np.float64)
        # The sum is fast, and not finite if any number is not.
        if not np.isfinite(X.sum()) and len(bad := np.argwhere(~np.isfinite(X))):
            row, column = bad[0]
            source, place = self.dataset.place(int(rows[row]))
            way_out = "drop the row" if self.dataset.files else "fill or drop it and add the file again"
            raise InputError(f"{source} has {X[row, column]} in row {place + 1}, column {column + 1}; {way_out}")
        X /= self.dataset.scale
        return X


def split(
    dataset: Dataset, seed: int, train_rows: int | None = None, splitting: Splitting = DEFAULT_SPLIT
) -> tuple[Part, Part]:
    """(train, test) of one repetition, with all training rows or `train_rows` of them at random."""
    n, index = dataset.X.shape[0], splitting.test_rows(dataset, seed)
    train, test = Part(dataset, index, True), Part(dataset, index, False)
    if train_rows is not None:
        train = Part(dataset, train.draw(train_rows, rng_for(seed, "train_rows", dataset.name)), False)
    if not len(train) or not len(test):
        raise InputError(f"dataset '{dataset.name}' has {n} rows, too few to split into training and test rows")
    return train, test
