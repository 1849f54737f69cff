"""Arc-cosine kernels: infinitely wide layers of neurons that are steps, or powers of rectifiers [Cho & Saul 2009].

With Θ the step function, w ~ N(0, I) and θ the angle between x and y,

    k_n(x, y) = 2 E Θ(⟨w, x⟩) Θ(⟨w, y⟩) ⟨w, x⟩ⁿ ⟨w, y⟩ⁿ = ‖x‖ⁿ ‖y‖ⁿ J_n(θ) / π             [ibid., Eq. 1 and 3]    (1)
    J_n(θ) = (−1)ⁿ sin^{2n+1}θ (1/sin θ · ∂/∂θ)ⁿ ((π − θ)/sin θ)                          [ibid., Eq. 4]          (2)

In c = cos θ the derivative of (2) is −∂/∂c, so J_n = (π − θ) P_n(c) + sin θ Q_n(c) with polynomials P₀ = 1, Q₀ = 0,

    P_{n+1} = (1 − c²) P_n' + (2n + 1) c P_n,      Q_{n+1} = P_n + (1 − c²) Q_n' + 2n c Q_n                        (3)

A row of zeros has no angle.  With Θ(0) = ½ (1) is that of a right angle for n = 0, and 0 for n > 0.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Polynomial

from rfbench.arrays import Array, squared_norms
from rfbench.checks import require
from rfbench.kernels.base import Kernel
from rfbench.kernels.matern import near_squared_distances


@dataclass(frozen=True)
class ArcCosine(Kernel):
    """k_n of equation (1)."""

    name = "arc_cosine"
    order: int = 1  # n

    def __post_init__(self) -> None:
        require(self.order in (0, 1, 2), "kernel.order", "0, 1 or 2", self.order)

    def gram(self, X: Array, Y: Array) -> Array:
        return arc_cosine(self.order, X, Y)


def arc_cosine(n: int, X: Array, Y: Array) -> Array:
    """Equation (1) of any order for all pairs."""
    x, y = (np.sqrt(squared_norms(Z)) for Z in (X, Y))
    U, V = (Z / np.where(norm, norm, 1)[:, None] for Z, norm in ((X.astype(np.float64), x), (Y.astype(np.float64), y)))
    chord = np.minimum(np.sqrt(near_squared_distances(U, V)), 2)  # of small angles it has more digits than the cosine
    theta = np.where(np.outer(x, y), 2 * np.arcsin(chord / 2), np.pi / 2)
    P, Q = polynomials(n)
    c = np.cos(theta)
    return np.outer(x**n, y**n) * ((np.pi - theta) * P(c) + np.sin(theta) * Q(c)) / np.pi


@cache
def polynomials(n: int) -> tuple[Polynomial, Polynomial]:
    """Equation (3)."""
    if not n:
        return Polynomial([1.0]), Polynomial([0.0])
    P, Q = polynomials(n - 1)
    c, square = Polynomial([0.0, 1.0]), Polynomial([1.0, 0.0, -1.0])
    return square * P.deriv() + (2 * n - 1) * c * P, P + square * Q.deriv() + (2 * n - 2) * c * Q
