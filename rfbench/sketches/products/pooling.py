"""Compact bilinear pooling: one vector for a set of local descriptors, or for a set and a second input.

    Bil(A) = Σ_l f(A, l) ⊗ f(A, l)           [Wacker 2022, Eq. 1.4]                                        (1)
    MulBil(A, t) = Σ_l f(A, l) ⊗ t           [ibid., Eq. 1.5]                                              (2)

have d² and d₁d₂ numbers; a sketch of degree 2 in place of ⊗ has D and preserves inner products in expectation [Gao et
al. 2016; Fukui et al. 2016].  (2) is linear in the descriptors, so they are summed first and sketched once.  In place
of ⟨a, b⟩², (1) takes any kernel of descriptors, and (2) any (γ⟨a, b⟩ + ν)(γ⟨t, u⟩ + ν): √ν is appended to both.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rfbench.arrays import Array, complex_type
from rfbench.blocks import scratch, spans
from rfbench.kernels.base import Kernel
from rfbench.kernels.polynomial import AffinePower
from rfbench.kernels.pooled import Multimodal, Patches, Pooled
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.exact import Exact
from rfbench.sketches.products.product import ProductSketch
from rfbench.sketches.products.tensor_sketch import TensorSketch
from rfbench.sketches.products.tuples import TupleMap
from rfbench.sketches.wrappers import Affine, ComplexToReal, WrappedMap, Wrapper, augment

TOGETHER = 16  # rows whose descriptors are summed by one matrix product: more would cost more than their features


def pooled_kernel(kernel: Kernel, patches: Patches) -> Kernel:
    """The kernel of images from that of their descriptors."""
    if not patches.halves:
        return Pooled(kernel, patches)
    assert isinstance(kernel, AffinePower)
    return Multimodal(kernel, patches)


def pooled(sketch: Sketch, kernel: Kernel, patches: Patches) -> Sketch:
    """The sketch of images from that of their descriptors."""
    if not sketch.explicit:
        return Exact(pooled_kernel(kernel, patches))
    return (MultimodalSketch if patches.halves else PooledSketch)(sketch, patches)


@dataclass(frozen=True)
class PooledSketch(Wrapper):
    """Equation (1): the sum of the features of all descriptors."""

    patches: Patches

    def adapt(self, X: Array, D: int) -> Sketch:
        return replace(self, base=self.base.adapt(self.patches.one_each(X), D))

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        c = self.patches(np.empty((1, d))).shape[2]
        return PooledMap(self.base.sample(c, D, rng, dtype), self.patches, d)


class PooledMap(WrappedMap):
    def __init__(self, base: FeatureMap, patches: Patches, d: int) -> None:
        super().__init__(base)
        self.patches, self.d = patches, d

    def write(self, X: Array, out: Array) -> None:
        A = self.patches(X)
        _, L, c = A.shape
        out[...] = 0
        for rows in spans(len(X), min(max(self.base.chunk // L, 1), TOGETHER)):
            for places in spans(L, self.base.chunk):
                block = A[rows, places]
                n, m, _ = block.shape
                shape = (n * m, self.D) if self.order == "C" else (self.D, n * m)
                Phi = scratch("descriptors", shape, self.dtype)
                Phi = Phi if self.order == "C" else Phi.T
                self.base.write(block.reshape(-1, c), Phi)
                out[rows] += np.kron(np.eye(n, dtype=self.dtype), np.ones(m, self.dtype)) @ Phi


@dataclass(frozen=True)
class MultimodalSketch(Wrapper):
    """Equation (2), by the factors of a product sketch of (γ⟨x, y⟩ + ν)²."""

    patches: Patches

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        square, gamma, bias = self.base, 1.0, 0.0
        if isinstance(square, Affine):
            gamma, bias, square = square.gamma, square.bias, square.base
        row = np.empty((1, d))
        columns = [part.shape[-1] + (bias > 0) for part in (self.patches(row), self.patches.second(row))]
        pair = TupleMap(linear_factor(square), columns, D, rng, dtype)
        dtype = complex_type(dtype) if self.is_complex else np.dtype(dtype)
        return MultimodalMap(pair, self.patches, d, gamma, bias, dtype)


def linear_factor(sketch: Sketch) -> Sketch:
    """The sketch of ⟨x, y⟩ whose independent draws are the factors of a product sketch."""
    if isinstance(sketch, ComplexToReal):
        return replace(sketch, base=linear_factor(sketch.base))
    assert isinstance(sketch, ProductSketch | TensorSketch)
    return replace(sketch, degree=1)


class MultimodalMap(FeatureMap):
    def __init__(
        self, pair: TupleMap, patches: Patches, d: int, gamma: float, bias: float, dtype: np.dtype[Any]
    ) -> None:
        self.pair, self.patches, self.gamma, self.bias = pair, patches, gamma, bias
        self.d, self.D, self.dtype = d, pair.D, dtype

    def write(self, X: Array, out: Array) -> None:
        A = self.patches(X)
        # √ν is appended to each of the L descriptors, so their sum has L √ν.
        sums, second = A.sum(1, dtype=X.dtype), self.patches.second(X)
        out[...] = self.pair(self.augmented(sums, A.shape[1]), self.augmented(second, 1))

    def augmented(self, X: Array, count: int) -> Array:
        rows = np.empty((len(X), X.shape[1] + (self.bias > 0)), X.dtype)
        return augment(X, rows, self.gamma, count**2 * self.bias)
