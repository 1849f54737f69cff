"""Fastfood: directions from two Hadamard transforms and a Gaussian diagonal [Le, Sarlós & Smola 2013].

A block is S H G Π H B with random signs B, a permutation Π, N(0, 1) on the diagonal of G, and S, which gives every row
its radius.  Given B and Π, a row of H G Π H B is Gaussian with covariance h I, h the next power of two of d: so its
direction is exactly uniform and independent of its length √h ‖G‖, which the rows of a block have in common.  With
independent radii χ_h every frequency is exactly Gaussian and the features are unbiased.

The frequencies of a block are dependent, and the variance is not known in closed form [ibid. has an upper bound].
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, padded
from rfbench.blocks import columns_of, scratch, spans
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.fourier.directions import Directions
from rfbench.sketches.products.hadamard import transform
from rfbench.sketches.products.weights import gaussian, rademacher


class Fastfood(Directions):
    def dimension(self, d: int) -> int:
        return padded(d)

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        h = padded(d)
        shape = (-(-len(radius) // h), h)
        signs, G = rademacher(shape, rng, dtype), gaussian(shape, rng, dtype)
        places = rng.permuted(np.tile(np.arange(h), (len(G), 1)), axis=1)
        G /= np.sqrt(h * np.einsum("ij,ij->i", G, G, dtype=np.float64))[:, None].astype(dtype)
        return FastfoodMap(signs[:, :d], places, G, radius.astype(dtype))


FASTFOOD = Fastfood()


class FastfoodMap(FeatureMap):
    """S H G Π H B x, block by block, feature-major."""

    order = "F"

    def __init__(self, signs: Array, places: NDArray[np.integer], G: Array, S: Array) -> None:
        self.signs, self.places, self.G, self.S = signs, places, G, S  # (blocks, d), twice (blocks, h), (D,)
        self.d, self.D, self.dtype = signs.shape[1], len(S), S.dtype

    def write(self, X: Array, out: Array) -> None:
        h = self.G.shape[1]
        U, spare = scratch("transforms", (2, h, len(X)), self.dtype)
        columns = columns_of(X, self.dtype)
        for span, signs, places, G in zip(spans(self.D, h), self.signs, self.places, self.G, strict=True):
            np.multiply(columns, signs[:, None], out=U[: self.d])
            U, spare = transform(U, spare, self.d)
            np.take(U, places, axis=0, out=spare, mode="clip")
            spare *= G[:, None]
            U, spare = transform(spare, U, h)
            np.multiply(U[: span.stop - span.start], self.S[span, None], out=out.T[span])
