"""The kernel of frequencies on one sphere, of which every kernel of the distance is a mixture [Wacker 2022, Eq. 2.5].

    Λ_d(r) = E exp(i r⟨s, u⟩) = Γ(d/2) (2/r)^{d/2−1} J_{d/2−1}(r) = ₀F₁(; d/2; −r²/4),      s uniform, ‖u‖ = 1      (1)

and k(x, y) = Λ_d(√d ‖x − y‖/l), whose frequencies have the root mean square length of those of the Gaussian kernel with
the same l.  It approaches that kernel as d grows [ibid., Fig. 2.2].
"""

from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array, squared_distances
from rfbench.kernels.exponential import Scaled


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

    return np.asarray(special.hyp0f1(v, z))
