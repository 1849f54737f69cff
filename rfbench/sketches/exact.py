"""The two extremes: the data themselves as features, and the kernel itself without features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import ANY, Family

NO_VARIANCE = ClosedForm(lambda X, Y, D: np.zeros((len(X), len(Y))))


@dataclass(frozen=True)
class Identity(Sketch):
    """Φ(x) = x: exact for ⟨x, y⟩; D is the number of columns, whatever was asked for."""

    random, closed_form = False, NO_VARIANCE

    def count(self, d: int, D: int) -> int:
        return d

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return IdentityMap(d, dtype)


class IdentityMap(FeatureMap):
    def __init__(self, d: int, dtype: Any) -> None:
        self.d, self.D, self.dtype = d, d, np.dtype(dtype)

    def write(self, X: Array, out: Array) -> None:
        out[...] = X


@dataclass(frozen=True)
class Exact(Sketch):
    """The kernel in place of an estimate: the only error is the rounding of the chosen precision."""

    kernel: Kernel
    random, explicit, closed_form = False, False, NO_VARIANCE

    def count(self, d: int, D: int) -> int:
        return 0

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return ExactMap(self.kernel, d, dtype)


class ExactMap(IdentityMap):
    """Returns the rows themselves, so that the kernel can be evaluated on them."""

    explicit = False
    kernel: Kernel

    def __init__(self, kernel: Kernel, d: int, dtype: Any) -> None:
        super().__init__(d, dtype)
        self.kernel = kernel

    def product(self, Phi: Array, Psi: Array) -> Array:
        return self.kernel.gram(Phi, Psi).astype(self.dtype)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        blocks = spans(len(Phi), 64)
        return np.concatenate([self.product(Phi[i], Psi[i]).diagonal() for i in blocks])[:, None]


class KernelRows(FeatureMap):
    """k(x, xᵢ) for all landmarks xᵢ in place of features."""

    def __init__(self, features: FeatureMap, X: Array) -> None:
        self.features, self.X = features, X
        self.d, self.D, self.dtype = features.d, len(X), features.dtype

    def write(self, X: Array, out: Array) -> None:
        out[...] = self.features.product(X, self.X)


FAMILIES = {
    "identity": Family(lambda kernel: Identity(), ("linear",), "zero", "d"),
    "exact": Family(Exact, ANY, "zero", "n d"),
}
