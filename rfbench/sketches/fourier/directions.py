"""Frequencies ω = ϱ s: a radius ϱ with any distribution times a direction s on the unit sphere.

Directions are independent, or orthogonal within blocks: the columns of a Haar matrix [Yu et al. 2016, ORF], or the rows
of

    h^{−3/2} H D₁ H D₂ H D₃,        h the next power of two of d                                   (1)

[ibid., SORF], which are nearly orthogonal and cost h log h.  The radius of a Gaussian vector is χ_d; with (1) it is √h,
as there.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, padded
from rfbench.blocks import columns_of, scratch, spans
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.products.hadamard import transform
from rfbench.sketches.products.weights import gaussian, rademacher


@dataclass(frozen=True)
class Directions(ABC):
    """A distribution of unit vectors."""

    @property
    def independent(self) -> bool:
        """Whether the frequencies are independent of each other, so that the variance is known."""
        return False

    @property
    def stated_bias(self) -> str | None:
        """Why frequencies do not have the kernel's distribution, or None."""
        return None

    def adapt(self, X: Array) -> "Directions":
        """The distribution fitted to training rows."""
        return self

    def dimension(self, d: int) -> int:
        """The dimension of the space of the sphere."""
        return d

    def norms(self, d: int, n: int, rng: np.random.Generator) -> Array:
        """Radii that turn n directions into standard Gaussian vectors."""
        return np.sqrt(rng.chisquare(d, n))

    @abstractmethod
    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        """x → ⟨ω, x⟩, one ω per radius."""


class Independent(Directions):
    independent = True

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        W = gaussian((d, len(radius)), rng, dtype)
        W *= (radius / np.sqrt(np.einsum("ij,ij->j", W, W, dtype=np.float64))).astype(dtype)
        return Linear(W)


class Haar(Directions):
    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        W = np.empty((d, len(radius)), dtype)
        for span in spans(len(radius), d):
            Q, R = np.linalg.qr(gaussian((d, span.stop - span.start), rng, np.float64))
            # Fixing the signs of the diagonal makes the factorisation unique; only then is Q uniform.
            W[:, span] = Q * (np.sign(np.diag(R)) * radius[span])
        return Linear(W)


class Hadamard(Directions):
    stated_bias = "directions by Hadamard matrices are not uniform [Yu et al. 2016]"

    def dimension(self, d: int) -> int:
        return padded(d)

    def norms(self, d: int, n: int, rng: np.random.Generator) -> Array:
        return np.full(n, np.sqrt(padded(d)))

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        h = padded(d)
        signs = rademacher((-(-len(radius) // h), 3, h), rng, dtype)
        return HadamardMap(d, signs, (radius / h**1.5).astype(dtype))


INDEPENDENT, HAAR, HADAMARD = Independent(), Haar(), Hadamard()


class Linear(FeatureMap):
    """x → xW."""

    def __init__(self, W: Array) -> None:
        self.W = W  # (d, D)
        (self.d, self.D), self.dtype = W.shape, W.dtype

    def write(self, X: Array, out: Array) -> None:
        np.matmul(X, self.W, out=out)


class HadamardMap(FeatureMap):
    """Equation (1), block by block, feature-major."""

    order = "F"

    def __init__(self, d: int, signs: Array, scales: Array) -> None:
        self.signs, self.scales = signs, scales  # (blocks, 3, h), (D,)
        self.d, self.D, self.dtype = d, len(scales), scales.dtype

    def write(self, X: Array, out: Array) -> None:
        h = self.signs.shape[2]
        U, spare = scratch("transforms", (2, h, len(X)), self.dtype)
        columns = columns_of(X, self.dtype)
        for span, signs in zip(spans(self.D, h), self.signs, strict=True):
            np.multiply(columns, signs[0, : self.d, None], out=U[: self.d])
            for i in range(3):
                if i:
                    U *= signs[i, :, None]
                U, spare = transform(U, spare, h if i else self.d)
            np.multiply(U[: span.stop - span.start], self.scales[span, None], out=out.T[span])
