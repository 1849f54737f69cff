"""Maclaurin sketches: features for any dot product kernel, one polynomial sketch per degree of its series.

    k(x, y) = g(x) g(y) Σ aₙ ⟨x, y⟩ⁿ,        Φ(x) = g(x) [√w₁ Φ₁(x), √w₂ Φ₂(x), .., √a₀]                            (1)

with Φₙ a sketch of ⟨x, y⟩ⁿ of Dₙ features [Wacker 2022, Algorithm 6; g ≠ 1 for the Gaussian kernel, 5.3.1].  Degree 0
is exact and takes one feature of D.  Here is what random and optimized Maclaurin sketches share.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, padded
from rfbench.checks import require
from rfbench.kernels.base import DotProductKernel
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.maclaurin.allocation import Term, starts
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import require_base
from rfbench.sketches.wrappers import ComplexToReal, Concatenated

Part = tuple[int, int, float]  # n > 0, Dₙ, wₙ
KERNELS = ("polynomial", "polynomial_sphere", "exponential", "gaussian")


def term(base: str, n: int, d: int = 1) -> Term:
    """Φₙ.  A complex-to-real pair of degree 1 is no better than two real features [Wacker 2022, 4.2.1]: it is real."""
    sketch = homogeneous(base.removeprefix("ctr_") if n == 1 else base, n)
    assert isinstance(sketch, ClosedForm)
    return Term(sketch, 1 + isinstance(sketch, ComplexToReal), padded(d) if base.endswith("tensorsrht") else 1)


@dataclass(frozen=True)
class MaclaurinSketch(Sketch):
    """What they share."""

    kernel: DotProductKernel
    base: str = "rademacher"

    def __post_init__(self) -> None:
        require_base(self.base)

    @property
    def constant(self) -> int:
        """D₀: one, or none where a₀ = 0."""
        return int(self.kernel.power is None or self.kernel.coefficients(np.array([0]))[0] > 0)

    def degrees(self, last: int) -> list[int]:
        """1 ≤ n ≤ last with aₙ > 0.  A series without end has them all, before its length scale is known too."""
        p = self.kernel.power
        if p is None:
            return list(range(1, last + 1))
        found = np.flatnonzero(self.kernel.coefficients(np.arange(min(last, p) + 1))).tolist()
        require(any(found), "sketch.p_max", f"at least {p}, the one degree of this kernel", last)
        return [n for n in found if n]

    def radial(self, X: Array, Y: Array) -> Array:
        """g(x) g(y) of all pairs."""
        return np.outer(self.kernel.radial(X), self.kernel.radial(Y))

    def refusal(self, D: int, degrees: list[int]) -> str | None:
        """Why D features cannot have each of these degrees, or None."""
        first, step = starts([term(self.base, n) for n in degrees], D - self.constant)
        least = int(first.sum()) + self.constant
        if (D - least) % step:
            return f"complex-to-real sketches of this kernel need an even number of features; {D} were asked for"
        return f"this kernel needs at least {least} features; {D} were asked for" if least > D else None

    @abstractmethod
    def allot(self, D: int, rng: np.random.Generator) -> list[Part]:
        """Degrees in order with how many features each has in a draw, none of them without any, and their weights."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        """Equation (1)."""
        parts = self.allot(D, rng)
        maps = [term(self.base, n).sketch.sample(d, D, rng, dtype) for n, D, _ in parts]
        degrees, weights = [n for n, *_ in parts], [w for *_, w in parts]
        if self.constant:
            maps.append(One(d, maps[0].dtype))
            degrees.append(0)
            weights.append(self.kernel.coefficients(np.array([0]))[0])
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
        self.kernel, self.counts = kernel, {n: part.D for n, part in zip(degrees, maps, strict=True)}
        self.weighted = type(kernel).radial is not DotProductKernel.radial

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        radial = self.kernel.radial(X).astype(self.weights.dtype)[:, None] if self.weighted else None
        for features, Phi in super().tiles(X):
            if radial is not None:
                Phi *= radial
            yield features, Phi
