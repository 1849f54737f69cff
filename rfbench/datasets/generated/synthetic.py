"""Random rows, drawn when they are read: any number of them in constant memory.

Each block of a fixed size has a generator of its own, so that a row does not depend on how it is read.
The target is the first coordinate of the row, a regression.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.base import Dataset
from rfbench.seeds import rng_for

BLOCK = 1024

Law = Callable[[np.random.Generator, int, float], NDArray[np.float64]]


def gaussian(rng: np.random.Generator, d: int, density: float) -> NDArray[np.float64]:
    return rng.standard_normal((BLOCK, d))


def uniform(rng: np.random.Generator, d: int, density: float) -> NDArray[np.float64]:
    return rng.uniform(-1, 1, (BLOCK, d))


def sphere(rng: np.random.Generator, d: int, density: float) -> NDArray[np.float64]:
    X = rng.standard_normal((BLOCK, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def ones(rng: np.random.Generator, d: int, density: float) -> NDArray[np.float64]:
    return np.full((BLOCK, d), d**-0.5)


def one_hot(rng: np.random.Generator, d: int, density: float) -> NDArray[np.float64]:
    X = np.zeros((BLOCK, d))
    X[np.arange(BLOCK), rng.integers(d, size=BLOCK)] = 1
    return X


def sparse(rng: np.random.Generator, d: int, density: float) -> NDArray[np.float64]:
    """Gaussian values on a Bernoulli(density) support."""
    return rng.standard_normal((BLOCK, d)) * (rng.random((BLOCK, d)) < density)


def bits(rng: np.random.Generator, d: int, density: float) -> NDArray[np.float64]:
    return rng.integers(0, 2, (BLOCK, d)).astype(np.float64)


LAWS: dict[str, Law] = {law.__name__: law for law in (gaussian, uniform, sphere, ones, one_hot, sparse, bits)}


@dataclass(frozen=True)
class Drawn:
    """n random rows of a distribution."""

    distribution: str
    n: int
    d: int
    density: float

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n, self.d)

    def _block(self, number: int) -> NDArray[np.float64]:
        rng = rng_for(0, "synthetic", self.distribution, self.d, self.density, number)
        return LAWS[self.distribution](rng, self.d, self.density)

    def read(self, start: int, stop: int) -> Array:
        return np.concatenate([np.empty((0, self.d)), *self.pieces(start, stop)])

    def pieces(self, start: int, stop: int) -> Iterator[Array]:
        """The same rows, at most BLOCK of them at once."""
        stop = min(stop, self.n)
        for number in range(start // BLOCK, -(-stop // BLOCK) if start < stop else 0):
            first = number * BLOCK
            yield self._block(number)[max(start - first, 0) : stop - first]

    def take(self, index: Array) -> Array:
        index = np.asarray(index, np.int64)
        blocks, firsts = np.unique(index // BLOCK, return_index=True)
        parts = zip(blocks.tolist(), np.split(index, firsts[1:]), strict=False)
        return np.concatenate([np.empty((0, self.d)), *(self._block(b)[rows % BLOCK] for b, rows in parts)])


@dataclass(frozen=True)
class FirstColumn:
    """The first coordinates of random rows, as their targets."""

    rows: Drawn

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.rows.n,)

    def read(self, start: int, stop: int) -> Array:
        # Piece by piece: rows may be many and wide.
        return np.concatenate([np.empty(0), *(rows[:, 0].copy() for rows in self.rows.pieces(start, stop))])

    def take(self, index: Array) -> Array:
        return self.rows.take(index)[:, 0]


def load_synthetic(config: Mapping[str, Any]) -> Dataset:
    law, n, d, density = (config[key] for key in ("distribution", "rows", "columns", "density"))
    if str(law) not in LAWS:
        raise InputError(f"no dataset.distribution {law!r}; {did_you_mean(str(law), LAWS)}")
    require(type(n) is int and n >= 2, "dataset.rows", "an integer of at least 2", n)
    require(type(d) is int and d >= 1, "dataset.columns", "a positive integer", d)
    require(isinstance(density, int | float) and 0 < density <= 1, "dataset.density", "in (0, 1]", density)
    X = Drawn(law, n, d, float(density))
    return Dataset("synthetic", X, FirstColumn(X), None)


def load_bits(config: Mapping[str, Any]) -> Dataset:
    """`rows` training rows, and a tenth as many test rows."""
    n, d = config["rows"], config["columns"]
    require(type(n) is int and n >= 1, "dataset.rows", "a positive integer", n)
    require(type(d) is int and d >= 1, "dataset.columns", "a positive integer", d)
    X = Drawn("bits", n + max(n // 10, 1), d, 1.0)
    return Dataset("bits", X, FirstColumn(X), None, n_train=n)
