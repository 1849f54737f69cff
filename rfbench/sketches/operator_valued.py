"""Operator-valued random Fourier features: decomposable, curl-free, divergence-free  [Brault et al. 2016].

The map is φ of the Gaussian kernel, D/2 cosines and D/2 sines, with a coupling of outputs; D is the length of φ.  For
independent frequencies, with the Frobenius norm and E over one ω, the estimate has

    E‖K̂ − K‖² = (2/D) (½ E[(1 + cos⟨ω, 2δ⟩) ‖A(ω)‖²] − ‖K(δ)‖²)                                        (1)

‖A(ω)‖² is ‖A‖² or, for fields of d coordinates, ((1 − c)²(d − 1) + c²) ‖ω‖⁴, where with s = ‖δ‖²/l²

    E[‖ω‖⁴ cos⟨ω, δ⟩] = Δ²k(δ) = k(δ) (s² − 2(d + 2) s + d(d + 2))/l⁴                                  (2)
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.kernels.base import squared_distances
from rfbench.kernels.decomposable import Decomposable
from rfbench.kernels.matrix import FieldKernel, MatrixKernel
from rfbench.sketches.base import ClosedForm, FeatureMap
from rfbench.sketches.couplings import Coupling, Field, Gradient, Kron
from rfbench.sketches.directions import INDEPENDENT, Linear
from rfbench.sketches.family import Family
from rfbench.sketches.fourier import RealFourierMap, RealIndependentFourier, real_fourier

Array = NDArray[Any]


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
        Omega = np.tile(scalar.projection.W.T, (2, 1))  # cosines, then sines
        return OperatorMap(scalar, self.coupling(Omega))

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

    def coupling(self, Omega: Array) -> Coupling:
        c = self.kernel.curl_free_part
        return Gradient(Omega) if c == 1 else Field(Omega, c)

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        (_, d), k, c = X.shape, self.kernel.gaussian, self.kernel.curl_free_part
        s = squared_distances(X, Y) / k.l2

        def fourth(s: Array) -> Array:  # equation (2) times l⁴
            return np.exp(-s / 2) * (s**2 - 2 * (d + 2) * s + d * (d + 2))

        across, along = (1 - c) * (d - 1 - s) + c, (1 - c) * (d - 1) + c * (1 - s)  # eigenvalues of K l²/k
        moment = ((1 - c) ** 2 * (d - 1) + c**2) * (fourth(np.zeros(1)) + fourth(4 * s)) / 2
        return np.maximum(moment - np.exp(-s) * ((d - 1) * across**2 + along**2), 0) * 2 / (D * k.l2**2)


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


FAMILIES = {
    "orff_decomposable": Family(DecomposableFourier, ("decomposable",), "closed form", "d D"),
    "orff_curl_free": Family(FieldFourier, ("curl_free",), "closed form", "d D"),
    "orff_div_free": Family(FieldFourier, ("div_free",), "closed form", "d D"),
    "orff_helmholtz": Family(FieldFourier, ("helmholtz",), "closed form", "d D"),
}
