"""Polynomial features whose estimates are never negative, for attention [Kacham et al. 2024, Section 2.2].

A sketch S of degree p/2 with r features, squared:

    Φ(x) = (S x^{⊗p/2})^{⊗2},        ⟨Φ(x), Φ(y)⟩ = ⟨S x^{⊗p/2}, S y^{⊗p/2}⟩² ≥ 0                              (1)

has D = r² features.  S is unbiased, and the mean of a square is the square of the mean plus a variance: (1) is biased
upwards, E k̂ = ⟨x, y⟩ᵖ + Var⟨S x^{⊗p/2}, S y^{⊗p/2}⟩, which falls like 1/√D.
"""

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import scratch
from rfbench.checks import require
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import require_base
from rfbench.sketches.wrappers import WrappedMap, Wrapper, affine


@dataclass(frozen=True)
class PolySketch(Wrapper):
    """Equation (1) of a real sketch."""

    def count(self, d: int, D: int) -> int:
        return isqrt(D) ** 2

    def objection(self, D: int) -> str | None:
        r = isqrt(D)
        if not r or r * r != D:
            return f"polysketch has a square number of features; {D} were asked for. Use features={max(r, 1) ** 2}"
        return self.base.objection(r)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return PolySketchMap(self.base.sample(d, isqrt(D), rng, dtype))

    @property
    def stated_bias(self) -> str:
        return "the square of an unbiased estimate is too large by its variance [Kacham et al. 2024]"

    @property
    def factored(self) -> bool:
        return False


class PolySketchMap(WrappedMap):
    """All products of two features."""

    def __init__(self, base: FeatureMap) -> None:
        super().__init__(base)
        self.D, self.order = base.D**2, "C"

    def write(self, X: Array, out: Array) -> None:
        r = self.base.D
        F = scratch("roots of polysketch", (r, len(X)), self.dtype).T
        self.base.write(X, F)
        for i in range(r):
            np.multiply(F, F[:, i, None], out=out[:, i * r : (i + 1) * r])


def make(kernel: AffinePower, base: str = "tensorsrht") -> Sketch:
    degree, gamma, bias = kernel.affine
    require(degree % 2 == 0, "degree", "even for sketch=polysketch", degree)
    require_base(base)
    root = homogeneous(base, degree // 2)
    require(not root.is_complex, "sketch.base", "a real sketch, such as tensorsrht or ctr_tensorsrht", base)
    return affine(PolySketch(root), gamma, bias)


FAMILIES = {"polysketch": Family(make, POWERS, "Monte Carlo", "base of √D, + D")}
