"""Product sketches with weights between real and complex ones, and on the unit circle.

    mixed     w = ±1 with probability q, else ±i                       κ = 1       [Wacker 2022, below Eq. 3.17]     (1)
              w = N(0, q) + i N(0, 1 − q), where the base is Gaussian  κ = 2 + t                                     (2)
    circle    w = e^{iθ} with θ uniform, or on the k-th roots of 1     κ = 1       [ibid., 3.5.2, example (3)]       (3)

(1) and (2) have t = (2q − 1)², so q = 1 and 0 are real weights up to a constant factor and q = ½ complex ones.  (3) has
t = 0 for every k > 2, and so the variance of {1, −1, i, −i}, which are the fourth roots.  Hadamard bases need weights
of modulus 1: then the mean over the rows of a block is the exact inner product (Theorem 3.5.9).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rfbench.arrays import Array, complex_type
from rfbench.checks import InputError, require
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.product import ProductSketch
from rfbench.sketches.products.tuples import require_base
from rfbench.sketches.products.weights import GAUSSIAN, RADEMACHER, Law, Shape, gaussian, on_axes, rademacher
from rfbench.sketches.wrappers import ComplexToReal, affine


@dataclass(frozen=True)
class MixedSigns:
    """Law (1)."""

    q: float

    def __call__(self, shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
        sign = rademacher(shape, rng, dtype)
        return on_axes(sign, (rng.random(shape, np.float32) >= self.q).view(np.uint8))


@dataclass(frozen=True)
class MixedGaussian:
    """Law (2)."""

    q: float

    def __call__(self, shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
        pairs = gaussian((*shape, 2), rng, dtype)
        pairs *= np.sqrt([self.q, 1 - self.q]).astype(dtype)
        return pairs.view(complex_type(dtype))[..., 0]


@dataclass(frozen=True)
class Circle:
    """Law (3); roots = 0 is the whole circle."""

    roots: int

    def __call__(self, shape: Shape, rng: np.random.Generator, dtype: Any) -> Array:
        if self.roots:
            table = np.exp(2j * np.pi * np.arange(self.roots) / self.roots).astype(complex_type(dtype))
            return table[rng.integers(0, self.roots, shape)]
        turns = rng.random(shape, np.float32).astype(dtype, copy=False)
        w = np.empty(shape, complex_type(dtype))
        turns *= 2 * np.pi
        np.cos(turns, out=w.real)
        np.sin(turns, out=w.imag)
        return w


def mixed(q: float, is_gaussian: bool) -> Law:
    """Law (1) or (2)."""
    t = (2 * q - 1) ** 2
    if t == 1:
        return GAUSSIAN if is_gaussian else RADEMACHER
    return Law(MixedGaussian(q), 2 + t, t) if is_gaussian else Law(MixedSigns(q), 1, t)


def mixed_weights(kernel: AffinePower, base: str = "ctr_rademacher", q: float = 0.75) -> Sketch:
    require(0 <= q <= 1, "sketch.q", "from 0 to 1", q)
    return reweighted(kernel, base, mixed(q, base.endswith("_gaussian")))


def circle_weights(kernel: AffinePower, base: str = "ctr_rademacher", roots: int = 0) -> Sketch:
    require(roots == 0 or roots >= 3, "sketch.roots", "0 (the whole circle) or at least 3", roots)
    if base.endswith("_gaussian"):
        raise InputError(f"Gaussian weights are not on the unit circle; use sketch.base={base[:-8]}rademacher")
    return reweighted(kernel, base, Law(Circle(roots), 1, 0))


def reweighted(kernel: AffinePower, base: str, law: Law) -> Sketch:
    """The complex product sketch of that name, or its complex-to-real form, with weights of the law."""
    require_base(base)
    if not base.startswith(("complex_", "ctr_")):
        raise InputError(f"sketch.base must be a complex sketch; '{base}' is real, use ctr_{base} or complex_{base}")
    degree, gamma, bias = kernel.affine
    sketch = homogeneous(base.replace("ctr_", "complex_"), degree)
    assert isinstance(sketch, ProductSketch)
    sketch = replace(sketch, law=law)
    return affine(ComplexToReal(sketch) if base.startswith("ctr_") else sketch, gamma, bias)


FAMILIES = {
    "mixed_weights": Family(mixed_weights, POWERS, "closed form", "that of its base"),
    "circle_weights": Family(circle_weights, POWERS, "closed form", "that of its base"),
}
