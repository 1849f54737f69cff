"""Product sketches of several inputs.

A product sketch takes p different inputs as easily as one p times: with independent sketches φᵢ of ⟨x, y⟩,

    Φ(x₁, …, x_p) = √D^{p−1} φ₁(x₁) ∘ ⋯ ∘ φ_p(x_p)       estimates  ⟨x₁, y₁⟩ ⋯ ⟨x_p, y_p⟩.            (1)
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.products.powers import FAMILIES, homogeneous

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


class TupleMap:
    """Equation (1): one draw for inputs with the given numbers of columns."""

    def __init__(self, base: str, columns: Sequence[int], D: int, rng: np.random.Generator, dtype: Any) -> None:
        require_base(base)
        self.halves, self.D = base.startswith("ctr_"), D
        one, count = homogeneous(base.replace("ctr_", "complex_"), 1), D // 2 if self.halves else D
        self.maps = [one.sample(d, count, rng, dtype) for d in columns]

    def __call__(self, *inputs: Array) -> Array:
        """(n, d₁), …, (n, d_p) → (n, D)."""
        Phi, *others = (linear(features, X) for features, X in zip(self.maps, inputs, strict=True))
        for Psi in others:
            Phi *= Psi
            Phi *= np.sqrt(Phi.shape[1]).astype(Phi.real.dtype)
        return np.concatenate((Phi.real, Phi.imag), axis=1) if self.halves else Phi
