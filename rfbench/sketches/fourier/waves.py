"""Random Fourier features for kernels of the distance.

With frequencies ω that have E exp(i⟨ω, x − y⟩) = k(x, y), the complex map and two real ones are

    Φ(x) = (exp(i⟨ω₁, x⟩), …, exp(i⟨ω_D, x⟩)) / √D                            [Wacker 2022, Eq. 5.25]    (1)
    Φ(x) = (cos⟨ω₁, x⟩, …, cos⟨ω_{D/2}, x⟩, sin⟨ω₁, x⟩, …) √(2/D)             [ibid., Eq. 5.24]          (2)
    Φ(x) = (cos(⟨ω₁, x⟩ + b₁), …, cos(⟨ω_D, x⟩ + b_D)) √(2/D)                 [ibid., 5.4.3, footnote 6] (3)

(2) is (1) with half as many frequencies, complex to real.  In (3) every feature has its own phase, uniform on [0, 2π]:
with one for all, as Chang et al. 2016, Eq. 2, print it, the error would not vanish for any D.  For independent
frequencies and δ = x − y,

    Var = (1 − k(δ)²)/D,        pseudo-Var = (k(2δ) − k(δ)²)/D               [ibid., 2.1]               (4)

for (1), and half their sum at D/2 for (2).  A product of (3) is cos⟨ω, δ⟩ + cos(⟨ω, x + y⟩ + 2b), whose
terms are uncorrelated: half the sum at D, plus 1/2D [Sutherland & Schneider 2015].

ω = ϱ s with the directions s of directions.py and ϱ = t ‖z‖/l, z ~ N(0, I) and t of matern.py; for bessel.py all have
ϱ = √d/l.  b_spline.py draws the entries of ω itself.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array, complex_type
from rfbench.blocks import scratch
from rfbench.kernels.b_spline import BSpline
from rfbench.kernels.base import Kernel
from rfbench.kernels.bessel import Bessel
from rfbench.kernels.matern import scales
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import HAAR, HADAMARD, INDEPENDENT, Directions, Linear
from rfbench.sketches.fourier.fastfood import FASTFOOD
from rfbench.sketches.wrappers import ComplexToReal, WrappedMap, Wrapper

ISOTROPIC = ("gaussian", "matern", "laplacian")


@dataclass(frozen=True)
class Fourier(Sketch):
    """Equation (1)."""

    kernel: Kernel
    directions: Directions
    is_complex = True

    def radius(self, d: int, D: int, rng: np.random.Generator) -> Array:
        """ϱ of D frequencies."""
        if isinstance(self.kernel, Bessel):
            return np.full(D, np.sqrt(d / self.kernel.l2))
        return self.directions.norms(d, D, rng) * scales(self.kernel, D, rng)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        if isinstance(self.kernel, BSpline):
            return FourierMap(Linear(self.kernel.frequencies((d, D), rng).astype(dtype)))
        return FourierMap(self.directions.draw(d, self.radius(d, D, rng), rng, dtype))

    def adapt(self, X: Array, D: int) -> "Fourier":
        return replace(self, directions=self.directions.adapt(X))

    @property
    def stated_bias(self) -> str | None:
        return self.directions.stated_bias

    def mean(self, X: Array, Y: Array) -> Array:
        """E k̂ of all pairs."""
        return self.kernel.gram(X, Y)

    @property
    def closed_form(self) -> ClosedForm | None:
        """Equation (4)."""
        if not self.directions.independent:
            return None
        return ClosedForm(
            lambda X, Y, D: np.maximum(1 - self.mean(X, Y) ** 2, 0) / D,
            lambda X, Y, D: (self.mean(2 * X, 2 * Y) - self.mean(X, Y) ** 2) / D,
            mean=lambda X, Y, D: self.mean(X, Y),
        )


class RealFourier(ComplexToReal):
    """Equation (2)."""

    def objection(self, D: int) -> str | None:
        near = f"{D - 1} or {D + 1}" if D > 1 else "2"
        return f"cosines and sines come in pairs; {D} features were asked for. Use features={near}" if D % 2 else None

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        base = self.base.sample(d, D // 2, rng, dtype)
        assert isinstance(base, FourierMap)
        return RealFourierMap(base.base)


@dataclass(frozen=True)
class PhaseFourier(Wrapper):
    """Equation (3)."""

    base: Fourier
    is_complex = False

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        base = self.base.sample(d, D, rng, dtype)
        assert isinstance(base, FourierMap)
        return PhaseFourierMap(base.base, 2 * np.pi * rng.random(D, np.float32).astype(dtype, copy=False))

    @property
    def closed_form(self) -> ClosedForm | None:
        form = self.base.closed_form
        if form is None or (pseudo_variance := form.pseudo_variance) is None:
            return None
        return ClosedForm(lambda X, Y, D: (form.variance(X, Y, D) + pseudo_variance(X, Y, D) + 1 / D) / 2)


class FourierMap(WrappedMap):
    """Equation (1) of the projections ⟨ω, x⟩."""

    def __init__(self, base: FeatureMap) -> None:
        super().__init__(base)
        self.dtype = complex_type(base.dtype)

    def write(self, X: Array, out: Array) -> None:
        self.waves(X, out.real, out.imag)

    def waves(self, X: Array, cosines: Array, sines: Array) -> None:
        b, D, dtype = len(X), self.base.D, self.base.dtype
        angles = scratch("angles", (D, b), dtype).T if self.order == "F" else scratch("angles", (b, D), dtype)
        self.base.write(X, angles)
        for wave, part in ((np.cos, cosines), (np.sin, sines)):
            wave(angles, out=part)
            part *= D**-0.5


class RealFourierMap(FourierMap):
    """Equation (2)."""

    def __init__(self, base: FeatureMap) -> None:
        super().__init__(base)
        self.D, self.dtype = 2 * base.D, base.dtype

    def write(self, X: Array, out: Array) -> None:
        self.waves(X, *np.split(out, 2, axis=1))

    def with_scale_slope(self, X: Array) -> tuple[Array, Array]:
        Phi, angles = self(X), self.base(X)
        cosines, sines = np.split(Phi, 2, axis=1)
        return Phi, np.concatenate((angles * sines, -angles * cosines), axis=1)


class PhaseFourierMap(WrappedMap):
    """Equation (3) of the projections ⟨ω, x⟩."""

    def __init__(self, base: FeatureMap, phases: Array) -> None:
        super().__init__(base)
        self.phases = phases

    def write(self, X: Array, out: Array) -> None:
        self.base.write(X, out)
        out += self.phases
        np.cos(out, out=out)
        out *= (2 / self.D) ** 0.5


KINDS = {
    "rff": (INDEPENDENT, (*ISOTROPIC, "bessel", "b_spline"), "closed form", "d D"),
    "orf": (HAAR, (*ISOTROPIC, "bessel"), "Monte Carlo", "d D"),
    "sorf": (HADAMARD, ISOTROPIC, "Monte Carlo", "D log d"),  # its sphere has padded columns
    "fastfood": (FASTFOOD, ISOTROPIC, "Monte Carlo", "D log d"),  # likewise
}


def complex_fourier(directions: Directions, kernel: Kernel) -> Fourier:
    return Fourier(kernel, directions)


def real_fourier(directions: Directions, kernel: Kernel) -> RealFourier:
    return RealFourier(Fourier(kernel, directions))


def phase_fourier(directions: Directions, kernel: Kernel) -> PhaseFourier:
    return PhaseFourier(Fourier(kernel, directions))


FAMILIES = {
    variant + name: Family(partial(make, directions), kernels, variance, cost)
    for name, (directions, kernels, variance, cost) in KINDS.items()
    for variant, make in (("", real_fourier), ("complex_", complex_fourier), ("phase_", phase_fourier))
}
