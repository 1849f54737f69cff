"""exp(⟨x, y⟩/l²) and the Gaussian kernel, which is the same with a radial factor.

exp(−‖x − y‖²/2l²) = exp(−‖x‖²/2l²) exp(⟨x, y⟩/l²) exp(−‖y‖²/2l²)  [Wacker 2022, 5.3.1].
"""

from abc import abstractmethod
from dataclasses import dataclass
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, inner, squared_distances, squared_norms
from rfbench.kernels.base import DotProductKernel, LengthScale


class Scaled(LengthScale):
    """A scalar kernel with a length scale, which can be found by the likelihood."""

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
