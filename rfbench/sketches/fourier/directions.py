"""Frequencies ω = ϱ s: a radius ϱ with any distribution times a direction s on the unit sphere.

Directions are independent, or orthogonal within blocks: the columns of a Haar matrix [Yu et al. 2016, ORF], or the rows
of

    h^{−3/2} H D₁ H D₂ H D₃,        h the next power of two of d                                   (1)

[ibid., SORF], which are nearly orthogonal and cost h log h.  The radius of a Gaussian vector is χ_d; with (1) it is √h,
as there, unless other norms are asked for.

Two variants are in print and not the same for features that are not even functions of ⟨ω, x⟩, such as steps.  LAPACK's
Q, taken as it is, is not uniform: the first entry of its first column is never positive.  And signs may follow each
transform in place of preceding it, D₁ H D₂ H D₃ H: then the first transform meets the rows as they are.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, padded
from rfbench.blocks import columns_of, scratch, spans
from rfbench.checks import InputError
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.fourier.norms import NORMS
from rfbench.sketches.products.hadamard import transform
from rfbench.sketches.products.weights import gaussian, rademacher, truncated_gaussian


@dataclass(frozen=True)
class Directions(ABC):
    """A distribution of unit vectors."""

    lengths: str = "independent"  # of frequencies: a word of NORMS

    @property
    def independent(self) -> bool:
        """Whether the frequencies are independent of each other, so that the variance is known."""
        return False

    @property
    def stated_bias(self) -> str | None:
        """Why frequencies do not have the kernel's distribution, or None."""
        return None

    def on_sphere(self) -> "Directions":
        """Unit vectors: other vectors that `draw` takes, which keep their own lengths, are normalised."""
        return self

    def cosine(self, d: int) -> float | None:
        """Of the angle between two directions of a block of d, where it is known and their rotation is uniform."""
        return None

    def adapt(self, X: Array) -> "Directions":
        """The distribution fitted to training rows."""
        return self

    def dimension(self, d: int) -> int:
        """The dimension of the space of the sphere."""
        return d

    def norms(self, d: int, n: int, rng: np.random.Generator) -> Array:
        """Radii that turn n directions into standard Gaussian vectors."""
        return NORMS[self.lengths](self.dimension(d), n, rng)

    @abstractmethod
    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        """x → ⟨ω, x⟩, one ω per radius."""


class Independent(Directions):
    @property
    def independent(self) -> bool:
        return self.lengths == "independent"

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        W = gaussian((d, len(radius)), rng, dtype)
        W *= (radius / np.sqrt(np.einsum("ij,ij->j", W, W, dtype=np.float64))).astype(dtype)
        return Linear(W)


@dataclass(frozen=True)
class Truncated(Directions):
    """Vectors of independent entries N(0, 1) of limited size; they keep their own lengths."""

    at: float = 3.0

    @property
    def stated_bias(self) -> str:
        return f"entries of frequencies are at most {self.at:g} before they are scaled"

    def norms(self, d: int, n: int, rng: np.random.Generator) -> Array:
        return np.ones(n)

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        return Linear(truncated_gaussian((d, len(radius)), rng, dtype, self.at) * radius.astype(dtype))

    def on_sphere(self) -> Directions:
        raise InputError("truncated frequencies keep their lengths, and this kernel gives its own; use truncation=null")


@dataclass(frozen=True)
class Haar(Directions):
    uniform: bool = True  # otherwise the signs are LAPACK's
    truncation: float | None = None  # of the entries of the Gaussian matrix

    @property
    def stated_bias(self) -> str | None:
        return None if self.uniform and self.truncation is None else "its directions are not uniform on the sphere"

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        W = np.empty((d, len(radius)), dtype)
        for span in spans(len(radius), d):
            Q, R = np.linalg.qr(self._entries((d, span.stop - span.start), rng))
            # Fixing the signs of the diagonal makes the factorisation unique; only then is Q uniform.
            W[:, span] = Q * (np.sign(np.diag(R)) * radius[span] if self.uniform else radius[span])
        return Linear(W)

    def cosine(self, d: int) -> float | None:
        return 0.0 if self.stated_bias is None else None

    def _entries(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        if self.truncation is None:
            return gaussian(shape, rng, np.float64)
        return truncated_gaussian(shape, rng, np.float64, self.truncation)


class Matched(Directions):
    """Gaussian vectors moved and stretched such that their mean is 0 and their covariance I [Shen et al. 2017]."""

    stated_bias = "frequencies with matched moments are not quite Gaussian [Shen et al. 2017]"

    def norms(self, d: int, n: int, rng: np.random.Generator) -> Array:
        return np.ones(n)

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        n = len(radius)
        if n <= d:
            raise InputError(f"{n} frequencies of {d} columns cannot match moments; use more features than columns")
        Z = gaussian((d, n), rng, np.float64)
        Z -= Z.mean(1, keepdims=True)
        W = np.linalg.solve(np.linalg.cholesky(Z @ Z.T / n), Z)
        return Linear((W * radius).astype(dtype))

    def on_sphere(self) -> Directions:
        raise InputError("frequencies with matched moments keep their lengths, and this kernel or sketch gives its own")


class Simplex(Directions):
    """Blocks of d vectors with the largest angles, equal ones, rotated uniformly [Reid et al. 2023, Eq. 8]."""

    def cosine(self, d: int) -> float | None:
        return -1 / max(d - 1, 1)

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        W, S = np.empty((d, len(radius)), dtype), simplex(d)
        for span in spans(len(radius), d):
            Q = Haar().draw(d, np.ones(d), rng, np.float64)(np.eye(d))
            W[:, span] = (Q @ S)[:, : span.stop - span.start] * radius[span]
        return Linear(W)


def simplex(d: int) -> Array:
    """The d vertices of a simplex around the origin, in the first d − 1 coordinates; for d = 1 the point 1."""
    if d == 1:
        return np.ones((1, 1))
    centred = np.eye(d) - 1 / d  # of d unit vectors, which span d − 1 dimensions
    basis = np.linalg.svd(centred)[0] * (np.arange(d) < d - 1)
    return basis.T @ centred * np.sqrt(d / (d - 1))


@dataclass(frozen=True)
class Hadamard(Directions):
    lengths: str = "constant"
    signs_first: bool = True

    stated_bias = "directions by Hadamard matrices are not uniform [Yu et al. 2016]"

    def dimension(self, d: int) -> int:
        return padded(d)

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        h = padded(d)
        signs = rademacher((-(-len(radius) // h), 3, h), rng, dtype)
        return HadamardMap(d, signs, (radius / h**1.5).astype(dtype), self.signs_first)


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

    def __init__(self, d: int, signs: Array, scales: Array, signs_first: bool = True) -> None:
        self.signs, self.scales, self.signs_first = signs, scales, signs_first  # (blocks, 3, h), (D,)
        self.d, self.D, self.dtype = d, len(scales), scales.dtype

    def write(self, X: Array, out: Array) -> None:
        h = self.signs.shape[2]
        U, spare = scratch("transforms", (2, h, len(X)), self.dtype)
        columns = columns_of(X, self.dtype)
        for span, signs in zip(spans(self.D, h), self.signs, strict=True):
            if self.signs_first:
                np.multiply(columns, signs[0, : self.d, None], out=U[: self.d])
            else:
                U[: self.d] = columns
            for i in range(3):
                if i and self.signs_first:
                    U *= signs[i, :, None]
                U, spare = transform(U, spare, h if i else self.d)
                if not self.signs_first:
                    U *= signs[i, :, None]
            np.multiply(U[: span.stop - span.start], self.scales[span, None], out=out.T[span])
