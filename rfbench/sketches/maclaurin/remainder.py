"""The degrees of a mean embedding that are not known exactly, each by features of its own.

Without its degrees up to m, equation (1) of tangent.py is

    Σ_{n>m} C(p, n) (a a')^{p−n} ⟨w, w'⟩ⁿ,                                                                    (1)

which has features a^{p−n} √C(p, n) Φₙ(w) with Φₙ any product sketch: those of a Maclaurin sketch, degree by degree.
A feature of degree n takes n projections instead of p, with dense weights fewer still (chains.py), and none of them
depends on e, which all rows have in common: Gaussian features, which vary along e too, vary far less.

The known features of degree 2 are √C(p, 2) a^{p−2} w ⊗ w; their sum over a block of rows is one product.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import comb, sqrt
from typing import TypeGuard

import numpy as np

from rfbench.arrays import Array
from rfbench.kernels.base import Kernel
from rfbench.kernels.polynomial import AffinePower, HigherDegrees
from rfbench.sketches.base import FeatureMap, Sketch, Tiled
from rfbench.sketches.maclaurin.chains import chained
from rfbench.sketches.maclaurin.optimized import ROWS, OptimizedMaclaurin
from rfbench.sketches.maclaurin.random import RandomMaclaurin
from rfbench.sketches.maclaurin.series import MaclaurinSketch, SeriesMap
from rfbench.sketches.maclaurin.tangent import Tangent
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import BASES
from rfbench.sketches.wrappers import Affine, WrappedMap


def has_bias(kernel: Kernel) -> TypeGuard[AffinePower]:
    """Whether all rows have a part along e that is not small, around which the rest can be expanded."""
    return isinstance(kernel, AffinePower) and kernel.affine[2] > 0


def by_degrees(kernel: Kernel, sketch: Sketch, m: int) -> MaclaurinSketch | None:
    """A sketch of the degrees above m, each by features of its own, over the base of a Maclaurin or product sketch."""
    p = kernel.power
    if p is None or p <= m or not has_bias(kernel):
        return None
    if isinstance(sketch, RandomMaclaurin):
        return replace(sketch, kernel=HigherDegrees(p, m), p_max=None)
    base = None
    if isinstance(sketch, MaclaurinSketch):
        base = sketch.base
    elif isinstance(sketch, Affine):
        base = next((name for name in BASES if homogeneous(name, p) == sketch.base), None)
    return OptimizedMaclaurin(HigherDegrees(p, m), base, p, p, sketch.sample_rows or ROWS) if base else None


def better_apart(kernel: Kernel, sketch: Sketch) -> bool:
    """Whether features of single degrees cost less than features of all: not if p transforms serve every feature."""
    rest = by_degrees(kernel, sketch, 2)
    return rest is not None and (sketch.by_degree or not rest.base.endswith("tensorsrht"))


def known_part(kernel: Kernel, sketch: Sketch, X: Array, D: int, m: int) -> tuple[Tangent, Sketch, int] | None:
    """The known degrees around the mean of rows X, up to m = 1 or 2 or one less; the sketch of the rest, and its D."""
    if not has_bias(kernel):
        return None
    c = X.mean(0, dtype=np.float64)
    for degree in range(m, 0, -1):
        if degree == 1 and isinstance(sketch, Affine):
            return Tangent(kernel, c), sketch, D
        if rest := by_degrees(kernel, sketch, degree):
            even = D - D % 2 if rest.base.startswith("ctr_") else D  # only degree 1 has single columns, and it is known
            if not rest.objection(even):
                remainder = Remainder(kernel, c, degree)
                adapted = rest.adapt(remainder.rows(X)[:, :-1] / remainder.length, even)
                assert isinstance(adapted, MaclaurinSketch)
                return remainder, chained(adapted, kernel.affine[0]), even
    return None


class Remainder(Tangent):
    """Degrees up to m around a centre c; the features belong to the others."""

    def __init__(self, kernel: AffinePower, c: Array, m: int) -> None:
        super().__init__(kernel, c)
        self.degree = m

    def rows(self, X: Array) -> Array:
        """In double precision: the sketched rest may vary less than the rounding of the known part in single."""
        return super().rows(X.astype(np.float64, copy=False))

    def map(self, features: FeatureMap) -> FeatureMap:
        return RemainderMap(features, self.p) if isinstance(features, SeriesMap) else features

    def sums(self, Z: Array) -> tuple[Array, float, float]:
        h, squares, rest = super().sums(Z)
        if self.degree == 2:
            W, d = Z[:, :-1], len(h)
            h = np.concatenate((h, np.empty((d - 1) ** 2)))
            np.matmul(W.T, W * (sqrt(comb(self.p, 2)) * Z[:, -1:] ** (self.p - 2)), out=h[d:].reshape(d - 1, d - 1))
        return h, squares, rest

    def values(self, Z: Array, h: Array) -> Array:
        known, W, d = super().values(Z, h), Z[:, :-1], Z.shape[1]
        if self.degree == 2:
            quadratic = np.einsum("ij,ij->i", W @ h[d:].reshape(d - 1, d - 1), W)
            known += sqrt(comb(self.p, 2)) * Z[:, -1] ** (self.p - 2) * quadratic
        return known

    def of(self, features: FeatureMap, h: Array) -> Array:
        return np.zeros(features.D)


class RemainderMap(WrappedMap, Tiled):
    """Equation (1) from Maclaurin features of w, on rows (w, a)."""

    def __init__(self, base: SeriesMap, p: int) -> None:
        super().__init__(base)
        self.d = base.d + 1
        self.powers = p - np.repeat(list(base.counts), list(base.counts.values()))

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        for features, Phi in self.base.tiles(X[:, :-1]):
            Phi *= X[:, -1:] ** int(self.powers[features.start])  # all features of a tile have one degree
            yield features, Phi
