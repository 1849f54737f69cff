"""exp(⟨x, y⟩/l²) and the Gaussian kernel, which is the same with a radial factor.

exp(−‖x − y‖²/2l²) = exp(−‖x‖²/2l²) exp(⟨x, y⟩/l²) exp(−‖y‖²/2l²)  [Wacker 2022, 5.3.1].
"""

from dataclasses import dataclass, replace
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from rfbench.checks import InputError, require
from rfbench.kernels.base import Array, DotProductKernel, inner, squared_distances, squared_norms


def require_length_scale(l: float | str) -> None:
    """A number above 0, or the word that stands for one."""
    if isinstance(l, str):
        require(l == "median", "kernel.length_scale", "a number or 'median'", l)
    else:
        require(l > 0, "kernel.length_scale", "above 0", l)


@dataclass(frozen=True)
class Exponential(DotProductKernel):
    """exp(⟨x, y⟩/l²), l the length scale: a number, or `median` of the distances between training rows."""

    name = "exponential"
    length_scale: float | str = 1.0

    def __post_init__(self) -> None:
        require_length_scale(self.length_scale)

    @property
    def l2(self) -> float:
        if isinstance(self.length_scale, str):
            raise InputError("kernel.length_scale=median needs training rows first: call fit")
        return float(self.length_scale) ** 2

    def fit(self, X: Array) -> "Exponential":
        if self.length_scale != "median":
            return self
        above = np.triu_indices(len(X), 1)
        return replace(self, length_scale=float(np.sqrt(np.median(squared_distances(X, X)[above]))))

    def gram(self, X: Array, Y: Array) -> Array:
        return np.exp(inner(X, Y) / self.l2)

    def coefficients(self, degrees: NDArray[np.integer]) -> Array:
        return np.exp([-lgamma(n + 1) - n * np.log(self.l2) for n in degrees])


class Gaussian(Exponential):
    """exp(−‖x − y‖²/2l²)."""

    name = "gaussian"

    def gram(self, X: Array, Y: Array) -> Array:
        return np.exp(squared_distances(X, Y) / (-2 * self.l2))

    def radial(self, X: Array) -> Array:
        return np.exp(squared_norms(X) / (-2 * self.l2))
