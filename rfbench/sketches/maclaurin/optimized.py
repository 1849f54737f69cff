"""Optimized Maclaurin features: Dₙ from training rows as in allocation.py or one_pass.py, wₙ = aₙ  [Wacker 2022, 5.3].

By Eq. 5.13

Var = g² g² Σ aₙ² Var ⟨Φₙ(x), Φₙ(y)⟩                                                                          (1)
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, require
from rfbench.seeds import rng_for
from rfbench.sketches.base import ClosedForm, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.maclaurin.allocation import allocate, statistics
from rfbench.sketches.maclaurin.one_pass import from_scale
from rfbench.sketches.maclaurin.series import KERNELS, MOST_DEGREE, MaclaurinSketch, Part, term

ROWS = 500  # enough according to Wacker 2022, 5.3.2
PAIRS, ONE_PASS = "pairs", "one_pass"


@dataclass(frozen=True)
class OptimizedMaclaurin(MaclaurinSketch):
    """Dₙ from training rows, with p from p_min to p_max and no more than the degree of the kernel."""

    p_min: int = 2
    p_max: int = 10
    rows: int = ROWS
    diagonal: bool = False  # whether errors of k(x, x) count, as in the Frobenius norm of a matrix of so many rows
    allocation: str = PAIRS

    def __post_init__(self) -> None:
        super().__post_init__()
        require(1 <= self.p_min <= self.p_max, "sketch.p_min", f"from 1 to sketch.p_max={self.p_max}", self.p_min)
        require(self.p_max <= MOST_DEGREE, "sketch.p_max", f"from 1 to {MOST_DEGREE}", self.p_max)
        require(self.rows > 1, "sketch.rows", "at least 2", self.rows)
        require(self.allocation in (PAIRS, ONE_PASS), "sketch.allocation", f"{PAIRS} or {ONE_PASS}", self.allocation)
        pairs = self.allocation == PAIRS or not self.diagonal
        require(pairs, "sketch.allocation", f"{PAIRS} for sketch.diagonal=true", self.allocation)

    @property
    def shortest(self) -> int:
        return self.p_min

    @property
    def sample_rows(self) -> int:
        return self.rows

    @property
    def least(self) -> int:
        """The number of degrees up to p_min."""
        return max(sum(n <= self.p_min for n in self.degrees(self.p_max)), 1)

    def objection(self, D: int) -> str | None:
        return self.refusal(D, self.degrees(self.p_max)[: self.least])

    def adapt(self, X: Array, D: int) -> Sketch:
        if objection := self.objection(D):
            raise InputError(objection)
        require(len(X) > 1, "the training rows of optimized_maclaurin", "at least 2", len(X))
        terms = {n: term(self.base, n, X.shape[1]) for n in self.degrees(self.p_max)}
        # Datasets are often sorted, so their first rows are not a random sample.
        some = rng_for(0, "optimized_maclaurin").permutation(len(X))[: self.rows]
        if self.allocation == PAIRS:
            curves, biases = statistics(self.kernel, terms, X[some], self.diagonal)
        else:
            curves, biases = from_scale(self.kernel, terms, X[some])
        counts = dict(zip(terms, allocate(curves, biases, D - self.constant, self.least), strict=False))
        allocation = (self.constant, *(counts.get(n, 0) for n in range(1, max(counts) + 1)))
        return AllocatedMaclaurin(self.kernel, self.base, allocation, self.rows)

    def allot(self, D: int, rng: np.random.Generator) -> list[Part]:
        raise InputError("optimized_maclaurin needs training rows first: call adapt")


@dataclass(frozen=True)
class AllocatedMaclaurin(MaclaurinSketch):
    """Dₙ features of degree n."""

    allocation: tuple[int, ...] = ()  # D₀..D_p, whose sum is D
    sample_rows: int = field(default=ROWS, repr=False)  # if other degrees are to be allocated (remainder.py)

    @property
    def shortest(self) -> int:
        return len(self.allocation) - 1

    def objection(self, D: int) -> str | None:
        total = sum(self.allocation)
        return None if total == D else f"the allocation is for {total} features; {D} were asked for"

    def facts(self) -> dict[str, Any]:
        return {"allocation": {str(n): D_n for n, D_n in enumerate(self.allocation) if D_n}}

    @property
    def parts(self) -> list[Part]:
        n = np.flatnonzero(self.allocation[1:]) + 1
        return list(zip(n.tolist(), np.take(self.allocation, n).tolist(), self.kernel.coefficients(n), strict=True))

    def allot(self, D: int, rng: np.random.Generator) -> list[Part]:
        if objection := self.objection(D):
            raise InputError(objection)
        return self.parts

    @property
    def closed_form(self) -> ClosedForm:
        return ClosedForm(self._variance, mean=self._mean)

    def _mean(self, X: Array, Y: Array, D: int) -> Array:
        """The degrees that have features."""
        return self.truncated(X, Y, [n for n, *_ in self.parts])

    def _variance(self, X: Array, Y: Array, D: int) -> Array:
        """Equation (1)."""
        V = np.zeros((len(X), len(Y)))
        for n, D_n, a in self.parts:
            V += a**2 * term(self.base, n).form.variance(X, Y, D_n)
        return self.radial(X, Y) ** 2 * V


FAMILIES = {"optimized_maclaurin": Family(OptimizedMaclaurin, KERNELS, "closed form", "that of its base")}
