"""Ideal optical random features: the intensity of light behind a scattering medium, without a camera.

    Φ(x) = |Ux|ᵐ / √D,      U with independent CN(0, 1) entries                                       (1)

estimates k_m with Var = (k_{2m} − k_m²)/D  [Ohana et al. 2019, Eq. 2; Wacker 2022, 6.2, which omits the square].
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.kernels.optical import Optical
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.optical.medium import Medium, intensity
from rfbench.sketches.wrappers import affine


@dataclass(frozen=True)
class OpticalSketch(Sketch):
    """Estimates the optical kernel by D intensities to the power m/2."""

    kernel: Optical

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return OpticalMap(Medium(d, D, int(rng.integers(2**63)), dtype), self.kernel.exponent)

    @property
    def closed_form(self) -> ClosedForm:
        k, doubled = self.kernel, Optical(2 * self.kernel.exponent)
        return ClosedForm(lambda X, Y, D: np.maximum(doubled.gram(X, Y) - k.gram(X, Y) ** 2, 0) / D)


INTENSITIES = OpticalSketch(Optical(2.0))


class OpticalMap(FeatureMap):
    """One medium, or a part of one with `total` outputs."""

    def __init__(self, medium: Medium, m: float, total: int | None = None) -> None:
        self.d, self.D, self.dtype = medium.d, medium.D, medium.dtype
        self.medium, self.m, self.total = medium, m, total or medium.D

    def parts(self) -> Iterator[FeatureMap]:
        return (OpticalMap(part, self.m, self.total) for part in self.medium.parts())

    def write(self, X: Array, out: Array) -> None:
        for columns, U in self.medium.blocks():
            seen = intensity(X, U, out[:, columns])
            if self.m != 2:
                np.power(seen, self.m / 2, out=seen)
            seen /= np.sqrt(self.total)


def make(kernel: Optical, exponent: float | None = None) -> Sketch:
    if exponent is not None and kernel.exponent != exponent:
        raise InputError(
            f"sketch.exponent={exponent:g} does not estimate kernel.exponent={kernel.exponent:g}; "
            "set sketch.exponent only, which sets that of the kernel too"
        )
    return affine(OpticalSketch(replace(kernel, bias=0.0)), 1.0, kernel.bias)


FAMILIES = {"optical": Family(make, ("optical",), "closed form", "d D")}
