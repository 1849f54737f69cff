"""Polynomial kernels: (γ⟨x, y⟩ + ν)ᵖ, its form on the unit sphere, and ⟨x, y⟩.

On the unit sphere 1 − ‖x − y‖²/a² = (1 − 2/a²) + (2/a²)⟨x, y⟩  [Wacker 2022, Eq. 3.38].
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import comb, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, inner, squared_distances, squared_norms
from rfbench.checks import require
from rfbench.kernels.base import DotProductKernel


class AffinePower(DotProductKernel):
    """Whatever is (γ⟨x, y⟩ + ν)ᵖ: what a product sketch can estimate."""

    @property
    @abstractmethod
    def affine(self) -> tuple[int, float, float]:
        """(p, γ, ν)."""

    @property
    def power(self) -> int:
        return self.affine[0]

    def gram(self, X: Array, Y: Array) -> Array:
        p, gamma, bias = self.affine
        return (gamma * inner(X, Y) + bias) ** p

    def coefficients(self, degrees: NDArray[np.integer]) -> Array:
        p, gamma, bias = self.affine
        return np.array([comb(p, n) * gamma**n * bias ** (p - n) if n <= p else 0.0 for n in degrees])


@dataclass(frozen=True)
class Polynomial(AffinePower):
    """(γ⟨x, y⟩ + ν)ᵖ, γ a number, or `1/d` of the d columns."""

    name = "polynomial"
    degree: int
    gamma: float | str = 1.0
    bias: float = 1.0

    def __post_init__(self) -> None:
        require(self.degree >= 1, "degree", "at least 1", self.degree)
        good = self.gamma == "1/d" or (not isinstance(self.gamma, str) and self.gamma > 0)
        require(good, "kernel.gamma", "above 0, or 1/d", self.gamma)
        require(self.bias >= 0, "kernel.bias", "at least 0", self.bias)

    def fit(self, X: Array) -> "Polynomial":
        return replace(self, gamma=1 / X.shape[1]) if self.gamma == "1/d" else self

    @property
    def affine(self) -> tuple[int, float, float]:
        # Before the columns are known there is no number that could be mistaken for an answer.
        return self.degree, nan if isinstance(self.gamma, str) else self.gamma, self.bias


@dataclass(frozen=True)
class HigherDegrees(DotProductKernel):
    """(1 + ⟨x, y⟩)ᵖ without its degrees up to m."""

    name = "higher_degrees"
    p: int
    m: int

    @property
    def power(self) -> int:
        return self.p

    def coefficients(self, degrees: NDArray[np.integer]) -> Array:
        return np.array([float(comb(self.p, n)) if n > self.m else 0.0 for n in degrees])

    def gram(self, X: Array, Y: Array) -> Array:
        return np.polynomial.Polynomial(self.coefficients(np.arange(self.p + 1)))(inner(X, Y))


@dataclass(frozen=True)
class PolynomialSphere(AffinePower):
    """(1 − ‖x − y‖²/a²)ᵖ for unit vectors."""

    name = "polynomial_sphere"
    degree: int
    a: float = 2.0

    def __post_init__(self) -> None:
        require(self.degree >= 1, "degree", "at least 1", self.degree)
        require(self.a >= sqrt(2), "kernel.a", "at least √2 = 1.4143 (below, the kernel is not positive)", self.a)

    @property
    def affine(self) -> tuple[int, float, float]:
        return self.degree, 2 / self.a**2, 1 - 2 / self.a**2

    def gram(self, X: Array, Y: Array) -> Array:
        return (1 - squared_distances(X, Y) / self.a**2) ** self.degree

    def objection(self, X: Array) -> str | None:
        if np.allclose(squared_norms(X), 1, atol=1e-4):
            return None
        return "kernel 'polynomial_sphere' needs rows of length 1; add unit_norm to dataset.prepare"


@dataclass(frozen=True)
class Linear(AffinePower):
    """⟨x, y⟩."""

    name = "linear"

    @property
    def affine(self) -> tuple[int, float, float]:
        return 1, 1.0, 0.0
