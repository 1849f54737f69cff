"""Operator-valued random Fourier features: decomposable, curl-free, divergence-free  [Brault et al. 2016].

The map is φ of the Gaussian kernel, D/2 cosines and D/2 sines, with a coupling of outputs; D is the length of φ.  For
independent frequencies, with the Frobenius norm and E over one ω, the estimate has

    E‖K̂ − K‖² = (2/D) (½ E (1 + cos⟨ω, 2δ⟩) ‖A(ω)‖² − ‖K(δ)‖²)                                           (1)

For fields of d coordinates ‖A(ω)‖² = a ‖ω‖⁴ with a = (1 − c)²(d − 1) + c².  The published features draw Gaussian
frequencies [ibid., Examples 2.2 and 2.3]; then, with s = ‖δ‖²/l²,

    E cos⟨ω, δ⟩ ‖ω‖⁴ = ΔΔk(δ) = k(δ) (s² − 2(d + 2) s + d(d + 2))/l⁴                                      (2)

The bounded ones move the factor ‖ω‖² from A(ω) to the density: Gaussian times ‖ω‖² l²/d, which is the same direction
with the radius χ_{d+2}/l, and A(ω) is divided by that factor.  The mean is the same kernel, ‖A‖² = a d²/l⁴ is constant,

    E cos⟨ω, δ⟩ = −Δk(δ) l²/d = k(δ) (1 − s/d)                                                            (3)

and (1) is smaller at every distance, by a/(D l⁴) times 2d + exp(−2s)(16s² − (4d + 16)s + 2d) > 0.

Points of a scrambled Sobol sequence cover the frequencies more evenly [Yang et al. 2014].  Each has the same
distribution, up to sign, so the mean is the same; the variance is smaller and not known in closed form.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, squared_distances
from rfbench.checks import InputError, did_you_mean
from rfbench.kernels.decomposable import Decomposable
from rfbench.kernels.matrix import FieldKernel, MatrixKernel
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.couplings import Coupling, Field, Gradient, Kron
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import INDEPENDENT, Linear
from rfbench.sketches.fourier.quasi import sobol
from rfbench.sketches.fourier.waves import RealFourier, RealFourierMap, real_fourier
from rfbench.sketches.wrappers import WrappedMap, Wrapper


@dataclass(frozen=True)
class OperatorFourier(Sketch):
    """φ, and how the outputs are coupled."""

    kernel: MatrixKernel

    @property
    def scalar(self) -> RealFourier:
        """The sketch of k."""
        return real_fourier(INDEPENDENT, self.kernel.gaussian)

    def objection(self, D: int) -> str | None:
        return self.scalar.objection(D)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> "OperatorMap":
        scalar = self.scalar.sample(d, D, rng, dtype)
        assert isinstance(scalar, RealFourierMap)
        assert isinstance(scalar.base, Linear)
        return self.at(scalar.base.W.T)

    def at(self, Omega: Array) -> "OperatorMap":
        """The map of Gaussian frequencies, (D/2, d)."""
        W, V = self.weighted(Omega)
        # Cosines, then sines.
        return OperatorMap(RealFourierMap(Linear(np.ascontiguousarray(W.T))), self.coupling(np.tile(V, (2, 1))))

    def weighted(self, Omega: Array) -> tuple[Array, Array]:
        """Frequencies of the density that is used, from Gaussian ones, and those at which A(ω) is evaluated."""
        return Omega, Omega

    @abstractmethod
    def coupling(self, Omega: Array) -> Coupling:
        """M for the frequencies of the features, (D, d)."""

    @abstractmethod
    def second_moment(self, d: int) -> Array:
        """E A(ω)², (p, p)."""

    def norm_bound(self, X: Array, Y: Array, D: int) -> Array:
        """(2/D) (½ ‖(K(2δ) + K(0)) K(0) − 2 K(δ)²‖₂ + ‖E A(ω)² − K(0)²‖₂)  [Brault et al. 2016, Proposition 3.1]."""
        (n, d), m, p = X.shape, len(Y), self.kernel.size(X.shape[1])
        near, far = (self.kernel.gram(t * X, t * Y).reshape(n, p, m, p).swapaxes(1, 2) for t in (1, 2))
        K0 = self.kernel.gram(X[:1], X[:1])  # E A(ω)
        within = np.linalg.norm((far + K0) @ K0 - 2 * near @ near, 2, axis=(2, 3))
        return (within / 2 + np.linalg.norm(self.second_moment(d) - K0 @ K0, 2)) * 2 / D


class DecomposableFourier(OperatorFourier):
    kernel: Decomposable

    def coupling(self, Omega: Array) -> Coupling:
        return Kron(len(Omega), self.kernel.B.astype(Omega.dtype))

    @property
    def closed_form(self) -> ClosedForm | None:
        form, squares = self.scalar.closed_form, np.sum(self.kernel.A**2)
        return form and ClosedForm(lambda X, Y, D: form.variance(X, Y, D) * squares, norm_bound=self.norm_bound)

    def second_moment(self, d: int) -> Array:
        return self.kernel.A @ self.kernel.A


class FieldFourier(OperatorFourier):
    """Gaussian frequencies, as published."""

    kernel: FieldKernel

    def coupling(self, Omega: Array) -> Coupling:
        c = self.kernel.curl_free_part
        return Gradient(Omega) if c == 1 else Field(Omega, c)

    def moment(self, s: Array, d: int) -> Array:
        """E cos⟨ω, δ⟩ ‖A(ω)‖² l⁴/a at s = ‖δ‖²/l²: equation (2)."""
        return np.exp(-s / 2) * (s**2 - 2 * (d + 2) * s + d * (d + 2))

    def second_moment(self, d: int) -> Array:
        """‖A(ω)‖² is the trace of A(ω)², and no direction is preferred."""
        return self._a(d) * self.moment(np.zeros(1), d) / (d * self.kernel.gaussian.l2**2) * np.eye(d)

    @property
    def closed_form(self) -> ClosedForm:
        return ClosedForm(self._variance, norm_bound=self.norm_bound)

    def _a(self, d: int) -> float:
        c = self.kernel.curl_free_part
        return (1 - c) ** 2 * (d - 1) + c**2

    def _variance(self, X: Array, Y: Array, D: int) -> Array:
        """Equation (1)."""
        (_, d), l2, c = X.shape, self.kernel.gaussian.l2, self.kernel.curl_free_part
        s = squared_distances(X, Y) / l2
        across, along = (1 - c) * (d - 1 - s) + c, (1 - c) * (d - 1) + c * (1 - s)  # eigenvalues of K l²/k
        second = self._a(d) * (self.moment(np.zeros(1), d) + self.moment(4 * s, d)) / 2
        return np.maximum(second - np.exp(-s) * ((d - 1) * across**2 + along**2), 0) * 2 / (D * l2**2)


class BoundedField(FieldFourier):
    """Frequencies of density ‖ω‖² times Gaussian, and A(ω) of constant norm."""

    def weighted(self, Omega: Array) -> tuple[Array, Array]:
        """Radii at the same quantile of χ_{d+2} as those of χ_d, and frequencies of equal length."""
        from scipy.special import gammaincc, gammainccinv

        d, l = Omega.shape[1], np.sqrt(self.kernel.gaussian.l2)
        radius = np.linalg.norm(Omega, axis=1, keepdims=True).astype(np.float64)
        other = np.sqrt(2 * gammainccinv(d / 2 + 1, gammaincc(d / 2, (l * radius) ** 2 / 2))) / l
        return (Omega * (other / radius)).astype(Omega.dtype), (Omega * (np.sqrt(d) / l / radius)).astype(Omega.dtype)

    def moment(self, s: Array, d: int) -> Array:
        """Equation (3)."""
        return d**2 * np.exp(-s / 2) * (1 - s / d)


@dataclass(frozen=True)
class QuasiRandom(Wrapper):
    """The same at points of a scrambled Sobol sequence."""

    base: OperatorFourier

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> "OperatorMap":
        from scipy.special import ndtri

        points = sobol(D // 2, d, rng)
        points[:, 0] = (points[:, 0] + 1) / 2  # half of the space: ω and −ω give the same waves
        return self.base.at((ndtri(points) / np.sqrt(self.base.kernel.gaussian.l2)).astype(dtype))


class OperatorMap(WrappedMap):
    """φ of a scalar kernel, and M."""

    coupling: Coupling

    def __init__(self, base: FeatureMap, coupling: Coupling) -> None:
        super().__init__(base)
        self.coupling = coupling

    def write(self, X: Array, out: Array) -> None:
        self.base.write(X, out)

    def product(self, Phi: Array, Psi: Array) -> Array:
        return self.coupling.gram(Phi, Psi)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        return self.coupling.paired(Phi, Psi)


POINTS = ("independent", "sobol")
DENSITIES = {"bounded": BoundedField, "gaussian": FieldFourier}


def decomposable(kernel: Decomposable, points: str = "independent") -> Sketch:
    return at_points(DecomposableFourier(kernel), points)


def field(kernel: FieldKernel, points: str = "independent", density: str = "bounded") -> Sketch:
    if density not in DENSITIES:
        raise InputError(f"no sketch.density '{density}'; {did_you_mean(density, DENSITIES)}")
    return at_points(DENSITIES[density](kernel), points)


def at_points(sketch: OperatorFourier, points: str) -> Sketch:
    if points not in POINTS:
        raise InputError(f"no sketch.points '{points}'; {did_you_mean(points, POINTS)}")
    return QuasiRandom(sketch) if points == "sobol" else sketch


MAKERS: dict[str, Callable[..., Sketch]] = {
    "decomposable": decomposable,
    "curl_free": field,
    "div_free": field,
    "helmholtz": field,
}
FAMILIES = {
    f"orff_{name}": Family(make, (name,), "closed form for independent points", "d D") for name, make in MAKERS.items()
}
