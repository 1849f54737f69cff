"""Compressive features: random measurements of a row, then features of these, or the kernel itself.

    Φ(P x),        P = √(d/m) Q,   Q Qᵀ = I_m, uniform                         [Chang et al. 2017, 2.2 and Theorem 2]

P nearly preserves the distances of rows with k nonzero entries for m of the order of k log(d/k).  For other rows the
estimate is biased: ‖P δ‖² = ‖δ‖² (d/m) B with B ~ Beta(m/2, (d − m)/2), so the Gaussian kernel becomes
₁F₁(m/2; d/2; −(d/m) ‖δ‖²/2l²).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import scratch
from rfbench.checks import require
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.exact import Exact, Identity
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import HAAR, INDEPENDENT
from rfbench.sketches.fourier.waves import ISOTROPIC, real_fourier
from rfbench.sketches.wrappers import WrappedMap, Wrapper


@dataclass(frozen=True)
class Compressed(Wrapper):
    """Any sketch, applied to m random measurements of a row."""

    measurements: int | None  # None: half the columns
    random = True

    def __post_init__(self) -> None:
        m = self.measurements
        require(m is None or m >= 1, "sketch.measurements", "at least 1, or null for half the columns", m)

    def length(self, d: int) -> int:
        """m."""
        m = self.measurements or -(-d // 2)
        require(m <= d, "sketch.measurements", f"at most {d}, the number of columns", m)
        return m

    def count(self, d: int, D: int) -> int:
        return self.base.count(self.length(d), D)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        m = self.length(d)
        projector = HAAR.draw(d, np.full(m, np.sqrt(d / m)), rng, dtype)
        return Chained(projector, self.base.sample(m, D, rng, dtype))


class Chained(WrappedMap):
    """One map after another."""

    def __init__(self, first: FeatureMap, base: FeatureMap) -> None:
        super().__init__(base)
        self.first, self.d = first, first.d
        self.explicit, self.kernel = base.explicit, base.kernel

    def write(self, X: Array, out: Array) -> None:
        between = scratch("between", (len(X), self.first.D), self.first.dtype)
        self.first.write(X, between)
        self.base.write(between, out)

    def product(self, Phi: Array, Psi: Array) -> Array:
        assert Phi.shape[1] == Psi.shape[1] == self.D, "these are rows, not measurements of them"
        return self.base.product(Phi, Psi)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        return self.base.paired(Phi, Psi)


def compressed(make: Callable[[Kernel], Sketch], kernel: Kernel, measurements: int | None = None) -> Compressed:
    return Compressed(make(kernel), measurements)


BASES: dict[str, tuple[Callable[[Kernel], Sketch], tuple[str, ...], str]] = {
    "rff": (partial(real_fourier, INDEPENDENT), ISOTROPIC, "d m + m D"),
    "identity": (lambda kernel: Identity(), ("linear",), "d m"),
    "exact": (Exact, ISOTROPIC, "d m + n m"),
}
FAMILIES = {
    f"compressive_{name}": Family(partial(compressed, make), kernels, "Monte Carlo", cost)
    for name, (make, kernels, cost) in BASES.items()
}
