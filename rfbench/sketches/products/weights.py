"""Distributions of a weight vector w with i.i.d. entries and E[w w*] = I, and their fourth moments.

With s = ⟨x, y⟩², N = ‖x‖²‖y‖², S = Σ xᵢ²yᵢ², κ = E|wᵢ|⁴ and t = |E wᵢ²|²,

    E |⟨w, x⟩|² |⟨w, y⟩|²      = N + (1 + t) s + (κ − 2 − t) S                (1)
    E ⟨w, x⟩² conj(⟨w, y⟩)²    = t N + 2 s + (κ − 2 − t) S                    (2)

(1) gives Wacker 2022, Eq. 3.16, and (2) the pseudo-variances of Table 4.1.  If the real part has the variance q and is
uncorrelated with the imaginary part (Eq. 3.15), then t = (2q − 1)²: 1 for real weights, 0 for complex ones of q = ½.
Weights of modulus 1 have the smallest possible κ, and so the smallest variance for their q (Theorem 3.3.1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, complex_type, inner, squared_norms

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Law:
    """Draws arrays of i.i.d. weights."""

    draw: Callable[[Shape, np.random.Generator, Any], Array]
    kurtosis: float  # κ
    t: float

    @property
    def real(self) -> bool:
        """Whether the weights are real numbers."""
        return self.t == 1

    def second_moment(self, X: Array, Y: Array) -> Array:
        """Equation (1) for all pairs."""
        return self._moment(X, Y, 1, 1 + self.t)

    def pseudo_moment(self, X: Array, Y: Array) -> Array:
        """Equation (2) for all pairs."""
        return self._moment(X, Y, self.t, 2)

    def _moment(self, X: Array, Y: Array, of_norms: float, of_inner: float) -> Array:
        X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
        N = np.outer(squared_norms(X), squared_norms(Y))
        S = inner(X**2, Y**2)
        return of_norms * N + of_inner * inner(X, Y) ** 2 + (self.kurtosis - 2 - self.t) * S


def _bits(n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(rng.bytes(-(-n // 8)), np.uint8), count=n)


def rademacher(shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
    """Uniform on {1, −1}."""
    w = _bits(prod(shape), rng).astype(dtype)
    w *= -2
    w += 1
    return w.reshape(shape)


def complex_rademacher(shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
    """Uniform on {1, −1, i, −i}: either the real or the imaginary part is zero [Wacker 2022, Example 4]."""
    sign = rademacher(shape, rng, dtype)
    return on_axes(sign, _bits(prod(shape), rng).reshape(shape))


def on_axes(sign: Array, imaginary: NDArray[np.uint8]) -> Array:
    """i · sign where imaginary is 1, and sign where it is 0."""
    w = np.empty(sign.shape, complex_type(sign.dtype))
    np.multiply(sign, 1 - imaginary, out=w.real, casting="unsafe")
    np.multiply(sign, imaginary, out=w.imag, casting="unsafe")
    return w


def gaussian(shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
    """N(0, 1); drawn in float32, so that both precisions have the same weights."""
    return rng.standard_normal(shape, np.float32).astype(dtype, copy=False)


def truncated_gaussian(shape: Shape, rng: np.random.Generator, dtype: Any, at: float) -> Array:
    """N(0, 1) given that it is at most `at` in size; not rescaled."""
    from scipy.special import ndtr, ndtri

    below = float(ndtr(-at))
    return np.asarray(ndtri(below + (1 - 2 * below) * rng.random(shape))).astype(dtype)


def complex_gaussian(shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
    """CN(0, 1)."""
    pairs = gaussian((*shape, 2), rng, dtype)
    pairs *= np.sqrt(0.5)
    return pairs.view(complex_type(dtype))[..., 0]


RADEMACHER = Law(rademacher, kurtosis=1, t=1)
GAUSSIAN = Law(gaussian, kurtosis=3, t=1)
COMPLEX_RADEMACHER = Law(complex_rademacher, kurtosis=1, t=0)
COMPLEX_GAUSSIAN = Law(complex_gaussian, kurtosis=2, t=0)
