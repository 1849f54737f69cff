"""Optical features of ⟨x, y⟩²: intensities without the other term of their kernel, k₂ = ‖x‖² ‖y‖² + ⟨x, y⟩².

    centred     Φ(x) = (|Ux|² − ‖x‖²)/√D                                                                          (1)
    appended    Φ(x) = (|Ux|²/√(D − 1), i‖x‖²),   k̂ = Φ(x)ᵀΦ(y)    [Wacker 2022, 6.2, which appends i‖x‖]         (2)

Each intensity has the mean ‖x‖², so (1) removes the term from features that are real.  In (2) the transpose does not
conjugate: K̂ may have negative eigenvalues, and no model can take it.  With c = cos²θ,

    Var = ‖x‖⁴ ‖y‖⁴ (1 + 4c + 3c²)/D  of (1),        ‖x‖⁴ ‖y‖⁴ (3 + 14c + 3c²)/(D − 1)  of (2):                    (3)

(1) is as good as the real Gaussian product of degree 2, (2) has 2.5 to 3.1 times its variance.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, inner, squared_norms
from rfbench.checks import InputError, did_you_mean
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.optical.ideal import INTENSITIES
from rfbench.sketches.wrappers import WrappedMap, Wrapper, affine


@dataclass(frozen=True)
class Centred(Wrapper):
    """Equation (1)."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return CentredIntensities(self.base.sample(d, D, rng, dtype), D)

    @property
    def closed_form(self) -> ClosedForm | None:
        """Equation (3): E(a − 1)²(b − 1)² − c² for intensities a and b of rows of length 1."""

        def variance(X: Array, Y: Array, D: int) -> Array:
            s, N = inner(X, Y) ** 2, np.outer(squared_norms(X), squared_norms(Y))
            return (N**2 + 4 * N * s + 3 * s**2) / D

        return ClosedForm(variance) if self.base.closed_form else None


class CentredIntensities(WrappedMap):
    """Some of `total` features."""

    def __init__(self, base: FeatureMap, total: int) -> None:
        super().__init__(base)
        self.total = total

    def parts(self) -> Iterator[FeatureMap]:
        return (CentredIntensities(part, self.total) for part in self.base.parts())

    def write(self, X: Array, out: Array) -> None:
        self.base.write(X, out)
        out -= (squared_norms(X) / np.sqrt(self.total)).astype(self.dtype)[:, None]


@dataclass(frozen=True)
class Appended(Wrapper):
    """Equation (2)."""

    explicit, indefinite = False, True

    def objection(self, D: int) -> str | None:
        return None if D > 1 else "one of the features is i‖x‖²; use features=2 or more"

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return AppendedIntensities(self.base.sample(d, D - 1, rng, dtype))

    @property
    def closed_form(self) -> ClosedForm | None:
        form = self.base.closed_form
        return form and ClosedForm(lambda X, Y, D: form.variance(X, Y, D - 1))


class AppendedIntensities(WrappedMap):
    """The last feature is real here, and `product` knows its sign, so that the others need no imaginary part."""

    explicit = False

    def __init__(self, base: FeatureMap) -> None:
        super().__init__(base)
        self.D = base.D + 1

    def write(self, X: Array, out: Array) -> None:
        self.base.write(X, out[:, :-1])
        out[:, -1] = squared_norms(X)

    def product(self, Phi: Array, Psi: Array) -> Array:
        return Phi[:, :-1] @ Psi[:, :-1].T - np.outer(Phi[:, -1], Psi[:, -1])

    def paired(self, Phi: Array, Psi: Array) -> Array:
        return super().paired(Phi[:, :-1], Psi[:, :-1]) - Phi[:, -1:] * Psi[:, -1:]


CORRECTIONS: dict[str, type[Centred | Appended]] = {"centred": Centred, "appended": Appended}


def make(kernel: AffinePower, correction: str = "centred") -> Sketch:
    degree, gamma, bias = kernel.affine
    if degree != 2:
        raise InputError(f"sketch 'optical_polynomial' estimates polynomials of degree 2; use degree=2, not {degree}")
    if correction not in CORRECTIONS:
        raise InputError(f"no sketch.correction '{correction}'; {did_you_mean(correction, CORRECTIONS)}")
    return affine(CORRECTIONS[correction](INTENSITIES), gamma, bias)


FAMILIES = {"optical_polynomial": Family(make, POWERS[:2], "closed form", "d D")}
