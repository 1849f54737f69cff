"""Preparation of rows: steps in the order given, each fitted to the training rows as prepared by the steps before."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, padded
from rfbench.checks import InputError, did_you_mean
from rfbench.datasets.base import Dataset
from rfbench.datasets.moments import Moments
from rfbench.datasets.splits import DEFAULT_SPLIT, Part, Splitting, split


def _nonzero(scale: Array) -> Array:
    return np.where(scale > 0, scale, 1.0)  # do not scale a constant column


def _center(m: Moments) -> tuple[Array, Any]:
    return m.mean, 1.0


def _standardize(m: Moments) -> tuple[Array, Any]:
    return m.mean, _nonzero(np.sqrt(m.squares / m.n))


def _min_zero(m: Moments) -> tuple[Array, Any]:
    return m.low, 1.0


def _min_max(m: Moments) -> tuple[Array, Any]:
    return m.low, _nonzero(m.high - m.low)


def _rescale(shift: Array, scale: Array, X: Array) -> Array:
    return (X - shift) / scale


def _binarize(threshold: float, X: Array) -> Array:
    return (threshold < X).astype(X.dtype)


# (x − shift) / scale, with shift and scale fitted to the training columns
FITTED: dict[str, Callable[[Moments], tuple[Array, Any]]] = {
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


FITTED_ON = ("train", "all", "each")
TARGETS = ("as_published", "standardize")


@dataclass(frozen=True)
class Preparation:
    """Names of steps, and the threshold above which binarize gives 1; None: the task chooses it on held-out rows.

    Steps are fitted to the training rows; as others do it, to all rows, or to each of both parts by itself.
    """

    steps: tuple[str, ...]
    threshold: float | None = 0.0
    splitting: Splitting = DEFAULT_SPLIT
    fitted_on: str = FITTED_ON[0]
    target: str = TARGETS[0]

    def __post_init__(self) -> None:
        for key, value, words in (("prepare_on", self.fitted_on, FITTED_ON), ("target", self.target, TARGETS)):
            if value not in words:
                raise InputError(f"no dataset.{key}={value}; {did_you_mean(value, words)}")
        for step in self.steps:
            if step not in (known := {*FITTED, *FIXED, "binarize"}):
                raise InputError(f"no step '{step}' in dataset.prepare; {did_you_mean(step, known)}")
        if self.threshold is None and "binarize" not in self.steps:
            raise InputError("dataset.threshold=validation needs a threshold: add binarize to dataset.prepare")

    @property
    def until_binarize(self) -> "Preparation":
        """The steps whose result has a threshold."""
        return replace(self, steps=self.steps[: self.steps.index("binarize")], threshold=0.0)

    def columns(self, d: int) -> int:
        """The number of columns after preparation."""
        return padded(d) if "zero_pad" in self.steps else d

    def fit(self, train: Part) -> list[Callable[[Array], Array]]:
        """A function for each step, which can be pickled; each fitted step takes a pass over the training rows."""
        done: list[Callable[[Array], Array]] = []
        for step in self.steps:
            if step in FITTED:
                moments = Moments()
                for X, _ in train.blocks():
                    moments.add(apply(done, X))
                done.append(partial(_rescale, *FITTED[step](moments)))
            elif step == "binarize":
                assert self.threshold is not None
                done.append(partial(_binarize, self.threshold))
            else:
                done.append(FIXED[step])
        return done


def thresholds(X: Array) -> list[float]:
    """Deciles of all values, from which a task chooses; one of them is 0 where most values are."""
    return [float(one) for one in np.unique(np.quantile(X, np.arange(1, 10) / 10))]


def apply(steps: Sequence[Callable[[Array], Array]], X: Array) -> Array:
    for step in steps:
        X = step(X)
    return X


@dataclass(frozen=True, eq=False)
class Prepared:
    """Prepared rows of one part, in the precision of the job."""

    part: Part
    dtype: Any
    steps: list[Callable[[Array], Array]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.part)

    def blocks(self, label: int | None = None) -> Iterator[tuple[Array, Array]]:
        """All rows, or those of one class."""
        return ((self._finish(X), y) for X, y in self.part.blocks(label))

    def cut(self, size: int) -> Iterator["Prepared"]:
        """Parts of `size` rows, one after the other; the last may be shorter."""
        return (replace(self, part=part) for part in self.part.cut(size))

    def arrays(self) -> tuple[Array, Array]:
        """(X, y) of all rows, in memory."""
        return self.take(np.arange(len(self)))

    def divided(self, fraction: float, rng: np.random.Generator) -> tuple["Prepared", "Prepared"]:
        """(the remaining rows, a fraction of the rows held out at random)."""
        rest, held_out = self.part.divided(fraction, rng)
        return replace(self, part=rest), replace(self, part=held_out)

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """(X, y) of at most `count` rows, drawn without replacement."""
        X, y = self.part.sample(count, rng)
        return self._finish(X), y

    def take(self, which: NDArray[np.int64]) -> tuple[Array, Array]:
        """(X, y) of the rows at increasing positions."""
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
    """Split for a seed, fit the preparation to the rows that it names, apply it to both parts."""
    train, test = split(dataset, seed, train_rows, preparation.splitting)
    fitted = Part(dataset, np.empty(0, np.int64), True) if preparation.fitted_on == "all" else train
    if preparation.target == "standardize":
        scaled = standardized_target(dataset, fitted)
        train, test, fitted = (replace(part, dataset=scaled) for part in (train, test, fitted))
    steps = preparation.fit(fitted)
    others = preparation.fit(test) if preparation.fitted_on == "each" else steps
    return Split(Prepared(train, dtype, steps), Prepared(test, dtype, others))


def standardized_target(dataset: Dataset, rows: Part) -> Dataset:
    """The dataset with a target of mean 0 and variance 1 on these rows."""
    if dataset.classes is not None or len(dataset.y.shape) > 1:
        raise InputError(f"dataset.target=standardize needs one number to predict, which '{dataset.name}' has not")
    moments = Moments()
    for y in rows.labels():
        moments.add(y)
    scale = float(_nonzero(np.sqrt(moments.squares / moments.n)))
    return dataset.rescaled(float(moments.mean), scale)
