"""Compact random feature maps: up to more features than requested, then down by an SRHT [Hamid et al. 2014].

The way up is a product sketch with `up` times the features; the SRHT preserves inner products in expectation, so the
composition is unbiased.  Its variance is not known in closed form.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import require
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import linear, require_base
from rfbench.sketches.wrappers import affine


@dataclass(frozen=True)
class Craft(Sketch):
    """Estimates ⟨x, y⟩ᵖ by D rows of an SRHT of up · D product features."""

    degree: int
    base: str = "tensorsrht"
    up: int = 4

    def __post_init__(self) -> None:
        require(self.up >= 1, "sketch.up", "at least 1", self.up)
        require_base(self.base)

    @property
    def is_complex(self) -> bool:
        return homogeneous(self.base, 1).is_complex

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        up = homogeneous(self.base, self.degree).sample(d, 2 * -(-self.up * D // 2), rng, dtype)
        return CraftMap(up, homogeneous("tensorsrht", 1).sample(up.D, D, rng, dtype))


class CraftMap(FeatureMap):
    order = "F"

    def __init__(self, up: FeatureMap, down: FeatureMap) -> None:
        self.up, self.down = up, down
        self.d, self.D, self.dtype = up.d, down.D, up.dtype

    def write(self, X: Array, out: Array) -> None:
        out[...] = linear(self.down, self.up(X))


def make(kernel: AffinePower, base: str = "tensorsrht", up: int = 4) -> Sketch:
    degree, gamma, bias = kernel.affine
    return affine(Craft(degree, base, up), gamma, bias)


FAMILIES = {"craft": Family(make, POWERS, "Monte Carlo", "base of up D, + up D log (up D)")}
