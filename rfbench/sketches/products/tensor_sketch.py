"""TensorSketch: the count sketch of the tensor power x ⊗ ⋯ ⊗ x, without ever forming it.

    Φ(x) = FFT⁻¹(FFT(C₁x) ∘ ⋯ ∘ FFT(C_p x)),      (Cᵢx)_h = Σ_{k: hᵢ(k) = h} sᵢ(k) x_k           (1)

[Pham & Pagh 2013; Wacker 2022, 2.2.2].  Signs from {1, −1, i, −i} give the complex sketch (4.3.1, footnote 4).

The papers bound its variance.  It is known: in E k̂² the signs leave, in every degree, four indices that agree in pairs,
as i, i, j, j with weight s = ⟨x, y⟩², or for i ≠ j as i, j, i, j with weight b = ‖x‖²‖y‖² − q or as i, j, j, i with
weight c = s − q, q = Σ xₖ²yₖ².  Hashes of the second kind move both buckets by the same number, those of the third by
opposite ones: all fall into one bucket with probability 1/D if one kind occurs, and g/D² if both do, with g = 2 for
even D, else 1.  So

    Var = [(s + b)ᵖ + (s + c)ᵖ − 2sᵖ]/D + g [(s + b + c)ᵖ − (s + b)ᵖ − (s + c)ᵖ + sᵖ]/D²                 (2)

Complex signs leave the second kind in E|k̂|² and the third in E k̂²: Var = [(s + b)ᵖ − sᵖ]/D, pseudo-Var =
[(s + c)ᵖ − sᵖ]/D.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, inner, squared_norms
from rfbench.blocks import columns_of
from rfbench.checks import require
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.products.product import multiplied
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, RADEMACHER, Law
from rfbench.sketches.wrappers import ComplexToReal, affine


@dataclass(frozen=True)
class TensorSketch(Sketch):
    """Estimates ⟨x, y⟩ᵖ by p count sketches, convolved."""

    degree: int
    law: Law
    factored = True

    def __post_init__(self) -> None:
        require(self.degree >= 1, "degree", "at least 1", self.degree)

    @property
    def weight_law(self) -> Law:
        return self.law

    @property
    def is_complex(self) -> bool:
        return not self.law.real

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        hashes = rng.integers(0, D, (self.degree, d))
        return TensorSketchMap(hashes, self.law.draw((self.degree, d), rng, dtype), D)

    @property
    def closed_form(self) -> ClosedForm:
        return ClosedForm(self._variance, None if self.law.real else self._pseudo_variance)

    def _variance(self, X: Array, Y: Array, D: int) -> Array:
        """Equation (2), or its complex form."""
        (s, b, c), p = pair_weights(X, Y), self.degree
        one = (s + b) ** p - s**p
        if not self.law.real:
            return one / D
        other, both = (s + c) ** p - s**p, (s + b + c) ** p - s**p
        return np.maximum((one + other) / D + gcd(2, D) * (both - one - other) / D**2, 0)

    def _pseudo_variance(self, X: Array, Y: Array, D: int) -> Array:
        s, _, c = pair_weights(X, Y)
        return ((s + c) ** self.degree - s**self.degree) / D


def pair_weights(X: Array, Y: Array) -> tuple[Array, Array, Array]:
    """(s, b, c) of equation (2) for all pairs."""
    X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
    s, q = inner(X, Y) ** 2, inner(X**2, Y**2)
    return s, np.outer(squared_norms(X), squared_norms(Y)) - q, s - q


def convolved(V: float, W: float, h: int, r: Array) -> Array:
    """Equation (2) for r features, with g = 2 for all r, from V, that of one, and W, h times that of odd h."""
    squared = max((V - W) * h / (h - 1), 0.0)
    return (V - squared) / r + 2 * squared / r**2


class TensorSketchMap(FeatureMap):
    """Feature-major: a count sketch is a sparse matrix times the block."""

    order = "F"

    def __init__(self, hashes: NDArray[np.integer], signs: Array, D: int) -> None:
        from scipy.sparse import csr_array

        self.hashes, self.signs = hashes, signs  # (p, d)
        self.d, self.D, self.dtype = hashes.shape[1], D, signs.dtype
        columns = np.arange(self.d)

        def counts(h: Array, s: Array) -> Any:
            return csr_array((s, (h, columns)), shape=(D, self.d))

        # A sign is real or imaginary, so two real products give the complex one.
        halves = (signs.real, signs.imag) if np.iscomplexobj(signs) else (signs,)
        self.sketches = [[counts(h, half[i]) for half in halves] for i, h in enumerate(hashes)]

    @property
    def chunk(self) -> int:
        # Count sketches, a transform and their product stay in the cache of a core; transforms take eight rows at once.
        return min(max(8, 3 * 2**18 // (self.D * self.dtype.itemsize) // 8 * 8), 64)

    def factors(self, X: Array) -> Iterator[Array]:
        """FFT(Cᵢx) for i = 1..p, (frequencies, b)."""
        from scipy import fft

        columns = columns_of(X, X.dtype)
        for real, *imaginary in self.sketches:
            if imaginary:
                yield fft.fft(real @ columns + 1j * (imaginary[0] @ columns), axis=0, overwrite_x=True)
            else:
                yield fft.rfft(real @ columns, axis=0, overwrite_x=True)

    def finish(self, product: Array) -> Array:
        from scipy import fft

        if np.iscomplexobj(self.signs):
            return fft.ifft(product, axis=0, overwrite_x=True).T
        return fft.irfft(product, n=self.D, axis=0, overwrite_x=True).T

    def write(self, X: Array, out: Array) -> None:
        out[...] = self.finish(multiplied(self.factors(X)))


def tensor_sketch(name: str, degree: int) -> Sketch:
    """The one with that name, of ⟨x, y⟩ᵖ."""
    sketch = TensorSketch(degree, RADEMACHER if name == "tensorsketch" else COMPLEX_RADEMACHER)
    return ComplexToReal(sketch) if name.startswith("ctr_") else sketch


def _make(name: str, kernel: AffinePower) -> Sketch:
    degree, gamma, bias = kernel.affine
    return affine(tensor_sketch(name, degree), gamma, bias)


FAMILIES = {
    name: Family(partial(_make, name), POWERS, "closed form", "p (d + D log D)")
    for name in ("tensorsketch", "complex_tensorsketch", "ctr_tensorsketch")
}
