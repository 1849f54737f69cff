"""What a few anchors know of the kernel exactly, and a sketch of what they leave.

ψ(x) is the vector with ⟨ψ(x), ψ(y)⟩ = k(x, y), Z the anchors: the zero row and centroids of training rows.  With
g(x) = (k(x, z))_z, K_ZZ = U Λ Uᵀ and W = U Λ^{−1/2} on the eigenvalues that are kept, Wᵀg(x) are the coordinates of
ψ(x) in an orthonormal basis of their span.  A sketch S is linear in ψ, so that of the rest is computed from S ψ:

    Φ(x) = [Wᵀ g(x) ;  S ψ(x) − (Wᵀ S ψ(Z))ᵀ Wᵀ g(x)]                                                            (1)

The first part is exact within the span and the second is an unbiased estimate of the rest, for every pair of rows: the
idea of Hutch++ [Meyer et al. 2021], for a kernel matrix in place of a trace.  (1) takes one more product, of m columns
with m × D numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval

from rfbench.arrays import Array, inner
from rfbench.blocks import scratch
from rfbench.sketches.anchored.mean_split import SplitMap, SplitSketch
from rfbench.sketches.anchored.split import Lifted, Split
from rfbench.sketches.anchored.variance import Left, variances
from rfbench.sketches.base import ClosedForm, Tiled
from rfbench.sketches.wrappers import WrappedMap, Wrapper

SMALLEST = 1e-6  # eigenvalue kept, relative to the largest: below, single precision knows nothing of it


@dataclass(frozen=True, eq=False)
class Anchors:
    """Anchors, and the orthonormal basis of their span."""

    split: Split
    Z: Array
    W: Array

    @classmethod
    def around(cls, split: Split, centroids: Array) -> "Anchors":
        """The zero row and these centroids."""
        Z = np.concatenate((np.zeros((1, centroids.shape[1])), centroids.astype(np.float64)))
        values, U = np.linalg.eigh(anchor_kernel(split, Z, Z))
        kept = values > SMALLEST * values[-1]
        return cls(split, Z, U[:, kept] / np.sqrt(values[kept]))

    @cached_property
    def lifted(self) -> Lifted:
        return self.split.lifted(self.Z)

    def kernel(self, X: Array) -> Array:
        return anchor_kernel(self.split, X, self.Z)

    def norms(self, X: Array, A: Lifted) -> Iterator[Array]:
        """The squared norms that the anchors leave of every row, degree by degree."""
        x, Z = self.kernel(X) @ self.W @ self.W.T, self.lifted
        for n, g, K in zip(A.norms(), A.grams(Z), Z.grams(Z), strict=True):
            yield np.maximum(n + np.einsum("nm,nm->n", x, x @ K - 2 * g), 0)

    def left(self, X: Array, A: Lifted, Y: Array, B: Lifted) -> Iterator[Left]:
        """The same of rows X and rows Y, and the inner products of what is left."""
        x, y = (self.kernel(rows) @ self.W @ self.W.T for rows in (X, Y))
        grams = zip(A.grams(B), A.grams(self.lifted), B.grams(self.lifted), self.lifted.grams(self.lifted), strict=True)
        for t, t_, (k, of_x, of_y, K) in zip(self.norms(X, A), self.norms(Y, B), grams, strict=True):
            yield t, t_, k - x @ of_y.T - of_x @ y.T + x @ K @ y.T


def anchor_kernel(split: Split, X: Array, Z: Array) -> Array:
    """k of rows and anchors, up to the last degree of the split."""
    g, g_ = (split.kernel.radial(rows) for rows in (X, Z))
    return np.outer(g, g_) * polyval(inner(X, Z), split.a)


@dataclass(frozen=True, eq=False)
class AnchoredSketch(Wrapper):
    """Equation (1)."""

    base: SplitSketch
    anchors: Anchors
    seconds: float  # of the fit

    def objection(self, D: int) -> str | None:
        return self.base.objection(D - self.anchors.W.shape[1])

    def facts(self) -> dict[str, Any]:
        return {"anchors": self.anchors.W.shape[1], "fit_seconds": self.seconds, **self.base.facts()}

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> "AnchoredMap":
        return AnchoredMap(self.base.sample(d, D - self.anchors.W.shape[1], rng, dtype), self.anchors)

    @property
    def closed_form(self) -> ClosedForm:
        return ClosedForm(self._variance, approximate=True)

    def _variance(self, X: Array, Y: Array, D: int) -> Array:
        split = self.base.split
        A, B = split.lifted(X), split.lifted(Y)
        left = list(self.anchors.left(X, A, Y, B))
        return sum(variances(A, B, self.base.law, self.base.counts, left), np.zeros((len(X), len(Y))))


class AnchoredMap(WrappedMap, Tiled):
    """Equation (1) for one draw of S."""

    def __init__(self, base: SplitMap, anchors: Anchors) -> None:
        super().__init__(base)
        self.split, g = anchors.split, anchors.split.kernel.radial(anchors.Z)
        S = base(anchors.Z.astype(self.dtype)).astype(np.float64)
        self.Z, self.a, self.W, self.correction = (
            np.ascontiguousarray(M, self.dtype)
            for M in (anchors.Z, self.split.a, (g[:, None] * anchors.W).T, S.T @ anchors.W)
        )
        self.D += len(self.W)

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        b, k = len(X), len(self.W)
        values = polyval(np.matmul(self.Z, X.T, out=scratch("anchors", (len(self.Z), b), self.dtype)), self.a)
        values *= self.split.kernel.radial(X).astype(self.dtype)
        known = np.matmul(self.W, values, out=scratch("known", (k, b), self.dtype))
        yield slice(0, k), known.T
        for features, Phi in self.base.tiles(X):
            size = features.stop - features.start
            Phi -= np.matmul(self.correction[features], known, out=scratch("correction", (size, b), self.dtype)).T
            yield slice(k + features.start, k + features.stop), Phi
