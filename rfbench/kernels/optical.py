"""The kernel of optical random features |Ux|ᵐ, U with independent CN(0, 1) entries, for every real m > 0:

    k_m(x, y) = ‖x‖ᵐ ‖y‖ᵐ Γ(m/2 + 1)² ₂F₁(−m/2, −m/2; 1; cos²θ)                                    (1)

which for m = 2s is Theorem 2 of Ohana et al. 2019 (where it is given for even m only).
"""

from dataclasses import dataclass
from math import gamma

import numpy as np

from rfbench.checks import require
from rfbench.kernels.base import Array, Kernel, inner, squared_norms


@dataclass(frozen=True)
class Optical(Kernel):
    """Equation (1)."""

    name = "optical"
    exponent: float = 2.0

    def __post_init__(self) -> None:
        require(self.exponent > 0, "kernel.exponent", "above 0", self.exponent)

    def gram(self, X: Array, Y: Array) -> Array:
        from scipy.special import hyp2f1

        m = self.exponent
        N = np.outer(squared_norms(X), squared_norms(Y))
        cos2 = np.minimum(inner(X, Y) ** 2 / np.where(N > 0, N, 1), 1)
        return N ** (m / 2) * gamma(m / 2 + 1) ** 2 * hyp2f1(-m / 2, -m / 2, 1, cos2)
