"""Polynomial kernels: (γ⟨x, y⟩ + ν)ᵖ, its form on the unit sphere, and ⟨x, y⟩.

On the unit sphere 1 − ‖x − y‖²/a² = (1 − 2/a²) + (2/a²)⟨x, y⟩  [Wacker 2022, Eq. 3.38].
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, sqrt
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, inner, squared_distances, squared_norms
from rfbench.checks import require
from rfbench.kernels.base import DotProductKernel


class AffinePower(DotProductKernel):
    """A kernel of the form (γ⟨x, y⟩ + ν)ᵖ, which product sketches estimate."""

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
    """(γ⟨x, y⟩ + ν)ᵖ."""

    name = "polynomial"
    words = MappingProxyType({"gamma": ("1/d",)})
    degree: int
    gamma: float = 1.0
    bias: float = 1.0

    def __post_init__(self) -> None:
        require(self.degree >= 1, "degree", "at least 1", self.degree)
        require(self.gamma > 0, "kernel.gamma", "above 0, or 1/d", self.gamma)
        require(self.bias >= 0, "kernel.bias", "at least 0", self.bias)

    @classmethod
    def resolve(cls, options: Mapping[str, Any], X: Array | None, Y: Array | None) -> dict[str, Any]:
        if X is not None and options.get("gamma") == "1/d":
            options = {**options, "gamma": 1 / X.shape[1]}
        return super().resolve(options, X, Y)

    @property
    def affine(self) -> tuple[int, float, float]:
        return self.degree, self.gamma, self.bias


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
        require(
            self.a >= sqrt(2),
            "kernel.a",
            "at least √2 = 1.4143 (below, the kernel is not positive definite)",
            self.a,
        )

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
