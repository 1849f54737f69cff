"""What two coupled frequencies have in common: the covariance terms of closed forms.

Frequencies ω₁, ω₂ of one block have lengths ϱ₁, ϱ₂ and an angle of cosine c, and their rotation is uniform.  So ω₁ ± ω₂
has a uniform direction and the squared length ϱ₁² + ϱ₂² ± 2c ϱ₁ϱ₂, and

    E exp(i⟨ω₁ ± ω₂, δ⟩) = E ₀F₁(; d/2; −‖δ‖² (ϱ₁² + ϱ₂² ± 2c ϱ₁ϱ₂)/4)                                     (1)
    E exp(⟨ω₁ + ω₂, v⟩)  = E ₀F₁(; d/2;  ‖v‖² (ϱ₁² + ϱ₂² + 2c ϱ₁ϱ₂)/4)                                     (2)

by kernels/bessel.py.  For orthogonal frequencies of independent lengths (1) is ₁F₁(d; d/2; −‖δ‖²/2) [Choromanski et al.
2018 expand it for large d].  The mean over ϱ₁, ϱ₂ is a Gauss rule, because lengths are roots of gamma variables:

- independent: R² = ϱ₁² + ϱ₂² ~ χ²_{2d}, and 2ϱ₁ϱ₂/R² = √(1 − u²) with an independent u of density ∝ (1 − u²)^{d/2−1};
- paired: F(ϱ₂) = 1 − F(ϱ₁), a function of ϱ₁² ~ χ²_d.

A block of b frequencies has b (b − 1) ordered pairs, of which 2⌊b/2⌋ are paired.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.kernels.bessel import hyp0f1
from rfbench.kernels.exponential import Gaussian
from rfbench.kernels.matern import length_quantile

NODES, KNOTS = 24, 256  # of a Gauss rule; of the spline through (1) or (2), close together near zero


@dataclass(frozen=True, eq=False)
class Lengths:
    """Nodes and weights for (ϱ₁, ϱ₂)."""

    squares: Array  # ϱ₁² + ϱ₂²
    products: Array  # ϱ₁ϱ₂
    weights: Array
    independent: bool = False

    def tilted(self, A: float, d: int) -> "Lengths":
        """√(1 − 4A) times the lengths, with the density (1 − 4A)^d exp(2A (ϱ₁² + ϱ₂²)) over theirs.

        That is the law of independent lengths again, whose nodes are too few for the exponential.
        """
        if self.independent:
            return self
        tilt = 1 - 4 * A
        weights = self.weights * np.exp(2 * A * self.squares + d * np.log(tilt))
        return Lengths(tilt * self.squares, tilt * self.products, weights)


def independent_lengths(d: int) -> Lengths:
    halves, w = laguerre(d - 1)
    u, v = gegenbauer(d)
    R2 = np.repeat(2 * halves, len(u))
    return Lengths(R2, R2 * np.tile(np.sqrt(1 - u * u), len(halves)) / 2, np.outer(w, v).ravel(), True)


def paired_lengths(d: int) -> Lengths:
    from scipy.special import gammaincc

    halves, w = laguerre(d / 2 - 1)
    first, second = np.sqrt(2 * halves), length_quantile(Gaussian(1.0), d, gammaincc(d / 2, halves))
    return Lengths(first**2 + second**2, first * second, w)


def constant_lengths(d: int) -> Lengths:
    return Lengths(np.array([2.0 * d]), np.array([float(d)]), np.ones(1))


def mean_of_pairs(lengths: Lengths, d: int, cosine: float, s: Array, sign: int) -> Array:
    """Equation (1) with sign −1 or equation (2) with sign 1, for s = ‖δ‖² or ‖v‖² of all pairs; cosine is ± c."""
    from scipy.interpolate import CubicSpline

    knots = (float(s.max()) or 1.0) * np.linspace(0, 1, KNOTS) ** 2
    squares = lengths.squares + 2 * cosine * lengths.products
    values = hyp0f1(d / 2, np.outer(knots, sign * squares / 4)) @ lengths.weights
    if sign < 0:
        return np.asarray(CubicSpline(knots, values)(s))
    return np.exp(CubicSpline(knots, np.log(values))(s))  # it grows exponentially


def coupled_pairs(m: int, block: int, paired: bool) -> tuple[int, int]:
    """Ordered pairs of m frequencies in one block whose lengths are independent, and those whose lengths are paired."""
    sizes = [span.stop - span.start for span in spans(m, block)]
    partners = sum(2 * (b // 2) for b in sizes) if paired else 0
    return sum(b * (b - 1) for b in sizes) - partners, partners


def covariance(d: int, m: int, norms: str, k2: Array, mean: Callable[[Lengths], Array]) -> Array:
    """What coupling adds to the variance of the mean of m features, with k² and the mean of two features' product."""
    if norms == "constant":
        others, _ = coupled_pairs(m, d, False)
        return others * (mean(constant_lengths(d)) - k2) / m**2
    others, partners = coupled_pairs(m, d, norms == "paired")
    added = others * (mean(independent_lengths(d)) - k2)
    if partners:
        added = added + partners * (mean(paired_lengths(d)) - k2)
    return added / m**2


def laguerre(alpha: float) -> tuple[Array, Array]:
    """Nodes and weights of a gamma variable of shape α + 1."""
    k = np.arange(NODES, dtype=float)
    return gauss_rule(2 * k + alpha + 1, np.sqrt(k[1:] * (k[1:] + alpha)))


def gegenbauer(d: int) -> tuple[Array, Array]:
    """Nodes and weights of the density ∝ (1 − u²)^{d/2−1} on [−1, 1]."""
    k, a = np.arange(2.0, NODES), d / 2 - 0.5
    squares = np.append(1 / (d + 1), k * (k + 2 * a - 1) / (4 * (k + a) * (k + a - 1)))
    return gauss_rule(np.zeros(NODES), np.sqrt(squares))


def gauss_rule(centre: Array, beside: Array) -> tuple[Array, Array]:
    """The rule of a density by its three-term recurrence; no weight overflows [Golub & Welsch 1969]."""
    from scipy.linalg import eigh_tridiagonal

    nodes, vectors = eigh_tridiagonal(centre, beside)
    kept = vectors[0] ** 2 > 1e-18
    return nodes[kept], vectors[0, kept] ** 2
