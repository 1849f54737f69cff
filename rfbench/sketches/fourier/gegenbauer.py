"""Random Gegenbauer features of dot product kernels [Han, Zandieh & Avron 2022].

P_l is the Gegenbauer polynomial of degree l in dimension d with P_l(1) = 1.  For a uniform direction w,

    α_l E P_l(⟨w, u⟩) P_m(⟨w, v⟩) = P_l(⟨u, v⟩) if l = m, else 0,      α_l = C(d+l−1, l) − C(d+l−3, l−2)          (1)

[ibid.].  k(x, y) = g(x) g(y) Σ aₙ ⟨x, y⟩ⁿ and tⁿ = Σ_l b_nl P_l(t), where no b is negative.  With the lengths r of rows
and their directions u, each w has a feature for every i = (n − l)/2,

    φ_i(x) = g(x) Σ_l √(α_l aₙ b_nl) rⁿ P_l(⟨w, u⟩),      n = l + 2i ≤ q                                           (2)

and by (1) the mean of Σ_i φ_i(x) φ_i(y) is k without its degrees above q.  Rows of length 1 need one feature for each
w, Σ_l √(α_l Σᵢ aₙ b_nl) P_l(⟨w, u⟩).  The variance is not known in closed form.

b follows from t P_l = ((l + d − 2) P_{l+1} + l P_{l−1}) / (2l + d − 2), and so do the values of P_l.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import comb, sqrt
from typing import Any

import numpy as np

from rfbench.arrays import Array, squared_norms
from rfbench.blocks import scratch
from rfbench.checks import InputError, require
from rfbench.kernels.base import DotProductKernel
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.fourier.directions import Directions
from rfbench.sketches.fourier.options import choose

MOST_DEGREES = 40
UNIT = 1e-3  # what the length of a row of the sphere may differ from 1


@dataclass(frozen=True)
class Gegenbauer(Sketch):
    """Equation (2)."""

    kernel: DotProductKernel
    directions: Directions
    degrees: int  # q
    sphere: bool

    @property
    def last(self) -> int:
        return self.degrees if self.kernel.power is None else min(self.degrees, self.kernel.power)

    @property
    def parts(self) -> int:
        """Features of each direction."""
        return 1 if self.sphere else self.last // 2 + 1

    def count(self, d: int, D: int) -> int:
        return max(D // self.parts, 1) * self.parts

    def objection(self, D: int) -> str | None:
        s = self.parts
        near = max(D // s, 1) * s
        return f"gegenbauer has {s} features for each direction; use features={near}, not {D}" if D % s else None

    def adapt(self, X: Array, D: int) -> Sketch:
        if self.sphere and np.abs(np.sqrt(squared_norms(X)) - 1).max() > UNIT:
            raise InputError("sketch.sphere=true is for rows of length 1; use dataset.prepare=[unit_norm], or false")
        return self

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        dimension = max(self.directions.dimension(d), 2)  # a line lies in a plane, other rows among zero columns
        m = D // self.parts
        W = self.directions.on_sphere().draw(dimension, np.ones(m), rng, dtype)(np.eye(dimension, dtype=dtype))[:d]
        return GegenbauerMap(self, np.ascontiguousarray(W), dimension)

    @property
    def truncation(self) -> str | None:
        if self.kernel.power is not None and self.kernel.power <= self.degrees:
            return None
        return f"gegenbauer has no degrees above {self.last}; use more sketch.degrees"

    @property
    def stated_bias(self) -> str | None:
        return self.truncation or self.directions.stated_bias


class GegenbauerMap(FeatureMap):
    """Equation (2) for m directions W, (d, m): all features of i = 0, then those of i = 1, …"""

    def __init__(self, of: Gegenbauer, W: Array, dimension: int) -> None:
        self.of, self.W, self.dimension = of, W, dimension
        (self.d, self.m), self.dtype = W.shape, W.dtype
        self.D = self.m * of.parts
        self.weights = weights(of.kernel, of.last, dimension) / sqrt(self.m)  # (l, i)
        if of.sphere:
            self.weights = np.sqrt(np.square(self.weights).sum(1, keepdims=True))

    def write(self, X: Array, out: Array) -> None:
        r = np.sqrt(squared_norms(X))[:, None]
        t = scratch("cosines of gegenbauer", (len(X), self.m), self.dtype)
        np.matmul(X / np.where(r, r, 1).astype(self.dtype), self.W, out=t)
        out[...] = 0
        g = self.of.kernel.radial(X)[:, None]
        for l, P in enumerate(polynomials(t, len(self.weights) - 1, self.dimension)):
            for i, weight in enumerate(self.weights[l]):
                if weight:
                    power = 1.0 if self.of.sphere else r ** (l + 2 * i)
                    out[:, i * self.m : (i + 1) * self.m] += (g * power * weight).astype(self.dtype) * P


def polynomials(t: Array, last: int, d: int) -> Iterator[Array]:
    """P_0, …, P_last of t."""
    before, P = np.zeros_like(t), np.ones_like(t)
    for l in range(last + 1):
        yield P
        if l == 0:
            before, P = P, t
        else:
            before, P = P, ((2 * l + d - 2) * t * P - l * before) / (l + d - 2)


@cache
def weights(kernel: DotProductKernel, last: int, d: int) -> Array:
    """√(α_l aₙ b_nl) for l = 0, …, q and i = (n − l)/2."""
    a = kernel.coefficients(np.arange(last + 1))
    found, b = np.zeros((last + 1, last // 2 + 1)), np.eye(1, last + 2)[0]
    for n in range(last + 1):
        for l in range(n, -1, -2):
            found[l, (n - l) // 2] = sqrt(harmonics(l, d) * a[n] * b[l])
        b = times_t(b, d)
    return found


def harmonics(l: int, d: int) -> int:
    """α_l."""
    return comb(d + l - 1, l) - (comb(d + l - 3, l - 2) if l >= 2 else 0)


def times_t(b: Array, d: int) -> Array:
    """The coefficients of t Σ b_l P_l, without the highest degree."""
    l = np.arange(1, len(b))
    up = np.append(1.0, (l + d - 2) / (2 * l + d - 2))
    found = np.zeros_like(b)
    found[1:] += (b * up)[:-1]
    found[:-1] += (b[1:] * l) / (2 * l + d - 2)
    return found


def gegenbauer(
    kernel: DotProductKernel,
    degrees: int = 10,
    sphere: bool = False,
    directions: str = "independent",
) -> Gegenbauer:
    require(1 <= degrees <= MOST_DEGREES, "sketch.degrees", f"from 1 to {MOST_DEGREES}", degrees)
    return Gegenbauer(kernel, choose(directions), degrees, sphere)


FAMILIES = {
    "gegenbauer": Family(gegenbauer, (*POWERS, "exponential", "gaussian"), "Monte Carlo", "d D/s + q D"),
}
