"""Maclaurin sketches: features for any dot product kernel, one polynomial sketch per degree of its series.

    k(x, y) = g(x) g(y) Σ aₙ ⟨x, y⟩ⁿ,        Φ(x) = g(x) [√w₁ Φ₁(x), √w₂ Φ₂(x), .., √a₀]                            (1)

with Φₙ a sketch of ⟨x, y⟩ⁿ with Dₙ features [Wacker 2022, Algorithm 6; g ≠ 1 for the Gaussian kernel, 5.3.1].  Degree 0
is exact and takes one of the D features; degree 1 may be exact too, Φ₁(x) = x with one feature for each column (the
heuristic H0/1 of Kar & Karnick 2012).  Random and optimized Maclaurin sketches share this module.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, inner, padded
from rfbench.checks import require
from rfbench.kernels.base import DotProductKernel
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.exact import IdentityMap
from rfbench.sketches.maclaurin.allocation import Term, starts, statistics
from rfbench.sketches.products import tensor_sketch
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import require_base
from rfbench.sketches.products.weights import Law
from rfbench.sketches.wrappers import ComplexToReal, Concatenated

MOST_DEGREE = 100  # n! of higher degrees leaves no digit of a coefficient, and each degree needs its own statistics

Part = tuple[int, int, float]  # n > 0, Dₙ, wₙ
KERNELS = ("polynomial", "polynomial_sphere", "exponential", "gaussian")


def power(base: str, n: int) -> Sketch:
    """The product sketch or TensorSketch of ⟨x, y⟩ⁿ."""
    return (tensor_sketch.tensor_sketch if base in tensor_sketch.FAMILIES else homogeneous)(base, n)


def term(base: str, n: int, d: int = 1) -> Term:
    """Φₙ.  In degree 1 complex-to-real pairs are no better than two real features [Wacker 2022, 4.2.1]: it is real."""
    sketch = power(base.removeprefix("ctr_") if n == 1 else base, n)
    form, unit = sketch.closed_form, 1 + isinstance(sketch, ComplexToReal)
    assert form
    if base in tensor_sketch.FAMILIES:
        return Term(sketch, form, unit, 3, tensor_sketch.convolved)
    return Term(sketch, form, unit, padded(d) if base.endswith("tensorsrht") else 1)


@dataclass(frozen=True)
class MaclaurinSketch(Sketch):
    """Features of single degrees of a series."""

    kernel: DotProductKernel
    base: str = "rademacher"
    by_degree = True

    def __post_init__(self) -> None:
        require_base(self.base, tensor_sketch.FAMILIES)

    @property
    def is_complex(self) -> bool:
        return power(self.base, 1).is_complex

    @property
    def weight_law(self) -> Law | None:
        return power(self.base, 2).weight_law

    @property
    def linear(self) -> bool:
        """Whether degree 1 is exact."""
        return False

    @property
    @abstractmethod
    def shortest(self) -> int:
        """The lowest degree at which a draw may end."""

    @property
    def truncation(self) -> str | None:
        p = self.kernel.power
        if p is None:
            return f"the series of kernel '{self.kernel.name}' is infinite; use a Fourier sketch"
        return None if self.shortest >= p else f"use sketch.p_max={p} (and sketch.p_min={p}) or more"

    def degree_errors(self, X: Array, last: int) -> Iterator[tuple[int, float, float]]:
        terms = {n: term(self.base, n, X.shape[1]) for n in self.degrees(last)}
        curves, biases = statistics(self.kernel, terms, X)
        return ((n, curve.V, float(bias)) for n, curve, bias in zip(terms, curves, biases, strict=True))

    @property
    def constant(self) -> int:
        """D₀: one, or zero where a₀ = 0."""
        return int(self.kernel.power is None or self.kernel.coefficients(np.array([0]))[0] > 0)

    def degrees(self, last: int) -> list[int]:
        """1 ≤ n ≤ last with aₙ > 0; an infinite series has them all."""
        p = self.kernel.power
        if p is None:
            return list(range(1, last + 1))
        found = np.flatnonzero(self.kernel.coefficients(np.arange(min(last, p) + 1))).tolist()
        require(any(found), "sketch.p_max", f"at least {p}, the only degree of this kernel", last)
        return [n for n in found if n]

    def radial(self, X: Array, Y: Array) -> Array:
        """g(x) g(y) of all pairs."""
        return np.outer(self.kernel.radial(X), self.kernel.radial(Y))

    def truncated(self, X: Array, Y: Array, degrees: Sequence[int]) -> Array:
        """Degree 0 and some others of the series, for all pairs."""
        n, s = np.array([0, *degrees]), inner(X, Y)
        terms = (a * s**k for k, a in zip(n.tolist(), self.kernel.coefficients(n), strict=True))
        return self.radial(X, Y) * sum(terms, np.zeros_like(s))

    def refusal(self, D: int, degrees: list[int]) -> str | None:
        """Why D features cannot have each of these degrees, or None."""
        first, step = starts([term(self.base, n) for n in degrees], D - self.constant)
        least = int(first.sum()) + self.constant
        if (D - least) % step:
            return f"complex-to-real sketches of this kernel need an even number of features; {D} were asked for"
        return f"this kernel needs at least {least} features; {D} were asked for" if least > D else None

    @abstractmethod
    def allot(self, D: int, rng: np.random.Generator) -> list[Part]:
        """Degrees in order that have features in a draw, how many, and their weights."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        """Equation (1)."""
        parts = self.allot(D - d * self.linear, rng)
        maps = [term(self.base, n).sketch.sample(d, D_n, rng, dtype) for n, D_n, _ in parts]
        degrees, weights = [n for n, *_ in parts], [w for *_, w in parts]
        a0, a1 = self.kernel.coefficients(np.arange(2))
        if self.linear:
            maps, degrees, weights = [*maps, IdentityMap(d, dtype)], [*degrees, 1], [*weights, a1]
        if self.constant:
            maps, degrees, weights = [*maps, One(d, maps[0].dtype)], [*degrees, 0], [*weights, a0]
        return SeriesMap(maps, np.sqrt(weights).astype(dtype), self.kernel, degrees)


class One(FeatureMap):
    """Degree 0."""

    def __init__(self, d: int, dtype: Any) -> None:
        self.d, self.D, self.dtype = d, 1, dtype

    def write(self, X: Array, out: Array) -> None:
        out[...] = 1


class SeriesMap(Concatenated):
    """Equation (1)."""

    def __init__(self, maps: list[FeatureMap], weights: Array, kernel: DotProductKernel, degrees: list[int]) -> None:
        super().__init__(maps, weights)
        self.counts = {n: part.D for n, part in zip(degrees, maps, strict=True)}
        self.radial = None if type(kernel).radial is DotProductKernel.radial else kernel.radial

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        g = self.radial(X).astype(self.weights.dtype)[:, None] if self.radial else None
        for features, Phi in super().tiles(X):
            if g is not None:
                Phi *= g
            yield features, Phi
