"""Product sketches: random features for the homogeneous polynomial kernel.

A feature multiplies p independent projections of one point [Wacker 2022, Eq. 3.4 and 3.10],

    φ(x) = ⟨w₁, x⟩ ⟨w₂, x⟩ ⋯ ⟨w_p, x⟩,        E[w w*] = I,                                    (1)

so E[φ(x) φ(y)*] = ⟨x, y⟩ᵖ.  The mean of D of them has, with m = E|⟨w, x⟩|²|⟨w, y⟩|² and s = ⟨x, y⟩²,

    Var = (mᵖ − sᵖ)/D − c [sᵖ − (s − (m − s)/(L − 1))ᵖ]                                        (2)

(Table 4.1).  c = 0 where features are independent; where they share a Hadamard matrix, c is the share of pairs of
features that do and L the number of rows they were drawn from.  With the pseudo-moment in place of m, (2) is the
pseudo-variance.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, inner
from rfbench.blocks import scratch
from rfbench.checks import require
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.products.weights import Law


@dataclass(frozen=True)
class PowerSketch(Sketch):
    """Estimates ⟨x, y⟩ᵖ by products of p linear functions, whose weights have a law."""

    degree: int
    law: Law
    factored = True

    def __post_init__(self) -> None:
        require(self.degree >= 1, "degree", "at least 1", self.degree)

    @property
    def weight_law(self) -> Law:
        return self.law

    @property
    def is_complex(self) -> bool:
        return not self.law.real


class ProductSketch(PowerSketch):
    """Estimates ⟨x, y⟩ᵖ by D products of p independent projections."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        W = self.law.draw((self.degree, d, D), rng, dtype)
        W[0] /= np.sqrt(D)
        return ProductMap(W)

    def coupling(self, d: int, D: int) -> tuple[float, int]:
        """(c, L) of equation (2)."""
        return 0.0, 2

    @property
    def closed_form(self) -> ClosedForm:
        return ClosedForm(
            lambda X, Y, D: np.maximum(self._spread(X, Y, D, self.law.second_moment(X, Y)), 0),
            lambda X, Y, D: self._spread(X, Y, D, self.law.pseudo_moment(X, Y)),
        )

    def _spread(self, X: Array, Y: Array, D: int, m: Array) -> Array:
        """Equation (2)."""
        p, s = self.degree, inner(X, Y) ** 2
        c, L = self.coupling(X.shape[1], D)
        return (m**p - s**p) / D - c * (s**p - (s - (m - s) / max(L - 1, 1)) ** p)


class ProductMap(FeatureMap):
    """Dense weights."""

    def __init__(self, W: Array) -> None:
        self.W = W  # (p, d, D)
        self.d, self.D, self.dtype = W.shape[1], W.shape[2], W.dtype

    def factors(self, X: Array) -> Iterator[Array]:
        """⟨wᵢ, x⟩ for i = 1..p; only the first keeps its buffer."""
        # A real X times complex W is one real product with the real and imaginary columns of W side by side.
        for i, halves in enumerate(self.W.view(self.W.real.dtype)):
            into = scratch("factor" if i else "product", (len(X), self.D), self.dtype)
            np.matmul(X, halves, out=into.view(halves.dtype))
            yield into

    def finish(self, product: Array) -> Array:
        return product

    def write(self, X: Array, out: Array) -> None:
        out[...] = multiplied(self.factors(X))


def multiplied(factors: Iterator[Array]) -> Array:
    """The product of the factors, in the array of the first."""
    product = next(factors)
    for factor in factors:
        product *= factor
    return product
