"""Kernels: the exact answer that a sketch estimates.

A dot product kernel is k(x, y) = g(x) f(⟨x, y⟩) g(y) with f(t) = Σ aₙ tⁿ.  g = 1 except for kernels of the distance,
which it turns into dot product kernels [Wacker 2022, 5.3.1].
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, squared_distances
from rfbench.checks import InputError, require


@dataclass(frozen=True)
class Kernel(ABC):
    """A frozen function of two points; all its options are numbers.  recipe.py has kernels whose options are words."""

    name: ClassVar[str]
    words: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})  # options of a recipe that may be words
    matrix_valued: ClassVar[bool] = False

    @classmethod
    def resolve(cls, options: Mapping[str, Any], X: Array | None, Y: Array | None) -> dict[str, Any]:
        """Options with numbers from training rows X and their outputs Y in place of words; without rows, defaults."""
        return {key: value for key, value in options.items() if not (key in cls.words and isinstance(value, str))}

    @classmethod
    def grid(cls, X: Array) -> list[float]:
        """The numbers from which a task chooses one on held-out rows, for training rows X."""
        return []

    @property
    def power(self) -> int | None:
        """p of a polynomial kernel, for the column `degree`."""
        return None

    @abstractmethod
    def gram(self, X: Array, Y: Array) -> Array:
        """(n, d), (m, d) → (n, m), exact, in float64; p × p blocks of a matrix-valued kernel, (n p, m p)."""

    def size(self, d: int) -> int:
        """p, where k(x, y) is a p × p matrix."""
        return 1

    def objection(self, X: Array) -> str | None:
        """Why these rows do not suit the kernel, or None."""
        return None


class DotProductKernel(Kernel):
    """k(x, y) = g(x) f(⟨x, y⟩) g(y)."""

    @abstractmethod
    def coefficients(self, degrees: NDArray[np.integer]) -> Array:
        """aₙ of f(t) = Σ aₙ tⁿ."""

    def radial(self, X: Array) -> Array:
        """g of every row."""
        return np.ones(len(X))


@dataclass(frozen=True)
class LengthScale(Kernel):
    """A kernel with a length scale l."""

    words = MappingProxyType({"length_scale": ("median", "likelihood", "validation")})
    exponents: ClassVar[tuple[float, ...]] = tuple(k / 2 for k in range(-4, 5))  # of 2 in `grid`
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        require(self.length_scale > 0, "kernel.length_scale", "above 0", self.length_scale)

    @classmethod
    def resolve(cls, options: Mapping[str, Any], X: Array | None, Y: Array | None) -> dict[str, Any]:
        if X is not None and options.get("length_scale") == "median":
            options = {**options, "length_scale": median_distance(X)}
        return super().resolve(options, X, Y)

    @classmethod
    def grid(cls, X: Array) -> list[float]:
        median = median_distance(X)
        return [median * 2**exponent for exponent in cls.exponents]

    @property
    def l2(self) -> float:
        return float(self.length_scale) ** 2


def median_distance(X: Array) -> float:
    """The median of ‖x − y‖ over all pairs of rows, most of which must differ."""
    squares = squared_distances(X, X)[np.triu_indices(len(X), 1)]
    median = float(np.sqrt(np.median(squares))) if len(squares) else 0.0
    if not median:
        raise InputError(
            f"the median distance of {len(X)} training rows is 0, since most are identical; give kernel.length_scale a "
            "number, or change dataset.prepare"
        )
    return median
