"""The two ends of the scale: the data themselves as features, and the kernel itself without features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import ClosedForm, FeatureMap
from rfbench.sketches.family import ANY, Family


@dataclass(frozen=True)
class Identity(ClosedForm):
    """Φ(x) = x: exact for ⟨x, y⟩; D is the number of columns, whatever was asked for."""

    def count(self, d: int, D: int) -> int:
        return d

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return IdentityMap(d, dtype)

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        return np.zeros((len(X), len(Y)))


class IdentityMap(FeatureMap):
    def __init__(self, d: int, dtype: Any) -> None:
        self.d, self.D, self.dtype = d, d, np.dtype(dtype)

    def write(self, X: Array, out: Array) -> None:
        out[...] = X


@dataclass(frozen=True)
class Exact(ClosedForm):
    """The kernel in place of an estimate: what is left is the rounding of the chosen precision."""

    kernel: Kernel

    def count(self, d: int, D: int) -> int:
        return 0

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return ExactMap(self.kernel, d, dtype)

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        return np.zeros((len(X), len(Y)))


class ExactMap(IdentityMap):
    """Passes rows on, so that the kernel can be evaluated on them."""

    def __init__(self, kernel: Kernel, d: int, dtype: Any) -> None:
        super().__init__(d, dtype)
        self.kernel = kernel

    def product(self, Phi: Array, Psi: Array) -> Array:
        return self.kernel.gram(Phi, Psi).astype(self.dtype)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        blocks = spans(len(Phi), 64)
        return np.concatenate([self.product(Phi[i], Psi[i]).diagonal() for i in blocks])[:, None]


FAMILIES = {
    "identity": Family(lambda kernel: Identity(), ("linear",), "zero", "d"),
    "exact": Family(Exact, ANY, "zero", "n d"),
}
