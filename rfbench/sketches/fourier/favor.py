"""Features for exp(⟨x, y⟩/l²): positive ones, and Fourier features with a radial factor.

With frequencies ω = z/l, z ~ N(0, I),

    Φ(x) = exp(⟨ωᵢ, x⟩ − ‖x‖²/2l²)ᵢ / √D                       [Choromanski et al. 2021, Lemma 1]       (1)
    Φ(x) = exp(‖x‖²/2l²) Φ_RFF(x)                               [ibid., Eq. 4; Wacker 2022, Fig. 7.1]    (2)

are unbiased, with variances k² (exp(‖x + y‖²/l²) − 1)/D and exp((‖x‖² + ‖y‖²)/l²) Var_RFF for independent ω.
Orthogonal ω lower both, by pairs.py; ω of a simplex lower that of (1) most of all sets of angles [Reid et al. 2023].
With constant norms every z has the length √d (the regularised softmax kernel of [Choromanski et al. 2021, Theorem 1]):
no draw is extreme, Φ is at most exp(d/2), and the mean is, with Λ_d of spherical_fit.py,
exp(−(‖x‖² + ‖y‖²)/2l²) Λ_d(i √d ‖x + y‖/l), slightly below k.  Their code subtracts a maximum instead: a maximum over
the features of a row only cancels in a softmax, and a maximum over all rows makes each row depend on the others.

Every A < 1/8 gives an unbiased form of (1), for l = 1

    Φ(x) = (1 − 4A)^{d/4} exp(A ‖zᵢ‖² + √(1 − 4A) ⟨zᵢ, x⟩ − ‖x‖²/2)ᵢ / √D   [Likhosherstov et al. 2022]              (3)
    E (k̂ of one feature)² = (1 − 4A)^d (1 − 8A)^{−d/2} exp(2 (1 − 4A)/(1 − 8A) ‖x + y‖² − ‖x‖² − ‖y‖²)             (4)

With A = (1 − 1/ρ)/8, (4) is least for the root ρ of 2φρ² + (2φ + d)ρ = d, φ = ‖x + y‖²; FAVOR++ takes the mean φ of
pairs of training rows, and A < 0 bounds the features.  exp⟨x, y⟩ = exp⟨Ψx, Ψ⁻¹y⟩ for every diagonal Ψ: SADERF gives
queries x and keys y the Ψ with the least mean φ, Ψᵢ⁴ = E yᵢ² / E xᵢ² [Likhosherstov et al. 2023].
"""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rfbench.arrays import Array, squared_norms
from rfbench.checks import require
from rfbench.kernels.exponential import Exponential, Gaussian
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import Directions
from rfbench.sketches.fourier.options import coupled
from rfbench.sketches.fourier.pairs import Lengths, covariance, mean_of_pairs
from rfbench.sketches.fourier.waves import real_fourier
from rfbench.sketches.wrappers import WrappedMap, Wrapper


@dataclass(frozen=True)
class Favor(Sketch):
    """Equation (1)."""

    kernel: Exponential
    directions: Directions
    A: float = 0.0  # of equation (3)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        radius = self.directions.norms(d, D, rng) * np.sqrt((1 - 4 * self.A) / self.kernel.l2)
        return FavorMap(self.directions.draw(d, radius, rng, dtype), self.kernel.l2, self.A)

    @property
    def stated_bias(self) -> str | None:
        one_length = "all its frequencies have one length" if self.directions.lengths == "constant" else None
        return self.directions.stated_bias or one_length

    @property
    def closed_form(self) -> ClosedForm | None:
        known_pairs = self.directions.cosine(2) is not None and self.directions.lengths != "constant"
        if not (self.directions.independent or known_pairs):
            return None

        def variance(X: Array, Y: Array, D: int) -> Array:
            k, norms, d = self.kernel.gram(X, Y), norms_of_pairs(X, Y) / self.kernel.l2, X.shape[1]
            v2, tilt, wide = norms + 2 * np.log(k), 1 - 4 * self.A, 1 - 8 * self.A  # v2 = ‖x + y‖²/l²
            factor = d * np.log(tilt) - d / 2 * np.log(wide)
            alone = (np.exp(factor + 2 * tilt / wide * v2 - norms) - k**2) / D
            return alone + self._coupling(k, norms, np.maximum(v2, 0), d, D) if known_pairs else alone

        return ClosedForm(variance)

    def _coupling(self, k: Array, norms: Array, v2: Array, d: int, D: int) -> Array:
        """The covariance of two features of a block, by equation (2) of pairs.py."""
        cosine = self.directions.cosine(d) or 0.0

        def mean(lengths: Lengths) -> Array:
            return np.exp(-norms) * mean_of_pairs(lengths.tilted(self.A, d), d, cosine, v2, 1)

        return covariance(d, D, self.directions.lengths, k**2, mean)


