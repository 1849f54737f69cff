"""Product sketches of several inputs.

A product sketch takes p different inputs as easily as one p times: with independent sketches φᵢ of ⟨x, y⟩,

    Φ(x₁, …, x_p) = √D^{p−1} φ₁(x₁) ∘ ⋯ ∘ φ_p(x_p)       estimates  ⟨x₁, y₁⟩ ⋯ ⟨x_p, y_p⟩.            (1)
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.products.powers import FAMILIES, homogeneous
from rfbench.sketches.products.tensor_sketch import TensorSketch
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, RADEMACHER

BASES = tuple(FAMILIES)


def require_base(base: str) -> None:
    """Refuse what is not a product sketch."""
    if base not in BASES:
        raise InputError(f"sketch.base must be a product sketch; '{base}' was given, {did_you_mean(base, BASES)}")


def linear(features: FeatureMap, X: Array) -> Array:
    """A map of degree one on real or complex rows."""
    if not np.iscomplexobj(X):
        return features(X)
    return features(np.ascontiguousarray(X.real)) + 1j * features(np.ascontiguousarray(X.imag))


class TupleMap:
    """Equation (1): one draw for inputs of the given numbers of columns."""

    def __init__(self, base: str, columns: Sequence[int], D: int, rng: np.random.Generator, dtype: Any) -> None:
        self.halves = base.startswith("ctr_")
        one, count = self.of_one(base.replace("ctr_", "complex_")), D // 2 if self.halves else D
        self.maps = [one.sample(d, count, rng, dtype) for d in columns]
        self.D = D

    @staticmethod
    def of_one(base: str) -> Sketch:
        """The sketch of each input."""
        require_base(base)
        return homogeneous(base, 1)

    def combine(self, Phi: Array, Psi: Array) -> Array:
        Phi = Phi * Psi
        Phi *= np.sqrt(Phi.shape[1]).astype(Phi.real.dtype)
        return Phi

    def __call__(self, *inputs: Array) -> Array:
        """(n, d₁), …, (n, d_p) → (n, D)."""
        Phi = reduce(self.combine, (linear(features, X) for features, X in zip(self.maps, inputs, strict=True)))
        return np.concatenate((Phi.real, Phi.imag), axis=1) if self.halves else Phi


class ConvolvedMap(TupleMap):
    """TensorSketch of several inputs: a count sketch of x₁ ⊗ ⋯ ⊗ x_p, by convolving those of each."""

    @staticmethod
    def of_one(base: str) -> Sketch:
        return TensorSketch(1, COMPLEX_RADEMACHER if base.startswith("complex_") else RADEMACHER)

    def combine(self, Phi: Array, Psi: Array) -> Array:
        from scipy import fft

        if np.iscomplexobj(Phi):
            return fft.ifft(fft.fft(Phi) * fft.fft(Psi))
        return fft.irfft(fft.rfft(Phi) * fft.rfft(Psi), Phi.shape[1])


def tuple_map(base: str, columns: Sequence[int], D: int, rng: np.random.Generator, dtype: Any = np.float32) -> TupleMap:
    """One draw of any product sketch, or of TensorSketch, for inputs of the given numbers of columns."""
    return (ConvolvedMap if base.endswith("tensorsketch") else TupleMap)(base, columns, D, rng, dtype)
