"""The B-spline kernel of odd degree n = 2p + 1, a product over columns [Schölkopf & Smola 2001; Chang et al. 2016, 3].

    k(x, y) = Πᵢ B_n(s (xᵢ − yᵢ)/l)/B_n(0),      s² = (n + 1)/12                                              (1)
    B_n(t) = 1/n! Σⱼ (−1)ʲ (n+1 choose j) max(0, (n + 1)/2 − |t| − j)ⁿ                                        (2)

B_n is the density of a sum of n + 1 uniform numbers on (−½, ½), so s makes (1) approach the Gaussian kernel with the
same l as p grows.  The frequencies of every column are ω = 2 s u/l with density ∝ (sin u/u)^{n+1}, which is never
negative as n is odd.  The cited works write B_n(‖x − y‖).  Its Fourier transform is negative at some frequencies for
more than one column, so that it is not a kernel; (1) is one, but a rotation of the rows changes it.
"""

from dataclasses import dataclass
from math import comb, factorial, sqrt

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import require
from rfbench.kernels.exponential import Scaled


@dataclass(frozen=True)
class BSpline(Scaled):
    """Equation (1)."""

    name = "b_spline"
    order: int = 1  # p

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.order <= 5, "kernel.order", "from 0 to 5", self.order)

    @property
    def n(self) -> int:
        return 2 * self.order + 1

    @property
    def per_unit(self) -> float:
        """s/l."""
        return sqrt((self.n + 1) / 12) / float(self.length_scale)

    def gram(self, X: Array, Y: Array) -> Array:
        K, peak = np.ones((len(X), len(Y))), float(b_spline(self.n, np.zeros(1))[0])
        for x, y in zip(X.T.astype(np.float64), Y.T.astype(np.float64), strict=True):
            K *= b_spline(self.n, np.subtract.outer(x, y) * self.per_unit) / peak
        return K

    def gram_and_slope(self, X: Array) -> tuple[Array, Array]:
        peak = float(b_spline(self.n, np.zeros(1))[0])
        K, slope = np.ones((len(X), len(X))), np.zeros((len(X), len(X)))
        for x in X.T.astype(np.float64):
            t = np.subtract.outer(x, x) * self.per_unit
            value = b_spline(self.n, t) / peak
            derivative = (b_spline(self.n - 1, t + 0.5) - b_spline(self.n - 1, t - 0.5)) / peak
            slope = slope * value - K * t * derivative
            K *= value
        return K, slope

    def frequencies(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Independent entries of ω, by rejection from the density ∝ min(1, u^{−(n+1)}): three of four are kept."""
        q, found = self.n + 1, np.empty(0)
        while len(found) < np.prod(shape):
            size = 2 * int(np.prod(shape)) + 16
            inside = rng.random(size) < (q - 1) / q
            u = np.where(inside, rng.random(size), (1 - rng.random(size)) ** (-1 / (q - 1)))
            kept = rng.random(size) < np.where(inside, np.sinc(u / np.pi), np.sin(u)) ** q
            found = np.append(found, (u * rng.choice((-1, 1), size))[kept])
        return 2 * self.per_unit * found[: np.prod(shape)].reshape(shape)


def b_spline(n: int, t: Array) -> Array:
    """Equation (2)."""
    from_end = (n + 1) / 2 - np.abs(t)
    if n == 0:
        return (from_end > 0).astype(np.float64)
    terms = ((-1) ** j * comb(n + 1, j) * np.maximum(from_end - j, 0) ** n for j in range((n + 1) // 2 + 1))
    return sum(terms, np.zeros_like(from_end)) / factorial(n)
