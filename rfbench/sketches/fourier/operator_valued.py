"""Operator-valued random Fourier features: decomposable, curl-free, divergence-free  [Brault et al. 2016].

The map is φ of the Gaussian kernel, D/2 cosines and D/2 sines, with a coupling of outputs; D is the length of φ.

For fields of d coordinates A(ω) grows with ‖ω‖².  Here the density of ω does instead: Gaussian times ‖ω‖² l²/d, which
is the same direction with the radius χ_{d+2}/l, and A(ω) is divided by that.  The mean is the same kernel, the features
are bounded, and for curl-free fields on the plane the variance at δ = 0 is a third.  For independent frequencies, with
the Frobenius norm and E over one ω, the estimate has

    E‖K̂ − K‖² = (2/D) (½ (1 + E cos⟨ω, 2δ⟩) ‖A‖² − ‖K(δ)‖²)                                             (1)

with ‖A‖² = ((1 − c)²(d − 1) + c²) d²/l⁴ and E cos⟨ω, δ⟩ = −Δk(δ) l²/d = k(δ) (1 − ‖δ‖²/(d l²)) for fields.

Points of a scrambled Sobol sequence cover the frequencies more evenly [Yang et al. 2014].  Each has the same law, up to
sign, so the mean is the same; the variance is smaller and not known.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array, squared_distances
from rfbench.checks import InputError, did_you_mean
from rfbench.kernels.decomposable import Decomposable
from rfbench.kernels.matrix import FieldKernel, MatrixKernel
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.couplings import Coupling, Field, Gradient, Kron
from rfbench.sketches.fourier.directions import INDEPENDENT, Linear
from rfbench.sketches.fourier.waves import RealFourierMap, RealIndependentFourier, real_fourier


@dataclass(frozen=True)
class OperatorFourier(ClosedForm):
    """φ, and how the outputs are coupled."""

    kernel: MatrixKernel

    @property
    def scalar(self) -> RealIndependentFourier:
        """The sketch of k."""
        sketch = real_fourier(INDEPENDENT, self.kernel.gaussian)
        assert isinstance(sketch, RealIndependentFourier)
        return sketch

    def objection(self, D: int) -> str | None:
        return self.scalar.objection(D)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> "OperatorMap":
        scalar = self.scalar.sample(d, D, rng, dtype)
        assert isinstance(scalar, RealFourierMap)
        assert isinstance(scalar.projection, Linear)
        return self.at(scalar.projection.W.T)

    def at(self, Omega: Array) -> "OperatorMap":
        """The map of Gaussian frequencies, (D/2, d)."""
        W, V = self.weighted(Omega)
        # Cosines, then sines.
        return OperatorMap(RealFourierMap(Linear(np.ascontiguousarray(W.T))), self.coupling(np.tile(V, (2, 1))))

    def weighted(self, Omega: Array) -> tuple[Array, Array]:
        """Frequencies of another density in place of Gaussian ones, and those of which A(ω) is taken."""
        return Omega, Omega

    @abstractmethod
    def coupling(self, Omega: Array) -> Coupling:
        """M for the frequencies of the features, (D, d)."""


class DecomposableFourier(OperatorFourier):
    kernel: Decomposable

    def coupling(self, Omega: Array) -> Coupling:
        return Kron(len(Omega), self.kernel.B.astype(Omega.dtype))

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        return self.scalar.variance(X, Y, D) * np.sum(self.kernel.A**2)


class FieldFourier(OperatorFourier):
    kernel: FieldKernel

    def weighted(self, Omega: Array) -> tuple[Array, Array]:
        """The same quantile of χ_{d+2} in place of that of χ_d, and frequencies of equal length."""
        from scipy.special import gammaincc, gammainccinv

        d, l = Omega.shape[1], np.sqrt(self.kernel.gaussian.l2)
        radius = np.linalg.norm(Omega, axis=1, keepdims=True).astype(np.float64)
        other = np.sqrt(2 * gammainccinv(d / 2 + 1, gammaincc(d / 2, (l * radius) ** 2 / 2))) / l
        return (Omega * (other / radius)).astype(Omega.dtype), (Omega * (np.sqrt(d) / l / radius)).astype(Omega.dtype)

    def coupling(self, Omega: Array) -> Coupling:
        c = self.kernel.curl_free_part
        return Gradient(Omega) if c == 1 else Field(Omega, c)

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        (_, d), k, c = X.shape, self.kernel.gaussian, self.kernel.curl_free_part
        s = squared_distances(X, Y) / k.l2
        across, along = (1 - c) * (d - 1 - s) + c, (1 - c) * (d - 1) + c * (1 - s)  # eigenvalues of K l²/k
        moment = ((1 - c) ** 2 * (d - 1) + c**2) * d**2 * (1 + np.exp(-2 * s) * (1 - 4 * s / d)) / 2
        return np.maximum(moment - np.exp(-s) * ((d - 1) * across**2 + along**2), 0) * 2 / (D * k.l2**2)


@dataclass(frozen=True)
class QuasiRandom(Sketch):
    """The same at points of a scrambled Sobol sequence."""

    base: OperatorFourier

    def objection(self, D: int) -> str | None:
        return self.base.objection(D)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> "OperatorMap":
        from scipy.special import ndtri
        from scipy.stats.qmc import Sobol

        n, bits = D // 2, 30
        points = Sobol(d, bits=bits, seed=rng).random_base2((n - 1).bit_length())[:n]
        points += 2.0 ** -(bits + 1)  # they may be 0
        points[:, 0] = (points[:, 0] + 1) / 2  # half of the space: ω and −ω have the same waves
        return self.base.at((ndtri(points) / np.sqrt(self.base.kernel.gaussian.l2)).astype(dtype))


class OperatorMap(FeatureMap):
    """φ of a scalar kernel, and M."""

    def __init__(self, scalar: FeatureMap, coupling: Coupling) -> None:
        self.scalar, self.coupling = scalar, coupling
        self.d, self.D, self.dtype, self.order = scalar.d, scalar.D, scalar.dtype, scalar.order

    def write(self, X: Array, out: Array) -> None:
        self.scalar.write(X, out)

    def product(self, Phi: Array, Psi: Array) -> Array:
        return self.coupling.gram(Phi, Psi)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        return self.coupling.paired(Phi, Psi)


POINTS = ("independent", "sobol")


def make(sketch: Callable[[Any], OperatorFourier], kernel: MatrixKernel, points: str = "independent") -> Sketch:
    if points not in POINTS:
        raise InputError(f"no sketch.points '{points}'; {did_you_mean(points, POINTS)}")
    return QuasiRandom(sketch(kernel)) if points == "sobol" else sketch(kernel)


FAMILIES = {
    f"orff_{name}": Family(partial(make, sketch), (name,), "closed form for independent points", "d D")
    for name, sketch in {
        "decomposable": DecomposableFourier,
        "curl_free": FieldFourier,
        "div_free": FieldFourier,
        "helmholtz": FieldFourier,
    }.items()
}
