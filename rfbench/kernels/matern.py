"""Matérn kernels: Gaussian kernels with a random length scale.

With z ~ N(0, I), t = √(2ν/χ²_{2ν}) and r = ‖x − y‖/l,

    k(x, y) = E exp(−t² r²/2) = E exp(i ⟨t z/l, x − y⟩),                                        (1)

which for ν = ½, 3/2, 5/2 is e⁻ʳ, (1 + √3 r) e^{−√3 r} and (1 + √5 r + 5r²/3) e^{−√5 r}  [Rasmussen & Williams 2006,
Eq. 4.17].  All d coordinates of a frequency share one t: with one per coordinate, (1) would be the product of
one-dimensional Matérn kernels, which is another kernel for d > 1.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from rfbench.arrays import Array, squared_distances, squared_norms
from rfbench.blocks import spans
from rfbench.checks import require
from rfbench.kernels.base import Kernel
from rfbench.kernels.exponential import Gaussian, Scaled

POLYNOMIALS = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1.0, 1.0, 1 / 3)}  # in √(2ν) r; times exp(−√(2ν) r)
NEAR = 1e-8  # below this fraction of ‖x‖² + ‖y‖², ‖x − y‖² is computed from the differences


@dataclass(frozen=True)
class Laplacian(Scaled):
    """exp(−‖x − y‖/l)."""

    name = "laplacian"

    @property
    def smoothness(self) -> float:
        """ν."""
        return 0.5

    def gram(self, X: Array, Y: Array) -> Array:
        r = self._distances(X, Y)
        return polyval(r, POLYNOMIALS[self.smoothness]) * np.exp(-r)

    def gram_and_slope(self, X: Array) -> tuple[Array, Array]:
        r, P = self._distances(X, X), POLYNOMIALS[self.smoothness]
        decay = np.exp(-r)
        K = polyval(r, P) * decay
        return K, r * (K - polyval(r, polyder(P)) * decay)

    def _distances(self, X: Array, Y: Array) -> Array:
        """√(2ν) ‖x − y‖/l of all pairs."""
        return np.sqrt(near_squared_distances(X, Y) * (2 * self.smoothness / self.l2))

    def mixing(self, n: int, rng: np.random.Generator) -> Array:
        """n draws of t in equation (1)."""
        nu = self.smoothness
        return np.sqrt(2 * nu / rng.chisquare(2 * nu, n))


@dataclass(frozen=True)
class Matern(Laplacian):
    """The Matérn kernel of smoothness ν = ½, 3/2 or 5/2."""

    name = "matern"
    nu: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.nu in POLYNOMIALS, "kernel.nu", "0.5, 1.5 or 2.5", self.nu)

    @property
    def smoothness(self) -> float:
        return self.nu


def scales(kernel: Kernel, n: int, rng: np.random.Generator) -> Array:
    """n draws of t/l for a mixture of Gaussian kernels, or for the Gaussian kernel itself, whose t is 1."""
    assert isinstance(kernel, Gaussian | Laplacian)
    t = kernel.mixing(n, rng) if isinstance(kernel, Laplacian) else np.ones(n)
    return t / sqrt(kernel.l2)


def length_quantile(kernel: Kernel, d: int, u: Array) -> Array:
    """The quantiles u of ‖ω‖ in R^d: χ_d/l for the Gaussian kernel, t χ_d/l, whose square over d has an F law, else."""
    from scipy.special import fdtri, gammaincinv

    assert isinstance(kernel, Gaussian | Laplacian)
    squares = 2 * gammaincinv(d / 2, u) if isinstance(kernel, Gaussian) else d * fdtri(d, 2 * kernel.smoothness, u)
    return np.sqrt(squares / kernel.l2)


def near_squared_distances(X: Array, Y: Array) -> Array:
    """‖x − y‖² that is accurate for near rows too: the root of a cancellation error of 10⁻¹⁶ would be 10⁻⁸."""
    D2 = squared_distances(X, Y)
    near = np.nonzero(NEAR * (squared_norms(X)[:, None] + squared_norms(Y)) > D2)
    for span in spans(len(near[0]), 4096):
        i, j = (index[span] for index in near)
        D2[i, j] = squared_norms(X[i].astype(np.float64) - Y[j])
    return D2
