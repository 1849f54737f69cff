"""Features of several degrees from the same projections.

A feature of degree n times one more projection is a feature of degree n + 1, so that a chain

    u₁,  u₁u₂,  u₁u₂u₃,  …,        uᵢ = ⟨wᵢ, x⟩,                                                                 (1)

has one of every degree, each of which would take n projections by itself.  Features of one degree are independent,
those of different degrees are not: the mean of their products is the same, and the variance hardly differs where most
rows are nearly orthogonal, as they are around their mean.  One matrix product computes all projections of a block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import scratch
from rfbench.sketches.base import FeatureMap, Sketch, Tiled
from rfbench.sketches.maclaurin.series import MaclaurinSketch, Part, power
from rfbench.sketches.products.product import ProductSketch
from rfbench.sketches.wrappers import ComplexToReal, ComplexToRealMap


@dataclass(frozen=True)
class Chains(Sketch):
    """The allocation of a Maclaurin sketch of degrees above 1 of (1 + ⟨x, y⟩)ᵖ, computed by chains."""

    series: MaclaurinSketch
    p: int

    @property
    def is_complex(self) -> bool:
        return self.series.is_complex

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        product, unit = product_of(self.series)
        assert isinstance(product, ProductSketch)
        parts = [(n, D_n // unit, weight) for n, D_n, weight in self.series.allot(D, rng)]
        widths = [max(D_n for n, D_n, _ in parts if n >= i) for i in range(1, parts[-1][0] + 1)]
        chains = ChainMap(product.law.draw((d, sum(widths)), rng, dtype), widths, parts, self.p)
        return chains if unit == 1 else ComplexToRealMap(chains)


def product_of(series: MaclaurinSketch) -> tuple[Sketch, int]:
    """The sketch of a series without the form complex to real, and the columns of one of its features."""
    sketch = power(series.base, 1)
    return (sketch.base, 2) if isinstance(sketch, ComplexToReal) else (sketch, 1)


def chained(series: MaclaurinSketch, p: int) -> Sketch:
    """The same degrees by chains, where weights are dense."""
    return Chains(series, p) if type(product_of(series)[0]) is ProductSketch else series


class ChainMap(Tiled):
    """a^{p−n} √(weight/Dₙ) times (1), on rows (x, a), for every degree n that has features."""

    def __init__(self, W: Array, widths: Sequence[int], parts: Sequence[Part], p: int) -> None:
        self.W, self.ends, self.p = W, np.cumsum(widths), p
        self.counts = {n: D for n, D, _ in parts}
        self.weights = {n: sqrt(weight / D) for n, D, weight in parts}
        self.d, self.D, self.dtype = len(W) + 1, sum(self.counts.values()), W.dtype

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        halves = self.W.view(self.W.real.dtype)  # a real X times complex W is one real product
        U = scratch("projections", (len(X), self.ends[-1]), self.dtype)
        np.matmul(X[:, :-1], halves, out=U.view(halves.dtype))
        product, start = U, 0
        for n, u in enumerate(np.split(U, self.ends[:-1], axis=1), 1):
            product = product[:, : u.shape[1]]
            if n > 1:
                product *= u
            if D := self.counts.get(n, 0):
                Phi = scratch("chained", (len(X), D), self.dtype)
                np.multiply(product[:, :D], self.weights[n] * X[:, -1:] ** (self.p - n), out=Phi)
                yield slice(start, start + D), Phi
                start += D
