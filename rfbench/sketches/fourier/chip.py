"""Frequencies on an analogue chip, which multiplies rows by weights that are conductances [Büchel et al. 2024].

With w the weights of one frequency, s their root mean square over all frequencies and c = `clip`,

    x̂ = q(x, c),      ŵ = clip(w, ±cs) + η cs n,  n ~ N(0, I),      ⟨ŵ, x̂⟩ → q(⟨ŵ, x̂⟩, c‖w‖)                 (1)

where q(·, r) clips to ±r and rounds to 2ᵇ − 1 levels: converters of b bits in front of and behind the weights, set for
columns of variance 1.  The noise n is that of programming the weights: it stays for the whole draw.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, require
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.fourier.arc_cosine import ArcCosineFeatures
from rfbench.sketches.fourier.directions import Directions
from rfbench.sketches.fourier.waves import Fourier, PhaseFourier, RealFourier


@dataclass(frozen=True)
class Chip:
    """The numbers of equation (1)."""

    weight_noise: float = 0.03  # η
    input_bits: int = 8
    output_bits: int = 8
    clip: float = 3.0

    def __post_init__(self) -> None:
        require(self.weight_noise >= 0, "opu.weight_noise", "at least 0", self.weight_noise)
        require(2 <= self.input_bits <= 16, "opu.input_bits", "from 2 to 16", self.input_bits)
        require(2 <= self.output_bits <= 16, "opu.output_bits", "from 2 to 16", self.output_bits)
        require(self.clip > 0, "opu.clip", "above 0", self.clip)


@dataclass(frozen=True)
class OnChip(Directions):
    """Directions whose frequencies a chip holds."""

    base: Directions | None = None
    chip: Chip = field(default_factory=Chip)

    stated_bias = "the weights of an analogue chip are noisy, and its converters round"

    def adapt(self, X: Array) -> Directions:
        assert self.base is not None
        return replace(self, base=self.base.adapt(X))

    def on_sphere(self) -> Directions:
        assert self.base is not None
        return replace(self, base=self.base.on_sphere())

    def dimension(self, d: int) -> int:
        assert self.base is not None
        return self.base.dimension(d)

    def norms(self, d: int, n: int, rng: np.random.Generator) -> Array:
        assert self.base is not None
        return self.base.norms(d, n, rng)

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        assert self.base is not None
        W = self.base.draw(d, radius, rng, dtype)(np.eye(d, dtype=dtype))
        return ChipMap(np.ascontiguousarray(W), self.chip, rng)


class ChipMap(FeatureMap):
    """Equation (1)."""

    def __init__(self, W: Array, chip: Chip, rng: np.random.Generator) -> None:
        (self.d, self.D), self.dtype, self.chip = W.shape, W.dtype, chip
        self.ranges = chip.clip * np.sqrt(np.einsum("ij,ij->j", W, W))
        largest = chip.clip * np.sqrt(np.mean(W**2))
        noise = chip.weight_noise * largest * rng.standard_normal(W.shape)
        self.W = (np.clip(W, -largest, largest) + noise).astype(W.dtype)

    def write(self, X: Array, out: Array) -> None:
        np.matmul(converted(X, self.dtype.type(self.chip.clip), self.chip.input_bits), self.W, out=out)
        out[...] = converted(out, self.ranges, self.chip.output_bits)


def converted(values: Array, limit: Any, bits: int) -> Array:
    """Values as a converter passes them on."""
    step = limit / (2 ** (bits - 1) - 1)
    return np.rint(np.clip(values, -limit, limit) / step) * step


def on_chip(sketch: Sketch, chip: Chip) -> Sketch:
    """A sketch whose frequencies a chip holds."""
    match sketch:
        case RealFourier(base=Fourier() as base) | PhaseFourier(base=base):
            return replace(
                sketch, base=replace(base, directions=OnChip(base.directions.lengths, base.directions, chip))
            )
        case Fourier(directions=directions) | ArcCosineFeatures(directions=directions):
            return replace(sketch, directions=OnChip(directions.lengths, directions, chip))
    raise InputError(
        "opu=analog multiplies rows by frequencies, and this sketch has none; use sketch=rff, orf, sorf or arc_cosine"
    )
