"""How features change with the bias and the scale of a polynomial kernel (γ⟨x, y⟩ + ν)ᵖ.

A product sketch is Φ = z₁ ∘ ⋯ ∘ z_p with every zᵢ linear in the row (√γ x, √ν), so by the product rule

    Φ ← Φ ∘ zᵢ,      Φ' ← Φ' ∘ zᵢ + Φ ∘ zᵢ',                                                                (1)

where z' of ∂/∂log ν does not depend on x.  Φ is homogeneous of degree p in (√γ, √ν), so by Euler's theorem

    ∂Φ/∂log γ = p/2 Φ − ∂Φ/∂log ν.                                                                          (2)
"""

from collections.abc import Iterator
from functools import singledispatch
from math import sqrt
from typing import Any, Protocol

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.products.product import ProductMap
from rfbench.sketches.products.tensor_sketch import TensorSketchMap
from rfbench.sketches.products.tensor_srht import TensorSRHTMap
from rfbench.sketches.wrappers import AffineMap, ComplexToRealMap, Concatenated


class Factored(Protocol):
    """A map whose features are products."""

    def factors(self, X: Array) -> Iterator[Array]:
        """z₁ .. z_p of at most `chunk` rows; only the first keeps its buffer."""

    def finish(self, product: Array) -> Array:
        """Φ, (b, D), from the product of the factors."""


def with_slope(features: AffineMap, X: Array) -> tuple[Array, Array]:
    """Φ(X) and ∂Φ/∂log ν."""
    Phi, slope = (np.empty((len(X), features.D), features.dtype) for _ in range(2))
    direction = np.zeros((1, features.base.d), X.dtype)
    direction[:, features.d :] = sqrt(features.bias) / 2
    for span in spans(len(X), features.chunk):
        Phi[span], slope[span] = along(features.base, features.augmented(X[span]), direction)
    return Phi, slope


@singledispatch
def along(features: FeatureMap, X: Array, direction: Array) -> tuple[Array, Array]:
    """Φ(x) and d/dt Φ(x + t v) at t = 0, of at most `chunk` rows."""
    raise TypeError(f"{type(features).__name__} has no slope")


@along.register(ProductMap)
@along.register(TensorSRHTMap)
@along.register(TensorSketchMap)
def _(features: Factored, X: Array, direction: Array) -> tuple[Array, Array]:
    constants = [factor.copy() for factor in features.factors(direction)]
    product: Any = None
    for z, constant in zip(features.factors(X), constants, strict=True):
        if product is None:
            product, slope = z, np.broadcast_to(constant, z.shape).copy()
        else:
            slope *= z
            slope += product * constant
            product *= z
    return features.finish(product), features.finish(slope)


@along.register
def _(features: ComplexToRealMap, X: Array, direction: Array) -> tuple[Array, Array]:
    Phi, slope = along(features.base, X, direction)
    return np.concatenate((Phi.real, Phi.imag), 1), np.concatenate((slope.real, slope.imag), 1)


@along.register
def _(features: Concatenated, X: Array, direction: Array) -> tuple[Array, Array]:
    # The product is a copy: the next part overwrites the buffer of this one's result.
    parts = [
        [float(weight) * array for array in along(part, X, direction)]
        for part, weight in zip(features.maps, features.weights, strict=True)
    ]
    Phi, slope = (np.concatenate(arrays, 1) for arrays in zip(*parts, strict=True))
    return Phi, slope
