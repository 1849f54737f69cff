"""The kernel of optical random features |Ux|ᵐ, U with independent CN(0, 1) entries, for every real m > 0:

    k_m(x, y) = ‖x‖ᵐ ‖y‖ᵐ Γ(m/2 + 1)² ₂F₁(−m/2, −m/2; 1; cos²θ)                                    (1)

which for m = 2s is Theorem 2 of Ohana et al. 2019 (stated for even m only), a polynomial in cos²θ.  A bias ν appends √ν
to the rows [ibid., 3].
"""

from dataclasses import dataclass
from math import comb, gamma
from types import MappingProxyType

import numpy as np

from rfbench.arrays import Array, inner, squared_norms
from rfbench.checks import require
from rfbench.kernels.base import Kernel


@dataclass(frozen=True)
class Optical(Kernel):
    """Equation (1)."""

    name = "optical"
    words = MappingProxyType({"bias": ("validation",)})
    exponent: float = 2.0
    bias: float = 0.0

    def __post_init__(self) -> None:
        require(self.exponent > 0, "kernel.exponent", "above 0", self.exponent)
        require(self.bias >= 0, "kernel.bias", "at least 0, or validation", self.bias)

    @classmethod
    def grid(cls, X: Array) -> list[float]:
        """Multiples of the mean of ‖x‖²; integers where they are above 1, because an optical device appends ones."""
        size = float(squared_norms(X).mean())
        values = (size * part for part in (0, 1 / 16, 1 / 4, 1, 4, 16))
        return [float(round(value)) if value >= 1 else value for value in values]

    def gram(self, X: Array, Y: Array) -> Array:
        m, bias = self.exponent, self.bias
        N = np.outer(squared_norms(X) + bias, squared_norms(Y) + bias)
        cos2 = np.minimum((inner(X, Y) + bias) ** 2 / np.where(N > 0, N, 1), 1)
        return N ** (m / 2) * gamma(m / 2 + 1) ** 2 * _series(m / 2, cos2)


def _series(s: float, z: Array) -> Array:
    """₂F₁(−s, −s; 1; z), for integer s by Horner's rule, which is much faster."""
    if s == int(s) and s <= 20:
        return np.polynomial.polynomial.polyval(z, [comb(int(s), k) ** 2 for k in range(int(s) + 1)])
    from scipy.special import hyp2f1

    return hyp2f1(-s, -s, 1, z)
