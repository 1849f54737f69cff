"""Compressive random features: fewer columns first, then Fourier features of them.

    Φ(P x),        P = √(d/m) Q,   Q Qᵀ = I_m, uniform                         [Chang et al. 2017, 2.2 and Theorem 2]

P nearly keeps the distances of sparse rows for m of the order of k log(d/k), k the entries that are not zero.  For
others it is biased: ‖P δ‖² = ‖δ‖² (d/m) B with B ~ Beta(m/2, (d − m)/2), so the Gaussian kernel becomes
₁F₁(m/2; d/2; −(d/m) ‖δ‖²/2l²).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import scratch
from rfbench.checks import require
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.directions import HAAR, INDEPENDENT
from rfbench.sketches.family import Family
from rfbench.sketches.fourier import ISOTROPIC, real_fourier

Array = NDArray[Any]


@dataclass(frozen=True)
class Compressed(Sketch):
    """Any sketch, of m random measurements of a row."""

    base: Sketch
    measurements: int | None  # none: half the columns

    def __post_init__(self) -> None:
        m = self.measurements
        require(m is None or m >= 1, "sketch.measurements", "at least 1, or null for half the columns", m)

    def objection(self, D: int) -> str | None:
        return self.base.objection(D)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        m = self.measurements or -(-d // 2)
        require(m <= d, "sketch.measurements", f"at most the {d} columns there are", m)
        projector = HAAR.draw(d, np.full(m, np.sqrt(d / m)), rng, dtype)
        return Chained(projector, self.base.sample(m, D, rng, dtype))


class Chained(FeatureMap):
    """One map after another."""

    def __init__(self, first: FeatureMap, second: FeatureMap) -> None:
        self.first, self.second = first, second
        self.d, self.D, self.dtype, self.order = first.d, second.D, second.dtype, second.order

    def write(self, X: Array, out: Array) -> None:
        between = scratch("between", (len(X), self.first.D), self.first.dtype)
        self.first.write(X, between)
        self.second.write(between, out)


def compressive_rff(kernel: Kernel, measurements: int | None = None) -> Compressed:
    return Compressed(real_fourier(INDEPENDENT, kernel), measurements)


FAMILIES = {"compressive_rff": Family(compressive_rff, ISOTROPIC, "Monte Carlo", "d m + m D")}
