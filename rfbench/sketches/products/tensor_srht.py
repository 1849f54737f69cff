"""TensorSRHT: product sketches whose projections are rows of randomised Hadamard matrices.

    Φ(x) = (P₁ H D₁ x) ∘ ⋯ ∘ (P_p H D_p x) / √D                  [Wacker 2022, Eq. 3.30]

Dᵢ holds random signs, Pᵢ picks D of the d rows.  Upsampled: the indices 1..d, repeated ⌈D/d⌉ times, are shuffled
once per degree, so p transforms of size d serve any D.  Stacked: ⌈D/d⌉ independent blocks of at most d features
(Algorithm 2).  For D ≤ d they are the same.  Only here is x padded with zeros to a power of two.

Maclaurin features are allocated by a convex approximation of the mean variance over pairs of rows: with V that of one
feature, h rows of a block, W = h times that of h features and C = (W − V)/(h − 1), that of r features is

    v(r) = (V − C)/r + C   for r ≤ h and C ≤ 0,        W/r   otherwise              [Wacker 2022, D.4 and D.5]   (1)

which is exact for r ≤ h and for full stacked blocks if C ≤ 0.  Upsampled TensorSRHT, which the thesis omits, is the
same sketch for r ≤ h and has about W/r beyond, so it has the same approximation; complex-to-real ones have it in pairs.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, inner, padded
from rfbench.blocks import columns_of, rows_of_lines, scratch, spans
from rfbench.sketches.base import FeatureMap, Tiled
from rfbench.sketches.products.hadamard import transform
from rfbench.sketches.products.product import ProductSketch, multiplied
from rfbench.sketches.wrappers import Concatenated

TILE = 2048  # features computed at once: their factors are read and written in the cache, for any D


def surrogate(V: float, W: float, h: int, r: Array) -> Array:
    """Equation (1).  Independent features have h = 1."""
    C = (W - V) / max(h - 1, 1)
    return np.where((r <= h) & (C <= 0), (V - C) / r + C, W / r)


class TensorSRHT(ProductSketch):
    """Upsampled TensorSRHT; every feature shares the p Hadamard matrices."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        h = padded(d)
        # Signs for the padding too: draws do not depend on how many columns are zero.
        signs = self.law.draw((self.degree, h), rng, dtype)
        signs[0] /= np.sqrt(D)
        rows = np.tile(np.arange(h), (self.degree, -(-D // h)))
        return TensorSRHTMap(signs[:, :d], rng.permuted(rows, axis=1)[:, :D])

    def coupling(self, d: int, D: int) -> tuple[float, int]:
        h = padded(d)
        return 1 - 1 / D, -(-D // h) * h


class StackedTensorSRHT(TensorSRHT):
    """Stacked TensorSRHT; features of different blocks are independent."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        sizes = [span.stop - span.start for span in spans(D, padded(d))]
        maps = [super(StackedTensorSRHT, self).sample(d, size, rng, dtype) for size in sizes]
        return StackedMap(maps, np.sqrt(np.divide(sizes, D)))

    def coupling(self, d: int, D: int) -> tuple[float, int]:
        h = padded(d)
        rest = D % h
        return (D // h * h * (h - 1) + rest * (rest - 1)) / D**2, h

    def surrogate_variance(self, X: Array, pairs: tuple[Array, Array], D: int) -> float:
        h = padded(X.shape[1])
        V, W = (r * float(self.closed_form.variance(X, X, r)[pairs].mean()) for r in (1, h))
        return float(surrogate(V, W, h, np.array(D)))


class AhleTensorSRHT(TensorSRHT):
    """TensorSRHT of Ahle et al. (2020): D different index tuples of the hᵖ there are [Wacker 2022, Eq. 2.25].

    Over all tuples the estimate is exact, so it is the mean of a sample without replacement, and its variance is that
    of the Rademacher sketch times (N − D)/(N − 1) for a finite population, N = hᵖ.
    """

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        h = padded(d)
        signs = self.law.draw((self.degree, h), rng, dtype)
        signs[0] /= np.sqrt(D)
        return TensorSRHTMap(signs[:, :d], different_tuples(h, self.degree, D, rng))

    def _spread(self, X: Array, Y: Array, D: int, m: Array) -> Array:
        p, s = self.degree, inner(X, Y) ** 2
        N = padded(X.shape[1]) ** p
        rest = D % N  # complete rounds over all tuples have no variance
        return (m**p - s**p) * rest / D**2 * (N - rest) / max(N - 1, 1)


def different_tuples(h: int, p: int, D: int, rng: np.random.Generator) -> NDArray[np.integer]:
    """(p, D) indices below h: as many complete rounds over the hᵖ tuples as fit, then different ones."""
    N = h**p
    if N <= 8 * D:
        flat = np.concatenate([*(np.arange(N) for _ in range(D // N)), rng.permutation(N)[: D % N]])
        # The order does not matter for one sketch, but it does beside another one, as in tuples.py.
        return np.array(np.unravel_index(rng.permutation(flat), (h,) * p))
    found = np.empty((p, 0), np.int64)
    while found.shape[1] < D:  # duplicates are rare
        found = np.unique(np.concatenate((found, rng.integers(0, h, (p, D))), axis=1), axis=1)
    return found[:, rng.permutation(found.shape[1])[:D]]


def transformed(columns: Array, signs: Array, kept: int) -> Iterator[Array]:
    """H Dᵢ x for the columns of a (d, b) array of the type of the signs, (p, d); the last `kept` results stay."""
    (d, b), dtype = columns.shape, signs.dtype
    *blocks, spare = scratch("transforms", (kept + 1, padded(d), b), dtype).view(signs.real.dtype)
    for i, sign in enumerate(signs):
        U = blocks[i % kept]
        np.multiply(columns, sign[:, None], out=U[:d].view(dtype))
        # H mixes rows, not real and imaginary parts: a complex block is a real one, twice as wide.
        U, spare = transform(U, spare, d)
        blocks[i % kept] = U
        yield U.view(dtype)


class TensorSRHTMap(Tiled):
    """One draw, feature-major: rows of a block lie along the fast axis, so picking features copies contiguous runs."""

    order = "F"

    def __init__(self, signs: Array, index: NDArray[np.integer]) -> None:
        self.signs, self.index = signs, index  # (p, d), (p, D)
        self.d, self.D, self.dtype = signs.shape[1], index.shape[1], signs.dtype

    @property
    def chunk(self) -> int:
        # As many as keep one transform in the cache of a core, but enough to be worth a call.
        return rows_of_lines(min(max(4, 2**13 // padded(self.d)), 16), self.dtype)

    def transforms(self, X: Array, kept: int = 1) -> Iterator[Array]:
        """H Dᵢ x for i = 1..p, (h, b), of which the last `kept` keep their buffers."""
        ready = X.dtype == self.dtype and X.flags.f_contiguous
        return transformed(X.T if ready else columns_of(X, self.dtype), self.signs, kept)

    def gathered(self, transforms: Iterable[Array], features: slice) -> Iterator[Array]:
        """The features' rows of each transform; only the first keeps its buffer."""
        for i, (U, index) in enumerate(zip(transforms, self.index[:, features], strict=True)):
            into = scratch("factor" if i else "product", (len(index), U.shape[1]), self.dtype)
            yield np.take(U, index, axis=0, out=into, mode="clip")

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        transforms = self.transforms(X) if self.D <= TILE else list(self.transforms(X, len(self.signs)))
        for features in spans(self.D, TILE):
            yield features, multiplied(self.gathered(transforms, features)).T

    def factors(self, X: Array) -> Iterator[Array]:
        """Pᵢ H Dᵢ x for i = 1..p, (D, b); only the first keeps its buffer."""
        return self.gathered(self.transforms(X), slice(None))

    def finish(self, product: Array) -> Array:
        return product.T


class StackedMap(Concatenated):
    """Blocks of features, for all of which the rows are transposed once."""

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        return super().tiles(columns_of(X, self.dtype).T)
