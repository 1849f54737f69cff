"""The kernel of frequencies on one sphere, of which every kernel of the distance is a mixture [Wacker 2022, Eq. 2.5].

    Λ_d(r) = E exp(i r⟨s, u⟩) = Γ(d/2) (2/r)^{d/2−1} J_{d/2−1}(r) = ₀F₁(; d/2; −r²/4),      s uniform, ‖u‖ = 1      (1)

and k(x, y) = Λ_d(√d ‖x − y‖/l), whose frequencies have the root mean square length of those of the Gaussian kernel with
the same l.  It approaches that kernel as d grows [ibid., Fig. 2.2].

s₁ has the density ∝ (1 − s²)^{(d−3)/2}, so Λ_d is a Gauss–Gegenbauer sum of cosines with positive weights: accurate to
15 digits for every d and x, whereas Γ(d/2) (2/x)^{d/2−1} J_{d/2−1}(x) of Eq. 2.5 is 0 · ∞ for d ≥ 128 and the limit
exp(−x²/2d) has an error of 0.004 at d = 128.
"""

from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array, squared_distances
from rfbench.kernels.exponential import Scaled

MANY = 120  # columns beyond which a quotient of Bessel and gamma functions overflows


@dataclass(frozen=True)
class Bessel(Scaled):
    """Λ_d(√d ‖x − y‖/l) for rows with d columns."""

    name = "bessel"

    def gram(self, X: Array, Y: Array) -> Array:
        half = X.shape[1] / 2
        return hyp0f1(half, squared_distances(X, Y) * (-half / (2 * self.l2)))

    def gram_and_slope(self, X: Array) -> tuple[Array, Array]:
        half = X.shape[1] / 2
        u = squared_distances(X, X) * (half / (2 * self.l2))
        return self.gram(X, X), 2 * u / half * hyp0f1(half + 1, -u)


def hyp0f1(v: float, z: Array) -> Array:
    """₀F₁(; v; z); scipy.special is imported only where it is used, because `rfbench list` need not wait for it."""
    from scipy import special

    if v > MANY / 2 and z.size and z.max() <= 0:
        return cosines(round(2 * v), 2 * np.sqrt(-z))
    return np.asarray(special.hyp0f1(v, z))


def cosines(d: int, x: Array) -> Array:
    """Λ_d(x)."""
    from scipy.linalg import eigh_tridiagonal

    # Gauss's rule with n nodes is exact up to degree 2n − 1, and cos(x s) is nearly a polynomial of degree x.
    n = 2 * (int(x.max()) // 4 + 16)
    k, alpha = np.arange(2, n), d / 2 - 1
    squares = np.append(1 / d, k * (k + 2 * alpha - 1) / (4 * (k + alpha) * (k + alpha - 1)))
    nodes, vectors = eigh_tridiagonal(np.zeros(n), np.sqrt(squares))
    out = np.zeros_like(x)
    for s, weight in zip(nodes[n // 2 :], 2 * vectors[0, n // 2 :] ** 2, strict=True):
        if weight > 1e-18:
            out += weight * np.cos(s * x)
    return out
