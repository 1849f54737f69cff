"""Random Fourier features for kernels of the distance.

With frequencies ω that have E exp(i⟨ω, x − y⟩) = k(x, y), the complex map and two real ones are

    Φ(x) = (exp(i⟨ω₁, x⟩), …, exp(i⟨ω_D, x⟩)) / √D                            [Wacker 2022, Eq. 5.25]    (1)
    Φ(x) = (cos⟨ω₁, x⟩, …, cos⟨ω_{D/2}, x⟩, sin⟨ω₁, x⟩, …) √(2/D)             [ibid., Eq. 5.24]          (2)
    Φ(x) = (cos(⟨ω₁, x⟩ + b₁), …, cos(⟨ω_D, x⟩ + b_D)) √(2/D)                 [ibid., 5.4.3, footnote 6] (3)

(2) is (1) with half as many frequencies, complex to real.  In (3) every feature has its own phase, uniform on [0, 2π]:
with one for all, as Chang et al. 2016, Eq. 2, print it, the error would not vanish for any D.  For independent
frequencies and δ = x − y,

    Var = (1 − k(δ)²)/D,        pseudo-Var = (k(2δ) − k(δ)²)/D               [ibid., 2.1]               (4)

for (1), and half their sum at D/2 for (2); pairs.py has what orthogonal and simplex directions add.  A product of (3)
is cos⟨ω, δ⟩ + cos(⟨ω, x + y⟩ + 2b), whose terms are uncorrelated: half the sum at D, plus 1/2D [Sutherland & Schneider
2015].

ω = ϱ s with the directions s of directions.py and ϱ = t ‖z‖/l, z ~ N(0, I) and t of matern.py; for bessel.py all have
ϱ = √d/l.  b_spline.py draws the entries of ω itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array, complex_type, squared_distances
from rfbench.blocks import scratch
from rfbench.checks import InputError
from rfbench.kernels.b_spline import BSpline
from rfbench.kernels.base import Kernel
from rfbench.kernels.bessel import Bessel
from rfbench.kernels.exponential import Gaussian
from rfbench.kernels.matern import length_quantile, scales
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import INDEPENDENT, Directions, Linear
from rfbench.sketches.fourier.fastfood import FASTFOOD
from rfbench.sketches.fourier.norms import paired_uniform
from rfbench.sketches.fourier.options import coupled
from rfbench.sketches.fourier.pairs import covariance, mean_of_pairs
from rfbench.sketches.wrappers import ComplexToReal, WrappedMap, Wrapper

ISOTROPIC = ("gaussian", "matern", "laplacian")


@dataclass(frozen=True)
class Fourier(Sketch):
    """Equation (1)."""

    kernel: Kernel
    directions: Directions
    is_complex = True

    def __post_init__(self) -> None:
        if isinstance(self.kernel, BSpline) and self.directions != INDEPENDENT:
            raise InputError("kernel 'b_spline' has frequencies of its own; use sketch=rff without options")
        if isinstance(self.kernel, Bessel) and self.directions.dimension(3) != 3:
            raise InputError("frequencies of kernel 'bessel' are on the sphere of the columns; use sketch=orf")

    def radius(self, d: int, D: int, rng: np.random.Generator) -> Array:
        """ϱ of D frequencies."""
        if isinstance(self.kernel, Bessel):
            return np.full(D, np.sqrt(d / self.kernel.l2))
        if self.directions.lengths == "paired":
            h = self.directions.dimension(d)
            return length_quantile(self.kernel, h, paired_uniform(D, h, rng))
        return self.directions.norms(d, D, rng) * scales(self.kernel, D, rng)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        if isinstance(self.kernel, BSpline):
            return FourierMap(Linear(self.kernel.frequencies((d, D), rng).astype(dtype)))
        directions = self.directions.on_sphere() if self.own_radius else self.directions
        return FourierMap(directions.draw(d, self.radius(d, D, rng), rng, dtype))

    @property
    def own_radius(self) -> bool:
        """Whether lengths are not those of Gaussian vectors, up to a factor."""
        return isinstance(self.kernel, Bessel)

    def adapt(self, X: Array, D: int) -> "Fourier":
        return replace(self, directions=self.directions.adapt(X))

    @property
    def stated_bias(self) -> str | None:
        if self.directions.lengths == "constant" and not isinstance(self.kernel, Bessel):
            return self.directions.stated_bias or "all its frequencies have one length"
        return self.directions.stated_bias

    def mean(self, X: Array, Y: Array) -> Array:
        """E k̂ of all pairs."""
        return self.kernel.gram(X, Y)

    @property
    def closed_form(self) -> ClosedForm | None:
        """Equation (4), and for coupled frequencies what pairs.py adds."""
        if not (self.directions.independent or self.known_pairs):
            return None

        def variance(X: Array, Y: Array, D: int) -> Array:
            alone = np.maximum(1 - self.mean(X, Y) ** 2, 0) / D
            return np.maximum(alone + self._coupling(X, Y, D, -1), 0) if self.known_pairs else alone

        def pseudo_variance(X: Array, Y: Array, D: int) -> Array:
            alone = (self.mean(2 * X, 2 * Y) - self.mean(X, Y) ** 2) / D
            return alone + self._coupling(X, Y, D, 1) if self.known_pairs else alone

        return ClosedForm(variance, pseudo_variance, mean=lambda X, Y, D: self.mean(X, Y))

    @property
    def known_pairs(self) -> bool:
        """Whether equation (1) of pairs.py holds for two frequencies of a block."""
        if self.directions.cosine(2) is None:
            return False
        return type(self.kernel) is Bessel or (type(self.kernel) is Gaussian and self.directions.lengths != "constant")

    def _coupling(self, X: Array, Y: Array, D: int, side: int) -> Array:
        """The covariance of conjugated (side −1) or plain (1) complex features."""
        assert isinstance(self.kernel, Bessel | Gaussian)
        d, s = X.shape[1], squared_distances(X, Y) / self.kernel.l2
        cosine = side * (self.directions.cosine(d) or 0.0)
        norms = "constant" if isinstance(self.kernel, Bessel) else self.directions.lengths
        return covariance(d, D, norms, self.mean(X, Y) ** 2, lambda at: mean_of_pairs(at, d, cosine, s, -1))


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


def complex_fourier(directions: Directions, kernel: Kernel) -> Fourier:
    return Fourier(kernel, directions)


def real_fourier(directions: Directions, kernel: Kernel) -> RealFourier:
    return RealFourier(Fourier(kernel, directions))


def phase_fourier(directions: Directions, kernel: Kernel) -> PhaseFourier:
    return PhaseFourier(Fourier(kernel, directions))


VARIANTS: tuple[tuple[str, Callable[[Directions, Any], Sketch]], ...] = (
    ("", real_fourier),
    ("complex_", complex_fourier),
    ("phase_", phase_fourier),
)
KINDS = {
    "rff": ("independent", (*ISOTROPIC, "bessel", "b_spline"), "closed form", "d D"),
    "orf": ("orthogonal", (*ISOTROPIC, "bessel"), "closed form for gaussian", "d D"),
    "sorf": ("structured", ISOTROPIC, "Monte Carlo", "D log d"),  # its sphere has padded columns
}
FAMILIES = {
    variant + name: Family(coupled(make, directions), kernels, variance, cost)
    for name, (directions, kernels, variance, cost) in KINDS.items()
    for variant, make in VARIANTS
}
FAMILIES |= {  # its sphere has padded columns too
    f"{variant}fastfood": Family(partial(make, FASTFOOD), ISOTROPIC, "Monte Carlo", "D log d")
    for variant, make in VARIANTS
}
