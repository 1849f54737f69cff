"""The part of a mean embedding under (γ⟨x, y⟩ + ν)ᵖ that needs no sketch.

The kernel is ⟨z, z'⟩ᵖ of z = (√γ x, √ν).  With a unit vector e and z = a e + w, w ⊥ e,

    ⟨z, z'⟩ᵖ = Σₙ C(p, n) (a a')^{p−n} ⟨w, w'⟩ⁿ                                                               (1)

whose degrees 0 and 1 are inner products of d + 1 known features, (√p a^{p−1} w, aᵖ).  If e is the direction of the
mean, these account for most of a distance.  Polynomial features are linear in z ⊗ ⋯ ⊗ z, and their part of these
degrees is

    S(z) = aᵖ Φ(e) + a^{p−1} d/dt Φ(e + t w) at t = 0,                                                        (2)

linear in the known features, so that its sum over all rows is one derivative.  Φ − S estimates the other degrees: they
are orthogonal to the known ones, and a smaller vector has a smaller variance.

A reflection maps e to the last axis and does not change the kernel: Rademacher weights have no variance along an axis.
Sketches whose features each have one degree are in remainder.py.
"""

from math import comb, sqrt

import numpy as np

from rfbench.arrays import Array, real_type, squared_norms
from rfbench.blocks import scratch
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.wrappers import AffineMap


class Tangent:
    """Degrees 0 and 1 around a centre c."""

    degree = 1  # the last known one

    def __init__(self, kernel: AffinePower, c: Array) -> None:
        self.p, gamma, bias = kernel.affine
        self.scale, self.last = sqrt(gamma), sqrt(bias)
        self.length = sqrt(gamma * (c @ c) + bias)
        v = np.append(self.scale * c, self.last) / self.length
        v[-1] -= 1
        self.v = v * (sqrt(2) / (np.linalg.norm(v) or 1))  # z ↦ z − ⟨v, z⟩ v is the reflection

    def map(self, features: FeatureMap) -> FeatureMap:
        """The features of x as those of (w, a)."""
        assert isinstance(features, AffineMap)
        return features.base

    def rows(self, X: Array) -> Array:
        """(w, a) of every row."""
        Z = scratch("turned", (len(X), len(self.v)), X.dtype)
        np.multiply(X, self.scale, out=Z[:, :-1])
        Z[:, -1] = self.last
        v = self.v.astype(X.dtype)
        Z -= np.outer(Z @ v, v)
        return Z

    def sums(self, Z: Array) -> tuple[Array, float, float]:
        """Known features, their squared norms and those of all other degrees, each summed over rows (w, a)."""
        a, w2 = Z[:, -1].astype(np.float64), squared_norms(Z[:, :-1])
        h = a ** (self.p - 1) @ Z
        h[:-1] *= sqrt(self.p)
        squares = [comb(self.p, n) * float(a ** (2 * self.p - 2 * n) @ w2**n) for n in range(self.p + 1)]
        return h, sum(squares[: self.degree + 1]), sum(squares[self.degree + 1 :])

    def values(self, Z: Array, h: Array) -> Array:
        """Inner products of the known features of rows (w, a) with a sum h of such features."""
        weights = h[: Z.shape[1]].copy()
        weights[:-1] *= sqrt(self.p)
        return Z[:, -1] ** (self.p - 1) * (Z @ weights)

    def of(self, features: FeatureMap, h: Array) -> Array:
        """Equation (2) for a sum h of known features, by central differences that are exact up to degree 2m."""
        m = -(-self.p // 2)
        weights = np.array([-m / (-1) ** j / j * comb(2 * m, m + j) / comb(2 * m, m) for j in range(1, m + 1)])
        w = h[:-1] / sqrt(self.p)
        step = float(np.linalg.norm(w)) or 1.0
        Z = np.full((2 * m + 1, len(h)), self.length)  # points about as far from the origin as rows
        Z[:, :-1] = np.outer(np.arange(-m, m + 1) / m, w) * (self.length / step)
        Phi = features(Z.astype(real_type(features.dtype)))
        slope = weights @ (Phi[m + 1 :] - Phi[m - 1 :: -1])
        return (h[-1] * Phi[m] + step * slope) / self.length**self.p
