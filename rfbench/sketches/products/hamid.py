"""TensorSRHT of Hamid et al. (2014): p ⌈D/h⌉ independent SRHTs, shuffled across degrees and blocks.

The h rows of every H Dᵢ x are put in one long vector, which is shuffled and cut into p vectors of D numbers, whose
product are the features [Wacker 2022, 2.2.3, footnote 4].  Two factors of a feature may then be rows of one transform,
which are not independent.  With L = p ⌈D/h⌉ h numbers, u = ⟨x, y⟩ and P the pseudo-moment of weights.py, two have

    E = u² − (P − u²)/(L − 1),                                                                                (1)

so for p = 2 the bias is −(P − u²)/(L − 1), and for larger p about p (p − 1)/2 u^{p−2} times that: it falls with D like
the variance does, and so does not matter for the error.  The variance is not known in closed form.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array, padded
from rfbench.blocks import scratch
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.products.product import PowerSketch, multiplied
from rfbench.sketches.products.tensor_srht import TensorSRHTMap
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, RADEMACHER
from rfbench.sketches.wrappers import ComplexToReal, affine


class HamidTensorSRHT(PowerSketch):
    """Estimates ⟨x, y⟩ᵖ with the bias of equation (1)."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        h = padded(d)
        signs = self.law.draw((self.degree * -(-D // h), h), rng, dtype)
        places = rng.permutation(signs.size).reshape(self.degree, -1)[:, :D]
        signs *= D ** (-0.5 / self.degree)  # the same for all: any transforms may meet in a feature
        return HamidMap(signs[:, :d], places)


class HamidMap(TensorSRHTMap):
    """One draw: signs (transforms, d), and for every degree the places of its rows among those of all transforms."""

    @property
    def chunk(self) -> int:
        # As many as keep all transforms in the cache, but enough to be worth a call.
        return min(max(8, 2**21 // (len(self.signs) * padded(self.d) * self.dtype.itemsize)), 128)

    def factors(self, X: Array) -> Iterator[Array]:
        rows = scratch("shuffled", (len(self.signs), padded(self.d), len(X)), self.dtype)
        for block, U in zip(rows, self.transforms(X), strict=True):
            block[...] = U
        rows = rows.reshape(-1, len(X))
        return self.gathered((rows for _ in self.index), slice(None))

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        yield slice(0, self.D), multiplied(self.factors(X)).T


def _make(name: str, kernel: AffinePower) -> Sketch:
    degree, gamma, bias = kernel.affine
    sketch = HamidTensorSRHT(degree, RADEMACHER if name == "hamid_tensorsrht" else COMPLEX_RADEMACHER)
    return affine(ComplexToReal(sketch) if name.startswith("ctr_") else sketch, gamma, bias)


FAMILIES = {
    name: Family(partial(_make, name), POWERS, "Monte Carlo", "p D log d")
    for name in ("hamid_tensorsrht", "complex_hamid_tensorsrht", "ctr_hamid_tensorsrht")
}
