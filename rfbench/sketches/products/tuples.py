"""Product sketches of several inputs.

A product sketch takes p different inputs as easily as one p times: with independent sketches φᵢ of ⟨x, y⟩,

    Φ(x₁, …, x_p) = √D^{p−1} φ₁(x₁) ∘ ⋯ ∘ φ_p(x_p)       estimates  ⟨x₁, y₁⟩ ⋯ ⟨x_p, y_p⟩.            (1)

Count sketches are convolved instead: FFT⁻¹(FFT(φ₁(x₁)) ∘ ⋯ ∘ FFT(φ_p(x_p))) is the TensorSketch of several inputs.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.products.powers import FAMILIES
from rfbench.sketches.products.tensor_sketch import TensorSketch
from rfbench.sketches.wrappers import ComplexToReal

BASES = tuple(FAMILIES)


def require_base(base: str, others: Iterable[str] = ()) -> None:
    """Refuse a name that is neither a product sketch nor one of the others."""
    if base not in (known := (*BASES, *others)):
        raise InputError(f"sketch.base must be a product sketch; '{base}' was given, {did_you_mean(base, known)}")


def linear(features: FeatureMap, X: Array) -> Array:
    """Φ of real or complex rows by a map of degree one."""
    if not np.iscomplexobj(X):
        return features(X)
    return features(np.ascontiguousarray(X.real)) + 1j * features(np.ascontiguousarray(X.imag))


def multiply(Phi: Array, Psi: Array) -> Array:
    """√D Φ ∘ Ψ, in place of Φ."""
    Phi *= Psi
    Phi *= np.sqrt(Phi.shape[1]).astype(Phi.real.dtype)
    return Phi


def convolve(Phi: Array, Psi: Array) -> Array:
    """The circular convolution of the rows."""
    from scipy import fft

    if np.iscomplexobj(Phi):
        return fft.ifft(fft.fft(Phi) * fft.fft(Psi))
    return fft.irfft(fft.rfft(Phi) * fft.rfft(Psi), n=Phi.shape[1])


class TupleMap:
    """Equation (1): one draw of a sketch of ⟨x, y⟩ for each input, which have the given numbers of columns."""

    def __init__(self, one: Sketch, columns: Sequence[int], D: int, rng: np.random.Generator, dtype: Any) -> None:
        self.halves, self.D = isinstance(one, ComplexToReal), D
        part, count = (one.base, D // 2) if isinstance(one, ComplexToReal) else (one, D)
        self.join = convolve if isinstance(part, TensorSketch) else multiply
        self.maps = [part.sample(d, count, rng, dtype) for d in columns]

    def __call__(self, *inputs: Array) -> Array:
        """(n, d₁), …, (n, d_p) → (n, D)."""
        Phi, *others = (linear(features, X) for features, X in zip(self.maps, inputs, strict=True))
        for Psi in others:
            Phi = self.join(Phi, Psi)
        return np.concatenate((Phi.real, Phi.imag), axis=1) if self.halves else Phi
