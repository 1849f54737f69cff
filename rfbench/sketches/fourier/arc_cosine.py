"""Random neurons for arc-cosine kernels [Cho & Saul 2009, Section 2.1].

    Φ(x) = Θ(⟨ωᵢ, x⟩) ⟨ωᵢ, x⟩ⁿ √(2/D),        ω ~ N(0, I)                                                   (1)

The square of a term of ⟨Φ(x), Φ(y)⟩ is twice one of the kernel of order 2n, so that for independent frequencies

    Var = (2 k_{2n}(x, y) − k_n(x, y)²)/D                                                                    (2)

(1) grows with ‖ω‖ⁿ: frequencies whose length is the 2n-th root of E χ_d^{2n} = d (d + 2) ⋯ (d + 2n − 2) keep the mean,
and have the first term of (2) times E[χ_d^{2n}]² / E χ_d^{4n} only.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.kernels.arc_cosine import ArcCosine, arc_cosine
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import Directions, Independent
from rfbench.sketches.fourier.options import coupled
from rfbench.sketches.wrappers import WrappedMap


@dataclass(frozen=True)
class ArcCosineFeatures(Sketch):
    """Equation (1)."""

    kernel: ArcCosine
    directions: Directions

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        radius, n = self.directions.norms(d, D, rng), self.kernel.order
        if self.directions.lengths == "constant" and n:
            radius = np.full(D, moment(self.directions.dimension(d), n) ** (0.5 / n))
        return ArcCosineMap(self.directions.draw(d, radius, rng, dtype), n)

    @property
    def stated_bias(self) -> str | None:
        return self.directions.stated_bias

    @property
    def closed_form(self) -> ClosedForm | None:
        """Equation (2)."""
        if not (isinstance(self.directions, Independent) and self.directions.lengths != "paired"):
            return None
        n = self.kernel.order

        def variance(X: Array, Y: Array, D: int) -> Array:
            d, one_length = X.shape[1], self.directions.lengths == "constant"
            less = moment(d, n) ** 2 / moment(d, 2 * n) if one_length else 1.0
            return (2 * less * arc_cosine(2 * n, X, Y) - arc_cosine(n, X, Y) ** 2) / D

        return ClosedForm(variance)


def moment(d: int, n: int) -> float:
    """E χ_d^{2n}."""
    return float(prod(range(d, d + 2 * n, 2)))


class ArcCosineMap(WrappedMap):
    """Equation (1) of the projections ⟨ω, x⟩."""

    def __init__(self, base: FeatureMap, n: int) -> None:
        super().__init__(base)
        self.n = n

    def write(self, X: Array, out: Array) -> None:
        self.base.write(X, out)
        if self.n:
            np.maximum(out, 0, out=out)
            np.power(out, self.n, out=out)
        else:
            np.heaviside(out, 0.5, out=out)
        out *= (2 / self.D) ** 0.5


def arc_cosine_features(directions: Directions, kernel: ArcCosine) -> ArcCosineFeatures:
    return ArcCosineFeatures(kernel, directions)


FAMILIES = {
    "arc_cosine": Family(
        coupled(arc_cosine_features, "independent"), ("arc_cosine",), "closed form for independent directions", "d D"
    )
}
