"""exp(⟨x, y⟩/l²) and the Gaussian kernel, which is the same with a radial factor.

exp(−‖x − y‖²/2l²) = exp(−‖x‖²/2l²) exp(⟨x, y⟩/l²) exp(−‖y‖²/2l²)  [Wacker 2022, 5.3.1].
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import lgamma
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, inner, squared_distances, squared_norms
from rfbench.checks import InputError, require
from rfbench.kernels.base import VALIDATION, DotProductKernel, Kernel


@dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel with a length scale l: a number, the median distance of training rows, or chosen by a task."""

    length_scale: float | str = 1.0

    def __post_init__(self) -> None:
        l = self.length_scale
        if isinstance(l, str):
            known = ("median", "likelihood", VALIDATION)
            require(l in known, "kernel.length_scale", "a number, 'median', 'likelihood' or 'validation'", l)
        else:
            require(l > 0, "kernel.length_scale", "above 0", l)

    @property
    def l2(self) -> float:
        if isinstance(self.length_scale, str):
            raise InputError(f"kernel.length_scale={self.length_scale} needs training rows first: call fit")
        return float(self.length_scale) ** 2

    def fit(self, X: Array) -> Self:
        if self.length_scale != "median":
            return self
        above = np.triu_indices(len(X), 1)
        return replace(self, length_scale=float(np.sqrt(np.median(squared_distances(X, X)[above]))))

    def candidates(self, X: Array) -> list[Kernel]:
        """Powers of √2 times the median distance."""
        median = replace(self, length_scale="median").fit(X).length_scale
        return [replace(self, length_scale=float(median) * 2 ** (k / 2)) for k in range(-4, 5)]

    @abstractmethod
    def gram_and_slope(self, X: Array) -> tuple[Array, Array]:
        """K of all pairs, and ∂K/∂log l."""


@dataclass(frozen=True)
class Exponential(Scaled, DotProductKernel):
    """exp(⟨x, y⟩/l²)."""

    name = "exponential"

    def gram(self, X: Array, Y: Array) -> Array:
        return np.exp(inner(X, Y) / self.l2)

    def gram_and_slope(self, X: Array) -> tuple[Array, Array]:
        exponent = inner(X, X) / self.l2
        K = np.exp(exponent)
        return K, -2 * exponent * K

    def coefficients(self, degrees: NDArray[np.integer]) -> Array:
        return np.exp([-lgamma(n + 1) - n * np.log(self.l2) for n in degrees])


class Gaussian(Exponential):
    """exp(−‖x − y‖²/2l²)."""

    name = "gaussian"

    def gram(self, X: Array, Y: Array) -> Array:
        return np.exp(squared_distances(X, Y) / (-2 * self.l2))

    def gram_and_slope(self, X: Array) -> tuple[Array, Array]:
        D2 = squared_distances(X, X) / self.l2
        K = np.exp(D2 / -2)
        return K, D2 * K

    def radial(self, X: Array) -> Array:
        return np.exp(squared_norms(X) / (-2 * self.l2))
