"""TensorSketch: the count sketch of the tensor power x ⊗ ⋯ ⊗ x, without ever forming it.

    Φ(x) = FFT⁻¹(FFT(C₁x) ∘ ⋯ ∘ FFT(C_p x)),      (Cᵢx)_h = Σ_{k: hᵢ(k) = h} sᵢ(k) x_k           (1)

[Pham & Pagh 2013; Wacker 2022, 2.2.2].  Signs from {1, −1, i, −i} give the complex sketch (4.3.1, footnote 4).  Its
variance is not known in closed form.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.blocks import columns_of
from rfbench.checks import require
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import FeatureMap, Sketch
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
    def is_complex(self) -> bool:
        return not self.law.real

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        hashes = rng.integers(0, D, (self.degree, d))
        return TensorSketchMap(hashes, self.law.draw((self.degree, d), rng, dtype), D)


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


def _make(name: str, kernel: AffinePower) -> Sketch:
    degree, gamma, bias = kernel.affine
    sketch = TensorSketch(degree, RADEMACHER if name == "tensorsketch" else COMPLEX_RADEMACHER)
    return affine(ComplexToReal(sketch) if name.startswith("ctr_") else sketch, gamma, bias)


FAMILIES = {
    name: Family(partial(_make, name), POWERS, "Monte Carlo", "p (d + D log D)")
    for name in ("tensorsketch", "complex_tensorsketch", "ctr_tensorsketch")
}
