"""Preparation of rows: steps in the order given, each learned on the training rows as the steps before left them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, padded
from rfbench.checks import InputError, did_you_mean
from rfbench.datasets.base import Dataset
from rfbench.datasets.splits import Part, split


@dataclass
class Columns:
    """Moments and ends of every column, in one pass over blocks [Chan, Golub & LeVeque 1983]."""

    n: int = 0
    mean: Any = 0.0
    squares: Any = 0.0  # Σ (x − mean)²
    low: Any = np.inf
    high: Any = -np.inf

    def add(self, X: Array) -> None:
        m, mean = len(X), X.mean(0)
        delta, total = mean - self.mean, self.n + m
        self.squares = self.squares + ((X - mean) ** 2).sum(0) + delta**2 * self.n * m / total
        self.mean, self.n = self.mean + delta * m / total, total
        self.low, self.high = np.minimum(self.low, X.min(0)), np.maximum(self.high, X.max(0))


def _nonzero(scale: Array) -> Array:
    return np.where(scale > 0, scale, 1.0)  # a constant column stays as it is


def _center(c: Columns) -> tuple[Array, Any]:
    return c.mean, 1.0


def _standardize(c: Columns) -> tuple[Array, Any]:
    return c.mean, _nonzero(np.sqrt(c.squares / c.n))


def _min_zero(c: Columns) -> tuple[Array, Any]:
    return c.low, 1.0


def _min_max(c: Columns) -> tuple[Array, Any]:
    return c.low, _nonzero(c.high - c.low)


def _rescale(shift: Array, scale: Array, X: Array) -> Array:
    return (X - shift) / scale


# (x − shift) / scale, with shift and scale from the training columns
LEARNED: dict[str, Callable[[Columns], tuple[Array, Any]]] = {
    "center": _center,
    "standardize": _standardize,
    "min_zero": _min_zero,
    "min_max": _min_max,
}


def unit_norm(X: Array) -> Array:
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


def zero_pad(X: Array) -> Array:
    """Zero columns up to a power of two."""
    return np.pad(X, ((0, 0), (0, padded(X.shape[1]) - X.shape[1])))


FIXED: dict[str, Callable[[Array], Array]] = {"unit_norm": unit_norm, "zero_pad": zero_pad}


@dataclass(frozen=True)
class Preparation:
    """What to do with rows: names of steps, and the threshold above which binarize gives 1."""

    steps: tuple[str, ...]
    threshold: float = 0.0

    def __post_init__(self) -> None:
        for step in self.steps:
            if step not in (known := {*LEARNED, *FIXED, "binarize"}):
                raise InputError(f"no step '{step}' in dataset.prepare; {did_you_mean(step, known)}")

    def columns(self, d: int) -> int:
        """How many columns d become."""
        return padded(d) if "zero_pad" in self.steps else d

    def learn(self, train: Part) -> list[Callable[[Array], Array]]:
        """One function for each step; a pass over the training rows for each that is learned."""
        done: list[Callable[[Array], Array]] = []
        for step in self.steps:
            if step in LEARNED:
                columns = Columns()
                for X, _ in train.blocks():
                    columns.add(apply(done, X))
                shift, scale = LEARNED[step](columns)
                done.append(partial(_rescale, shift, scale))
            elif step == "binarize":
                done.append(lambda X: (self.threshold < X).astype(X.dtype))
            else:
                done.append(FIXED[step])
        return done


def apply(steps: Sequence[Callable[[Array], Array]], X: Array) -> Array:
    for step in steps:
        X = step(X)
    return X


@dataclass(frozen=True, eq=False)
class Prepared:
    """Prepared rows of one part, in the precision of the run."""

    part: Part
    dtype: Any
    steps: list[Callable[[Array], Array]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.part)

    def blocks(self, label: int | None = None) -> Iterator[tuple[Array, Array]]:
        """All rows, or those of one class."""
        return ((self._finish(X), y) for X, y in self.part.blocks(label))

    def divided(self, fraction: float, rng: np.random.Generator) -> tuple["Prepared", "Prepared"]:
        """(the rest, a fraction of the rows drawn without replacement) of training rows."""
        rest, left_out = self.part.divided(fraction, rng)
        return replace(self, part=rest), replace(self, part=left_out)

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """(X, y) of at most `count` rows, drawn without replacement."""
        X, y = self.part.sample(count, rng)
        return self._finish(X), y

    def take(self, which: NDArray[np.int64]) -> tuple[Array, Array]:
        """(X, y) of the rows at increasing places."""
        X, y = self.part.take(which)
        return self._finish(X), y

    def _finish(self, X: Array) -> Array:
        return np.ascontiguousarray(apply(self.steps, X), self.dtype)


@dataclass(frozen=True, eq=False)
class Split:
    """Prepared training and test rows of one repetition."""

    train: Prepared
    test: Prepared


def prepared_split(
    dataset: Dataset, preparation: Preparation, seed: int, dtype: Any, train_rows: int | None = None
) -> Split:
    """Split for a seed, learn the preparation on the training rows, apply it to both parts."""
    train, test = split(dataset, seed, train_rows)
    steps = preparation.learn(train)
    return Split(Prepared(train, dtype, steps), Prepared(test, dtype, steps))