@dataclass(frozen=True)
class OptimalFavor(Favor):
    """Equation (3) with the A of least mean exponent on training rows: FAVOR++."""

    def __post_init__(self) -> None:
        norms = self.directions.lengths
        require(norms != "constant", "sketch.norms", "independent or paired, because features depend on them", norms)

    def adapt(self, X: Array, D: int) -> Sketch:
        return self.between(X, X)

    def between(self, queries: Array, keys: Array) -> Sketch:
        return replace(self, A=optimal_A(queries, keys, self.kernel.l2))

    def facts(self) -> dict[str, Any]:
        return {"A": self.A}


@dataclass(frozen=True)
class Saderf(OptimalFavor):
    """FAVOR++ of Ψx and Ψ⁻¹y, for queries x and keys y; of rows of one kind it is FAVOR++ itself."""

    psi: tuple[float, ...] = ()

    def adapt(self, X: Array, D: int) -> Sketch:
        return replace(self, A=optimal_A(X, X, self.kernel.l2), psi=())

    def between(self, queries: Array, keys: Array) -> Sketch:
        x2, y2 = (np.square(rows, dtype=np.float64).mean(0) for rows in (queries, keys))
        both = (x2 > 0) & (y2 > 0)  # any Ψ is right where a column is zero on one side
        psi = np.where(both, np.where(both, y2, 1) / np.where(both, x2, 1), 1) ** 0.25
        return replace(self, A=optimal_A(queries * psi, keys / psi, self.kernel.l2), psi=tuple(psi.tolist()))

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        features = super().sample(d, D, rng, dtype)
        assert isinstance(features, FavorMap)
        features.psi = np.array(self.psi, dtype) if self.psi else None
        return features

    @property
    def closed_form(self) -> ClosedForm | None:
        form = super().closed_form
        if form is None or not self.psi:
            return form
        psi = np.array(self.psi)
        return ClosedForm(lambda X, Y, D: form.variance(X * psi, Y / psi, D))


def optimal_A(X: Array, Y: Array, l2: float) -> float:
    """A of equation (3) for the mean ‖x + y‖²/l² of all pairs."""
    d, squares = X.shape[1], squared_norms(X).mean() + squared_norms(Y).mean()
    phi = float(squares + 2 * X.mean(0, dtype=np.float64) @ Y.mean(0, dtype=np.float64)) / l2
    b = 2 * phi + d
    return (1 - (b + np.sqrt(b * b + 8 * phi * d)) / (2 * d)) / 8  # 1/ρ = (b + √(b² + 8φd))/2d


def favor(directions: Directions, kernel: Exponential) -> Favor:
    return Favor(kernel, directions)


def favor_plus_plus(directions: Directions, kernel: Exponential) -> OptimalFavor:
    return OptimalFavor(kernel, directions)


def saderf(directions: Directions, kernel: Exponential) -> Saderf:
    return Saderf(kernel, directions)


class FavorMap(WrappedMap):
    """Equation (3) of the projections √(1 − 4A) ⟨ω, x⟩, for keys x of which Ψ⁻¹ is taken where there is one."""

    def __init__(self, base: FeatureMap, l2: float, A: float = 0.0) -> None:
        super().__init__(base)
        self.l2, self.psi, self.added = l2, None, None
        if A:
            W = base(np.eye(base.d, dtype=base.dtype)).astype(np.float64)
            z2 = np.einsum("ij,ij->j", W, W) * l2 / (1 - 4 * A)
            self.added = (A * z2 + 0.25 * base.d * np.log(1 - 4 * A)).astype(base.dtype)

    psi: Array | None
    added: Array | None  # to the exponent of each feature

    def write(self, X: Array, out: Array) -> None:
        if self.psi is not None:
            X = X / self.psi
        self.base.write(X, out)
        out -= half_norms(X, self.l2) + 0.5 * float(np.log(self.D))
        if self.added is not None:
            out += self.added
        np.exp(out, out=out)

    def of_queries(self) -> FeatureMap:
        if self.psi is None:
            return self
        other = copy(self)
        other.psi = 1 / self.psi
        return other


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


def exponential_rff(directions: Directions, kernel: Exponential) -> ExponentialFourier:
    return ExponentialFourier(real_fourier(directions, Gaussian(kernel.length_scale)), kernel)


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
    "favor": Family(coupled(favor, "orthogonal"), ("exponential",), "closed form", "d D"),
    "favor_plus_plus": Family(coupled(favor_plus_plus, "orthogonal"), ("exponential",), "closed form", "d D"),
    "saderf": Family(coupled(saderf, "orthogonal"), ("exponential",), "closed form", "d D"),
    "exponential_rff": Family(coupled(exponential_rff, "independent"), ("exponential",), "closed form", "d D"),
}
