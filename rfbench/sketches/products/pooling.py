"""Compact bilinear pooling: one vector for a set of local descriptors, or for a set and a second input.

    Bil(A) = Σ_l f(A, l) ⊗ f(A, l)           [Wacker 2022, Eq. 1.4]                                        (1)
    MulBil(A, t) = Σ_l f(A, l) ⊗ t           [ibid., Eq. 1.5]                                              (2)

have d² and d₁d₂ numbers; a sketch of degree 2 in place of ⊗ has D and preserves inner products in expectation [Gao et
al. 2016; Fukui et al. 2016].  (2) is linear in the descriptors, so they are summed first and sketched once.
"""

from collections.abc import Iterable

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.products.tuples import TupleMap


def bilinear_pooling(features: FeatureMap, sets: Iterable[Array]) -> Array:
    """Equation (1) for sets of shape (locations, d), by a map of ⟨x, y⟩²; its p-th power by a map of ⟨x, y⟩ᵖ."""

    def pooled(A: Array) -> Array:
        total = np.zeros(features.D, np.result_type(features.dtype, np.float64))
        for span in spans(len(A), features.chunk):
            total += features(A[span]).sum(0, dtype=total.dtype)
        return total

    return np.array([pooled(A) for A in sets], features.dtype)


def multimodal_pooling(features: TupleMap, sets: Iterable[Array], T: Array) -> Array:
    """Equation (2) for sets of shape (locations, d₁) and the rows of T, (sets, d₂)."""
    return features(np.array([A.sum(0, dtype=np.float64) for A in sets], T.dtype), T)
