"""The kernel of optical random features |Ux|ᵐ, U with independent CN(0, 1) entries, for every real m > 0:

    k_m(x, y) = ‖x‖ᵐ ‖y‖ᵐ Γ(m/2 + 1)² ₂F₁(−m/2, −m/2; 1; cos²θ)                                    (1)

which for m = 2s is Theorem 2 of Ohana et al. 2019 (where it is given for even m only), a polynomial in cos²θ.  With a
bias ν it is that of rows to which √ν is appended [ib., 3].
"""

from dataclasses import dataclass, replace
from math import comb, gamma

import numpy as np

from rfbench.arrays import Array, inner, squared_norms
from rfbench.checks import require
from rfbench.kernels.base import VALIDATION, Kernel


@dataclass(frozen=True)
class Optical(Kernel):
    """Equation (1)."""

    name = "optical"
    exponent: float = 2.0
    bias: float | str = 0.0

    def __post_init__(self) -> None:
        require(self.exponent > 0, "kernel.exponent", "above 0", self.exponent)
        good = self.bias == VALIDATION if isinstance(self.bias, str) else self.bias >= 0
        require(good, "kernel.bias", "a number from 0 up, or 'validation'", self.bias)

    def candidates(self, X: Array) -> list[Kernel]:
        """Multiples of the mean of ‖x‖², whole numbers where they are large: an optical device appends ones."""
        size = float(squared_norms(X).mean())
        values = (size * part for part in (0, 1 / 16, 1 / 4, 1, 4, 16))
        return [replace(self, bias=float(round(value)) if value >= 1 else value) for value in values]

    def gram(self, X: Array, Y: Array) -> Array:
        m, bias = self.exponent, float(self.bias)
        N = np.outer(squared_norms(X) + bias, squared_norms(Y) + bias)
        cos2 = np.minimum((inner(X, Y) + bias) ** 2 / np.where(N > 0, N, 1), 1)
        return N ** (m / 2) * gamma(m / 2 + 1) ** 2 * _series(m / 2, cos2)


def _series(s: float, z: Array) -> Array:
    """₂F₁(−s, −s; 1; z), for whole s by Horner's rule, which is far quicker."""
    if s == int(s) and s <= 20:
        return np.polynomial.polynomial.polyval(z, [comb(int(s), k) ** 2 for k in range(int(s) + 1)])
    from scipy.special import hyp2f1

    return hyp2f1(-s, -s, 1, z)
