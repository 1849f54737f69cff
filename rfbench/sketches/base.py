"""A sketch is a recipe; sampled, it becomes a feature map Φ with E⟨Φ(x), Φ(y)⟩ = k(x, y).

Recipes are frozen, hashable and hold no arrays.  Maps are one draw: immutable, and row i of Φ(X) depends on
row i of X only, so blocks come in any order and on any number of threads.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import scratch, spans

# Rows worked on at once.  What feature-major maps hold of them has to stay in the cache; products with dense weights
# need many rows to be worth the packing of the weights.
CHUNK = {"F": 64, "C": 256}


class FeatureMap(ABC):
    """One draw of d → D features."""

    d: int
    D: int
    dtype: np.dtype[Any]
    order: Literal["C", "F"] = "C"  # the layout of Φ that is written fastest; F is feature-major

    @abstractmethod
    def write(self, X: Array, out: Array) -> None:
        """Φ of at most `chunk` rows into out, (b, D)."""

    @property
    def chunk(self) -> int:
        """Rows worked on at once."""
        return CHUNK[self.order]

    def empty(self, n: int) -> Array:
        """An array for n rows of Φ in the map's own layout."""
        return np.empty((n, self.D), self.dtype, order=self.order)

    def __call__(self, X: Array, out: Array | None = None) -> Array:
        """(n, d) → Φ, (n, D)."""
        out = self.empty(len(X)) if out is None else out
        for span in spans(len(X), self.chunk):
            self.write(X[span], out[span])
        return out

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        """Φ of at most `chunk` rows by ranges of features, each in a buffer that the next may overwrite."""
        b, role = len(X), f"tile of {type(self).__name__}"
        Phi = scratch(role, (self.D, b), self.dtype).T if self.order == "F" else scratch(role, (b, self.D), self.dtype)
        self.write(X, Phi)
        yield slice(0, self.D), Phi

    def parts(self) -> Iterator["FeatureMap"]:
        """Maps whose features, side by side, are these: for those with more than memory holds for many rows."""
        yield self

    def product(self, Phi: Array, Psi: Array) -> Array:
        """k̂ of all pairs from their features, (n, m), or p × p blocks, (n p, m p)."""
        return Phi @ Psi.conj().T

    def paired(self, Phi: Array, Psi: Array) -> Array:
        """k̂ of row i with row i, (n, 1), or the entries of its p × p matrix, (n, p²)."""
        return np.einsum("pf,pf->p", Phi, Psi.conj())[:, None]


class Tiled(FeatureMap):
    """A map that makes few features at a time, so that all it takes for them stays in the cache."""

    @abstractmethod
    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]: ...

    def write(self, X: Array, out: Array) -> None:
        for features, Phi in self.tiles(X):
            out[:, features] = Phi


@dataclass(frozen=True)
class Sketch(ABC):
    """A recipe for a feature map.  D counts output columns, complex ones in a complex sketch."""

    def objection(self, D: int) -> str | None:
        """Why there cannot be D features, or None."""
        return None

    def count(self, d: int, D: int) -> int:
        """How many features there are where D are asked for."""
        return D

    def adapt(self, X: Array, D: int) -> "Sketch":
        """The recipe with what it takes from training rows; most take nothing."""
        return self

    def facts(self) -> dict[str, Any]:
        """What was learned from the training rows, in words and numbers, for run.json."""
        return {}

    @abstractmethod
    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        """One draw.  dtype is the real type of the numbers; complex maps give the complex type of that size."""


class ClosedForm(Sketch):
    """A sketch with a known variance."""

    @abstractmethod
    def variance(self, X: Array, Y: Array, D: int) -> Array:
        """E|k̂ − E k̂|² of all pairs, (n, m); summed over the entries of a matrix."""


class ComplexClosedForm(ClosedForm):
    """A complex sketch with known variance and pseudo-variance."""

    @abstractmethod
    def pseudo_variance(self, X: Array, Y: Array, D: int) -> Array:
        """E[k̂²] − (E k̂)² of all pairs [Wacker 2022, Eq. 4.3]."""
