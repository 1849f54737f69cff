"""Random Maclaurin features [Kar & Karnick 2012].

The degree of every feature is drawn from μ(n) ∝ c^−(n+1), 1 ≤ n ≤ p, and wₙ = aₙ Dₙ/E[Dₙ], which for each feature is
the aₙ/μ(n) of Wacker 2022, Eq. 5.9: other draws compensate for a degree that got no feature.  With Cₙ the variance of
one feature, bₙ = aₙ⟨x, y⟩ⁿ/E[Dₙ] and N draws of u columns (2 where Φₙ is complex-to-real),

    Var = g² g² { Σ aₙ² Cₙ/E[Dₙ] + u² N [Σ μ(n) bₙ² − (Σ μ(n) bₙ)²] }                                             (1)

If degree 1 is exact (the heuristic H0/1), the rows are d of the features, and the others have degrees from 2 on.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rfbench.arrays import Array, inner
from rfbench.checks import InputError, require
from rfbench.sketches.base import ClosedForm
from rfbench.sketches.family import Family
from rfbench.sketches.maclaurin.series import KERNELS, MOST_DEGREE, MaclaurinSketch, Part, term

INFINITE = 20  # the last degree drawn of an infinite series
DEPENDENT = ("tensorsrht", "tensorsketch")  # bases whose features of one degree depend on each other


@dataclass(frozen=True)
class RandomMaclaurin(MaclaurinSketch):
    """Degrees drawn from μ."""

    c: float = 2.0
    p_max: int | None = None  # None: the degree of the kernel
    exact_degree: int = field(default=0, repr=False)  # 1: H0/1; names of draws do not contain it

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.c > 1, "sketch.c", "above 1", self.c)
        good = self.p_max is None or 1 <= self.p_max <= MOST_DEGREE
        require(good, "sketch.p_max", f"from 1 to {MOST_DEGREE}", self.p_max)
        require(self.exact_degree in (0, 1), "sketch.exact_degree", "0 or 1", self.exact_degree)
        if not self.support:
            raise InputError("sketch.exact_degree=1 leaves no degree to draw; use sketch.exact_degree=0")

    @property
    def linear(self) -> bool:
        return self.exact_degree == 1 and bool(self.kernel.coefficients(np.array([1]))[0])

    @property
    def shortest(self) -> int:
        return self.support[-1]

    @cached_property
    def support(self) -> list[int]:
        """The degrees that are drawn."""
        return [n for n in self.degrees(self.p_max or self.kernel.power or INFINITE) if n > self.linear]

    def objection(self, D: int) -> str | None:
        if self.linear:  # it depends on the columns: `count` refuses
            return None
        return self.refusal(D, self.support[:2])  # two of them, so that an odd column is not the only one

    def count(self, d: int, D: int) -> int:
        """An odd column, which no pair fills, is left out where degree 1 is exact."""
        if not self.linear:
            return D
        u = self.unit
        D -= (D - d - self.constant) % u
        if (least := d + self.constant + u) > D:
            raise InputError(
                f"sketch.exact_degree=1 of {d} columns needs at least {least} features; {D} were asked for"
            )
        return D

    @cached_property
    def unit(self) -> int:
        """u of equation (1)."""
        return max(term(self.base, n).unit for n in self.support)

    def draws(self, D: int) -> tuple[Array, int, int, Array]:
        """(μ, N, u, E[Dₙ]) of the D features that are not of an exact degree 1; an odd column of pairs has degree 1."""
        n = np.array(self.support)
        mu = self.c ** (n[0] - n - 1.0)
        mu /= mu.sum()
        u = self.unit
        N, odd = divmod(D - self.constant, u)
        return mu, N, u, u * N * mu + odd * (n == 1)

    def allot(self, D: int, rng: np.random.Generator) -> list[Part]:
        mu, N, u, expected = self.draws(D)
        counts = u * rng.multinomial(N, mu)
        counts[0] += D - self.constant - u * N
        weights = self.kernel.coefficients(np.array(self.support)) * counts / expected
        return [part for part in zip(self.support, counts.tolist(), weights, strict=True) if part[1]]

    @property
    def closed_form(self) -> ClosedForm | None:
        return None if self.base.endswith(DEPENDENT) else ClosedForm(self._variance, mean=self._mean)

    def _mean(self, X: Array, Y: Array, D: int) -> Array:
        return self.truncated(X, Y, [*[1] * self.linear, *self.support])

    def _variance(self, X: Array, Y: Array, D: int) -> Array:
        """Equation (1)."""
        mu, N, u, expected = self.draws(D - X.shape[1] * self.linear)
        a, s = self.kernel.coefficients(np.array(self.support)), inner(X, Y)
        within, square, mean = np.zeros((3, *s.shape))
        for n, a_n, mu_n, E in zip(self.support, a, mu, expected, strict=True):
            _, form, unit, *_ = term(self.base, n)
            within += a_n**2 * unit * form.variance(X, Y, unit) / E
            b = a_n * s**n / E
            square += mu_n * b**2
            mean += mu_n * b
        between = u**2 * N * np.maximum(square - mean**2, 0)
        return self.radial(X, Y) ** 2 * (within + between)


FAMILIES = {
    "random_maclaurin": Family(RandomMaclaurin, KERNELS, "closed form for independent features", "that of its base")
}
