"""The degrees of a mean embedding that are not known, each by features of its own.

Without its degrees up to m, equation (1) of tangent.py is

    Σ_{n>m} C(p, n) (a a')^{p−n} ⟨w, w'⟩ⁿ,                                                                    (1)

which has features a^{p−n} √C(p, n) Φₙ(w) with Φₙ any product sketch: those of a Maclaurin sketch, degree by degree.
One of degree n takes n projections and not p, those of dense weights fewer still (chains.py), and none of them sees e,
which all rows have in common: Gaussian features, which vary along e too, vary far less.

The known features of degree 2 are √C(p, 2) a^{p−2} w ⊗ w; their sum over a block of rows is one product.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb, sqrt
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, inner
from rfbench.kernels import Kernel
from rfbench.kernels.base import DotProductKernel
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches import FeatureMap, Sketch
from rfbench.sketches.base import Tiled
from rfbench.sketches.maclaurin.optimized import OptimizedMaclaurin
from rfbench.sketches.maclaurin.random import RandomMaclaurin
from rfbench.sketches.maclaurin.series import MaclaurinSketch, SeriesMap
from rfbench.sketches.products.chains import chained
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import BASES
from rfbench.sketches.wrappers import Affine
from rfbench.tasks.kid.tangent import Tangent


@dataclass(frozen=True)
class HigherDegrees(DotProductKernel):
    """(1 + ⟨x, y⟩)ᵖ without its degrees up to m."""

    name = "higher_degrees"
    p: int
    m: int

    @property
    def power(self) -> int:
        return self.p

    def coefficients(self, degrees: NDArray[np.integer]) -> Array:
        return np.array([float(comb(self.p, n)) if n > self.m else 0.0 for n in degrees])

    def gram(self, X: Array, Y: Array) -> Array:
        return np.polynomial.Polynomial(self.coefficients(np.arange(self.p + 1)))(inner(X, Y))


def by_degrees(kernel: Kernel, sketch: Sketch, m: int) -> MaclaurinSketch | None:
    """All degrees above m, over the base of a Maclaurin sketch or over a product sketch itself."""
    p, base = kernel.power, None
    if p is None or p <= m or not has_bias(kernel):
        return None
    if isinstance(sketch, RandomMaclaurin):
        return replace(sketch, kernel=HigherDegrees(p, m), p_max=None)
    if isinstance(sketch, MaclaurinSketch):
        base = sketch.base
    elif isinstance(sketch, Affine):
        base = next((name for name in BASES if homogeneous(name, p) == sketch.base), None)
    return OptimizedMaclaurin(HigherDegrees(p, m), base, p_min=p, p_max=p) if base else None


def has_bias(kernel: Kernel) -> TypeGuard[AffinePower]:
    """With one, all rows have a part along e that is not small, and the rest is expanded around it."""
    return isinstance(kernel, AffinePower) and kernel.affine[2] > 0


def better_apart(kernel: Kernel, sketch: Sketch) -> bool:
    """Whether features of single degrees cost less than those of all: not if p transforms serve every feature."""
    rest = by_degrees(kernel, sketch, 2)
    return rest is not None and (isinstance(sketch, MaclaurinSketch) or not rest.base.endswith("tensorsrht"))


def known_part(kernel: Kernel, sketch: Sketch, X: Array, D: int, m: int) -> tuple[Tangent, Sketch, int] | None:
    """What is known around the mean of rows, up to degree m, 1 or 2, or one less; the sketch of the rest, and its D."""
    if not has_bias(kernel) or not isinstance(sketch, Affine | MaclaurinSketch):
        return None
    c = X.mean(0, dtype=np.float64)
    if m == 1 and isinstance(sketch, Affine):
        return Tangent(kernel, c), sketch, D
    if rest := by_degrees(kernel, sketch, m):
        D -= D % 2 if rest.base.startswith("ctr_") else 0  # single columns are of degree 1, which is known
        if not rest.objection(D):
            remainder = Remainder(kernel, c, m)
            adapted = rest.adapt(remainder.rows(X)[:, :-1] / remainder.length, D)
            assert isinstance(adapted, MaclaurinSketch)
            return remainder, chained(adapted, kernel.affine[0]), D
    return known_part(kernel, sketch, X, D, 1) if m > 1 else None


class Remainder(Tangent):
    """Degrees up to m around a centre c; the features are of all others."""

    def __init__(self, kernel: AffinePower, c: Array, m: int) -> None:
        super().__init__(kernel, c)
        self.degree = m

    def rows(self, X: Array) -> Array:
        """In double precision: the sketched rest may vary less than single precision rounds what is known."""
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

    def of(self, features: FeatureMap, h: Array) -> Array:
        return np.zeros(features.D)


class RemainderMap(Tiled):
    """Equation (1) from Maclaurin features of w, on rows (w, a)."""

    def __init__(self, base: SeriesMap, p: int) -> None:
        self.base, self.d, self.D = base, base.d + 1, base.D
        self.dtype, self.order = base.dtype, base.order
        self.powers = p - np.repeat(list(base.counts), list(base.counts.values()))

    @property
    def chunk(self) -> int:
        return self.base.chunk

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        for features, Phi in self.base.tiles(X[:, :-1]):
            Phi *= X[:, -1:] ** int(self.powers[features.start])  # a tile is of one degree
            yield features, Phi
