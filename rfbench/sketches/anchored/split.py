"""The mean direction taken out of a dot product kernel.

With u the direction of the mean training row, c = ⟨x, u⟩ and r = x − c u, a kernel Σ aₙ ⟨x, y⟩ⁿ is

    Σ_j f_j(c c') ⟨r, r'⟩ʲ,        f_j(t) = Σ_i a_{i+j} C(i+j, j) tⁱ                                             (1)

(for (γ⟨x, y⟩ + ν)ᵖ, f_j(t) = C(p, j) γʲ (γ t + ν)^{p−j}).  f_j(c c') is the inner product of few explicit features

    e_j(c)ᵢ = √(a_{i+j} C(i+j, j)) cⁱ,                                                                           (2)

which are rotated to their principal axes on the training rows: a rotation changes no inner product, and nearly all of
their energy is then in the first.  A radial factor g(x) of the kernel is a factor of e_j.

An infinite series ends at the degree after which the rest of f(t) is below the rounding of single precision, for t the
largest ‖x‖² of the training rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from rfbench.arrays import Array, inner, squared_norms
from rfbench.checks import InputError
from rfbench.kernels.base import DotProductKernel

ROUNDING = 2.0**-24
LONGEST = 100  # degrees of an infinite series; beyond, its numbers would not fit into double precision


class Lifted(NamedTuple):
    """Rows in double precision: degree j of (1) is ⟨e_j, e_j'⟩ ⟨r, r'⟩ʲ."""

    e: list[Array]  # (n, features) for every degree
    r: Array  # (n, d)

    def norms(self) -> Iterator[Array]:
        """Every degree of k(x, x), (n,)."""
        s = squared_norms(self.r)
        return (squared_norms(e) * s**j for j, e in enumerate(self.e))

    def grams(self, other: "Lifted") -> Iterator[Array]:
        """Every degree of k of all pairs, (n, m)."""
        s = inner(self.r, other.r)
        return (inner(e, e_) * s**j for j, (e, e_) in enumerate(zip(self.e, other.e, strict=True)))


@dataclass(frozen=True, eq=False)
class Split:
    """Equation (1) with lengths in units of the training rows, so that no power of them overflows."""

    kernel: DotProductKernel
    u: Array
    of_mean: float  # the unit of c
    of_rest: float  # the unit of r
    a: Array  # a₀..a_N
    lifts: tuple[Array, ...]  # for j = 0..N: rotated e_j = lift (c⁰, c¹, ..)

    @property
    def degrees(self) -> range:
        return range(1, len(self.a))

    def lifted(self, X: Array) -> Lifted:
        X = X.astype(np.float64, copy=False)
        c = X @ self.u
        powers = np.vander(c / self.of_mean, len(self.a), increasing=True) * self.kernel.radial(X)[:, None]
        e = [powers[:, : lift.shape[1]] @ lift.T for lift in self.lifts]
        return Lifted(e, (X - np.outer(c, self.u)) / self.of_rest)


def fit(kernel: DotProductKernel, X: Array) -> Split:
    """The split of training rows."""
    mean = X.mean(0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    u = mean / length if length else np.eye(1, len(mean))[0]  # without a mean any direction is as good
    c, squares = X @ u, squared_norms(X)
    of_mean, of_rest = (
        float(unit) or 1.0 for unit in (np.abs(c).max(), np.sqrt(np.mean(np.maximum(squares - c**2, 0))))
    )
    a = series(kernel, float(squares.max()))
    powers = np.vander(c / of_mean, len(a), increasing=True) * kernel.radial(X)[:, None]
    lifts = (rotated(coefficients(a, j, of_mean), powers) * of_rest**j for j in range(len(a)))
    return Split(kernel, u, of_mean, of_rest, a, tuple(lifts))


def series(kernel: DotProductKernel, t: float) -> Array:
    """a₀..a_N, where the terms beyond N are below the rounding of f(t)."""
    if kernel.power is not None:
        return kernel.coefficients(np.arange(kernel.power + 1))
    a = kernel.coefficients(np.arange(LONGEST))
    terms = a * t ** np.arange(LONGEST)
    rest = np.cumsum(terms[::-1])[::-1]  # from every degree on
    small = np.flatnonzero(rest <= ROUNDING * rest[0])
    if not len(small):
        raise InputError(
            f"the series of kernel '{kernel.name}' is too long for rows of squared length {t:.3g}; "
            "use a larger kernel.length_scale, unit_norm in dataset.prepare, or another sketch"
        )
    return a[: max(int(small[0]), 2)]


def coefficients(a: Array, j: int, unit: float) -> Array:
    """√(a_{i+j} C(i+j, j)) unitⁱ for i = 0..N − j."""
    i = np.arange(len(a) - j)
    return np.sqrt(a[j:] * np.array([float(comb(n + j, j)) for n in i])) * unit**i


def rotated(e: Array, powers: Array) -> Array:
    """From powers of c to the principal axes of the features eᵢ cⁱ; features that vanish are left out."""
    there = np.flatnonzero(e)
    E = powers[:, there] * e[there]
    lift = np.zeros((len(there), len(e)))
    lift[:, there] = np.linalg.eigh(E.T @ E)[1].T[::-1] * e[there]
    return lift
