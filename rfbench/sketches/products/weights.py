"""Distributions of a weight vector w with i.i.d. entries and E[w w*] = I, and their fourth moments.

With s = ⟨x, y⟩², N = ‖x‖²‖y‖², S = Σ xᵢ²yᵢ², κ = E|wᵢ|⁴ and t = |E wᵢ²|² (1 for real, 0 for complex weights),

    E |⟨w, x⟩|² |⟨w, y⟩|²      = N + (1 + t) s + (κ − 2 − t) S                (1)
    E ⟨w, x⟩² conj(⟨w, y⟩)²    = t N + 2 s + (κ − 2 − t) S                    (2)

(1) gives Wacker 2022, Eq. 3.16, for q = 1 and ½; (2) the pseudo-variances of Table 4.1.  Rademacher weights have the
smallest possible κ, and so the smallest variance (Theorem 3.3.1).
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
    real: bool  # t

    def second_moment(self, X: Array, Y: Array) -> Array:
        """Equation (1) for all pairs."""
        return self._moment(X, Y, 1, 1 + self.real)

    def pseudo_moment(self, X: Array, Y: Array) -> Array:
        """Equation (2) for all pairs."""
        return self._moment(X, Y, self.real, 2)

    def _moment(self, X: Array, Y: Array, of_norms: float, of_inner: float) -> Array:
        X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
        N = np.outer(squared_norms(X), squared_norms(Y))
        S = inner(X**2, Y**2)
        return of_norms * N + of_inner * inner(X, Y) ** 2 + (self.kurtosis - 2 - self.real) * S


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
    imaginary = _bits(prod(shape), rng).reshape(shape)
    w = np.empty(shape, complex_type(dtype))
    np.multiply(sign, 1 - imaginary, out=w.real, casting="unsafe")
    np.multiply(sign, imaginary, out=w.imag, casting="unsafe")
    return w


def gaussian(shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
    """N(0, 1); drawn in float32, so that both precisions have the same weights."""
    return rng.standard_normal(shape, np.float32).astype(dtype, copy=False)


def complex_gaussian(shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
    """CN(0, 1)."""
    pairs = gaussian((*shape, 2), rng, dtype)
    pairs *= np.sqrt(0.5)
    return pairs.view(complex_type(dtype))[..., 0]


RADEMACHER = Law(rademacher, kurtosis=1, real=True)
GAUSSIAN = Law(gaussian, kurtosis=3, real=True)
COMPLEX_RADEMACHER = Law(complex_rademacher, kurtosis=1, real=False)
COMPLEX_GAUSSIAN = Law(complex_gaussian, kurtosis=2, real=False)
