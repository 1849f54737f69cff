"""Features for exp(⟨x, y⟩/l²): positive ones, and Fourier features with a radial factor.

With frequencies ω = z/l, z ~ N(0, I),

    Φ(x) = exp(⟨ωᵢ, x⟩ − ‖x‖²/2l²)ᵢ / √D                       [Choromanski et al. 2021, Lemma 1]       (1)
    Φ(x) = exp(‖x‖²/2l²) Φ_RFF(x)                               [ibid., Eq. 4; Wacker 2022, Fig. 7.1]    (2)

are unbiased, with variances k² (exp(‖x + y‖²/l²) − 1)/D and exp((‖x‖² + ‖y‖²)/l²) Var_RFF for independent ω.
Orthogonal ω lower both.  The stabilised form of (1) gives every z the length √d (the regularised softmax kernel of
[ibid., Theorem 1]): no draw is extreme, Φ is at most exp(d/2), and the mean is, with Λ_d of spherical_fit.py,
exp(−(‖x‖² + ‖y‖²)/2l²) Λ_d(i √d ‖x + y‖/l), slightly below k.  Their code subtracts a maximum instead: a maximum over
the features of a row only cancels in a softmax, and a maximum over all rows makes each row depend on the others.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, squared_norms
from rfbench.checks import require
from rfbench.kernels.exponential import Exponential, Gaussian
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import HAAR, HADAMARD, INDEPENDENT, Directions
from rfbench.sketches.fourier.waves import real_fourier
from rfbench.sketches.wrappers import WrappedMap, Wrapper

DIRECTIONS = {"independent": INDEPENDENT, "orthogonal": HAAR, "structured": HADAMARD}


@dataclass(frozen=True)
class Favor(Sketch):
    """Equation (1)."""

    kernel: Exponential
    directions: Directions

    def norms(self, d: int, D: int, rng: np.random.Generator) -> Array:
        return self.directions.norms(d, D, rng)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        radius = self.norms(d, D, rng) / np.sqrt(self.kernel.l2)
        return FavorMap(self.directions.draw(d, radius, rng, dtype), self.kernel.l2)

    @property
    def closed_form(self) -> ClosedForm | None:
        if self.directions != INDEPENDENT:
            return None

        def variance(X: Array, Y: Array, D: int) -> Array:
            k = self.kernel.gram(X, Y)
            return k**4 * np.exp(norms_of_pairs(X, Y) / self.kernel.l2) / D - k**2 / D

        return ClosedForm(variance)


class StabilizedFavor(Favor):
    """All frequencies have the length √d/l."""

    closed_form = None

    def norms(self, d: int, D: int, rng: np.random.Generator) -> Array:
        return np.full(D, np.sqrt(d))


def favor(kernel: Exponential, orthogonal: bool = True, stabilized: bool = False) -> Favor:
    return (StabilizedFavor if stabilized else Favor)(kernel, HAAR if orthogonal else INDEPENDENT)


class FavorMap(WrappedMap):
    """Equation (1) of the projections ⟨ω, x⟩."""

    def __init__(self, base: FeatureMap, l2: float) -> None:
        super().__init__(base)
        self.l2 = l2

    def write(self, X: Array, out: Array) -> None:
        self.base.write(X, out)
        out -= half_norms(X, self.l2) + 0.5 * float(np.log(self.D))
        np.exp(out, out=out)


@dataclass(frozen=True)
class ExponentialFourier(Wrapper):
    """Equation (2): features of the Gaussian kernel with a radial factor."""

    kernel: Exponential

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return RadialMap(self.base.sample(d, D, rng, dtype), self.kernel.l2)

    @property
    def closed_form(self) -> ClosedForm | None:
        form = self.base.closed_form
        return form and ClosedForm(
            lambda X, Y, D: np.exp(norms_of_pairs(X, Y) / self.kernel.l2) * form.variance(X, Y, D)
        )


def exponential_rff(kernel: Exponential, directions: str = "independent") -> ExponentialFourier:
    require(directions in DIRECTIONS, "sketch.directions", f"one of {', '.join(DIRECTIONS)}", directions)
    return ExponentialFourier(real_fourier(DIRECTIONS[directions], Gaussian(kernel.length_scale)), kernel)


class RadialMap(WrappedMap):
    """A map times exp(‖x‖²/2l²)."""

    def __init__(self, base: FeatureMap, l2: float) -> None:
        super().__init__(base)
        self.l2 = l2

    def write(self, X: Array, out: Array) -> None:
        self.base.write(X, out)
        out *= np.exp(half_norms(X, self.l2))


def norms_of_pairs(X: Array, Y: Array) -> Array:
    """‖x‖² + ‖y‖² of all pairs."""
    return np.add.outer(squared_norms(X), squared_norms(Y))


def half_norms(X: Array, l2: float) -> Array:
    """‖x‖²/2l² of every row, (b, 1)."""
    return np.einsum("ij,ij->i", X, X)[:, None] / (2 * l2)


FAMILIES = {
    "favor": Family(favor, ("exponential",), "closed form for i.i.d.", "d D"),
    "exponential_rff": Family(exponential_rff, ("exponential",), "closed form for i.i.d.", "d D"),
}
