"""Random Fourier features for kernels of the distance.

With frequencies ω that have E exp(i⟨ω, x − y⟩) = k(x, y), the complex and the real map are

    Φ(x) = (exp(i⟨ω₁, x⟩), …, exp(i⟨ω_D, x⟩)) / √D                            [Wacker 2022, Eq. 5.25]    (1)
    Φ(x) = (cos⟨ω₁, x⟩, …, cos⟨ω_{D/2}, x⟩, sin⟨ω₁, x⟩, …) √(2/D)             [ibid., Eq. 5.24]          (2)

(2) is (1) with half the frequencies, complex to real.  For independent frequencies and δ = x − y,

    Var = (1 − k(δ)²)/D,        pseudo-Var = (k(2δ) − k(δ)²)/D               [ibid., 2.1]               (3)

for (1), and half their sum at D/2 for (2).  ω = ϱ s with the directions s of directions.py and ϱ = t ‖z‖/l,
z ~ N(0, I) and t of matern.py; one ϱ = √d/l for all of bessel.py.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import scratch
from rfbench.kernels.base import Kernel
from rfbench.kernels.bessel import Bessel
from rfbench.kernels.matern import scales
from rfbench.sketches.base import ComplexClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import HAAR, HADAMARD, INDEPENDENT, Directions
from rfbench.sketches.wrappers import ComplexToReal, ComplexToRealClosedForm

ISOTROPIC = ("gaussian", "matern", "laplacian")


@dataclass(frozen=True)
class Fourier(Sketch):
    """Equation (1)."""

    kernel: Kernel
    directions: Directions

    def radius(self, d: int, D: int, rng: np.random.Generator) -> Array:
        """ϱ of D frequencies."""
        if isinstance(self.kernel, Bessel):
            return np.full(D, np.sqrt(d / self.kernel.l2))
        return self.directions.norms(d, D, rng) * scales(self.kernel, D, rng)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return FourierMap(self.directions.draw(d, self.radius(d, D, rng), rng, dtype))


class IndependentFourier(Fourier, ComplexClosedForm):
    """Equation (3)."""

    def mean(self, X: Array, Y: Array) -> Array:
        """E k̂."""
        return self.kernel.gram(X, Y)

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        return np.maximum(1 - self.mean(X, Y) ** 2, 0) / D

    def pseudo_variance(self, X: Array, Y: Array, D: int) -> Array:
        return (self.mean(2 * X, 2 * Y) - self.mean(X, Y) ** 2) / D


class RealFourier(ComplexToReal):
    """Equation (2)."""

    def objection(self, D: int) -> str | None:
        pairs = f"cosines and sines come in pairs; {D} features were asked for. Use features={max(D - 1, 2)} or {D + 1}"
        return pairs if D % 2 else None

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        base = self.base.sample(d, D // 2, rng, dtype)
        assert isinstance(base, FourierMap)
        return RealFourierMap(base.projection)


class RealIndependentFourier(RealFourier, ComplexToRealClosedForm):
    """Equation (3), complex to real."""


def real(base: Fourier) -> RealFourier:
    """With a closed form where the complex sketch has one."""
    return (RealIndependentFourier if isinstance(base, IndependentFourier) else RealFourier)(base)


class FourierMap(FeatureMap):
    def __init__(self, projection: FeatureMap) -> None:
        self.projection, self.order = projection, projection.order
        self.d, self.D, self.dtype = projection.d, projection.D, np.result_type(projection.dtype, np.complex64)

    def write(self, X: Array, out: Array) -> None:
        self.waves(X, out.real, out.imag)

    def waves(self, X: Array, cosines: Array, sines: Array) -> None:
        p = self.projection
        angles = scratch("angles", (p.D, len(X)) if p.order == "F" else (len(X), p.D), p.dtype)
        angles = angles.T if p.order == "F" else angles
        p.write(X, angles)
        for wave, part in ((np.cos, cosines), (np.sin, sines)):
            wave(angles, out=part)
            part *= p.D**-0.5


class RealFourierMap(FourierMap):
    def __init__(self, projection: FeatureMap) -> None:
        super().__init__(projection)
        self.D, self.dtype = 2 * projection.D, projection.dtype

    def write(self, X: Array, out: Array) -> None:
        self.waves(X, *np.split(out, 2, axis=1))


KINDS = {
    "rff": (INDEPENDENT, (*ISOTROPIC, "bessel"), "closed form", "d D"),
    "orf": (HAAR, (*ISOTROPIC, "bessel"), "Monte Carlo", "d D"),
    "sorf": (HADAMARD, ISOTROPIC, "Monte Carlo", "D log d"),  # its sphere has padded columns
}


def complex_fourier(directions: Directions, kernel: Kernel) -> Fourier:
    return (IndependentFourier if directions == INDEPENDENT else Fourier)(kernel, directions)


def real_fourier(directions: Directions, kernel: Kernel) -> RealFourier:
    return real(complex_fourier(directions, kernel))


FAMILIES = {
    variant + name: Family(partial(make, directions), kernels, variance, cost)
    for name, (directions, kernels, variance, cost) in KINDS.items()
    for variant, make in (("", real_fourier), ("complex_", complex_fourier))
}
