"""Random m × d matrices P with E PᵀP = I: sketches of ⟨x, y⟩ with m features, the measurements P x.

    P = √(d/m) Q,   Q Qᵀ = I_m, by Gram–Schmidt from Gaussian or random signs              [Chang et al. 2016, 2.2]

From Gaussian entries Q is uniform; with N = ‖x‖²‖y‖², s = ⟨x, y⟩² and the second moments of QᵀQ,

    Var⟨Px, Py⟩ = (d/m)² [(a + b) s + b N] − s,      b = m(d − m)/c,  a = m(m(d + 1) − 2)/c,  c = d(d − 1)(d + 2)    (1)

Random signs have E PᵀP = I too, as flips and permutations of the columns do not change their law.  The others are
product sketches of degree 1: independent entries, or m rows of a Hadamard matrix with random signs.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array, inner, squared_norms
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.fourier.directions import HAAR, Linear
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.weights import rademacher


class Orthogonal(Sketch):
    """m orthonormal rows, uniform, times √(d/m)."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return HAAR.draw(d, np.full(D, np.sqrt(d / D)), rng, dtype)

    @property
    def closed_form(self) -> ClosedForm | None:
        return ClosedForm(variance)


def variance(X: Array, Y: Array, m: int) -> Array:
    """Equation (1); a single column is measured without error."""
    d, s = X.shape[1], inner(X, Y) ** 2
    c = max(d * (d - 1) * (d + 2), 1)
    b, a = m * (d - m) / c, m * (m * (d + 1) - 2) / c
    second = (a + b) * s + b * np.outer(squared_norms(X), squared_norms(Y))
    return np.maximum((d / m) ** 2 * second - s, 0) if d > 1 else np.zeros_like(s)


class OrthogonalSigns(Sketch):
    """The same from random signs; not uniform, and its variance is not known."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        Q = np.linalg.qr(rademacher((d, D), rng, np.float64))[0]
        return Linear((np.sqrt(d / D) * Q).astype(dtype))


PROJECTORS: dict[str, Callable[[], Sketch]] = {
    "orthogonal": Orthogonal,
    "bernoulli": OrthogonalSigns,
    "gaussian": partial(homogeneous, "gaussian", 1),
    "rademacher": partial(homogeneous, "rademacher", 1),
    "hadamard": partial(homogeneous, "tensorsrht", 1),
}
