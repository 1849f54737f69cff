"""Kernels: the exact answer that a sketch estimates.

A dot product kernel is k(x, y) = g(x) f(⟨x, y⟩) g(y) with f(t) = Σ aₙ tⁿ.  g is 1 but for kernels of the
distance, which become dot product kernels by it [Wacker 2022, 5.3.1].
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array

VALIDATION = "validation"  # in the place of a number that is chosen on rows left out


@dataclass(frozen=True)
class Kernel(ABC):
    """A frozen function of two points."""

    name: ClassVar[str]

    @property
    def open(self) -> str | None:
        """The number that is to be chosen on rows left out, if there is one."""
        words = ((f.name, getattr(self, f.name)) for f in fields(self))
        return next((name for name, value in words if isinstance(value, str) and value == VALIDATION), None)

    def candidates(self, X: Array) -> list["Kernel"]:
        """The kernels from which a choice is made, with what they take from training rows."""
        return [self.fit(X)]

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

    def fit(self, X: Array) -> "Kernel":
        """The kernel with what it takes from training rows, such as a median distance, filled in."""
        return self

    def fit_targets(self, Y: Array) -> "Kernel":
        """The kernel with what it takes from the outputs of training rows, (n, p), filled in."""
        return self

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
