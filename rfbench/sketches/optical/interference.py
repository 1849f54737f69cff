"""Linear projections by an optical device, as frequencies of Fourier features [Wacker 2022, 6.5].

A camera sees |⟨u, x⟩|² only.  Beside each row x a constant row r of further columns may shine: with a = ⟨u, x⟩ and
b = ⟨u, r⟩, which are independent,

    (|a + b|² − |a|² − |b|²) / √(2|b|²) = √2 Re(a b*/|b|) = ⟨w, x⟩,        w ~ N(0, I)                          (1)

because the phase of b turns u without changing its law.  A row costs two frames, r one in all.  Errors of the camera
are divided by |b|, on which w does not depend: outputs with a faint reference can be left out.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array, squared_norms
from rfbench.blocks import scratch
from rfbench.checks import InputError
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.directions import Directions
from rfbench.sketches.fourier.waves import ISOTROPIC, real_fourier
from rfbench.sketches.optical.ideal import INTENSITIES

SPARE = 2  # outputs for each frequency; the brightest references are kept


@dataclass(frozen=True)
class Interference(Directions):
    """Gaussian vectors of unknown length in place of directions."""

    light: Sketch = INTENSITIES
    reference: float = 1.0  # ‖r‖²; a device needs that many columns of ones

    @property
    def independent(self) -> bool:
        return self.light.device is None

    @property
    def bright(self) -> Array:
        """r; the ideal medium takes any number, so one column is enough."""
        return np.ones(int(self.reference)) if self.light.device else np.array([np.sqrt(self.reference)])

    def adapt(self, X: Array) -> "Interference":
        """As bright as the rows: with a fixed exposure for x and r, the error of (1) is least then."""
        reference = float(squared_norms(X).mean()) or 1.0
        found = replace(self, reference=max(round(reference), 1) if self.light.device else reference)
        rows = np.hstack([X, np.broadcast_to(found.bright, (len(X), len(found.bright)))])
        return replace(found, light=self.light.adapt(rows, 0))

    def norms(self, d: int, n: int, rng: np.random.Generator) -> Array:
        return np.ones(n)

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        light = self.light.sample(d + len(self.bright), SPARE * len(radius), rng, dtype)
        return InterferenceMap(light, self.bright, radius)


class InterferenceMap(FeatureMap):
    """x → ϱ⟨w, x⟩ by equation (1), one w per radius ϱ."""

    def __init__(self, light: FeatureMap, bright: Array, radius: Array) -> None:
        self.light, self.bright = light, bright
        self.d, self.D, self.dtype = light.d - len(bright), len(radius), light.dtype
        (b2,) = light(np.concatenate([np.zeros(self.d), bright])[None].astype(self.dtype))
        self.kept = np.sort(np.argsort(b2, kind="stable")[light.D - self.D :])
        self.b2 = b2[self.kept]  # over √(light.D), as all features of light
        if not self.b2.all():
            raise InputError("the camera does not see the reference; use more opu.bits or a smaller opu.range")
        self.scale = (radius * np.sqrt(np.sqrt(light.D) / (2 * self.b2.astype(np.float64)))).astype(self.dtype)

    def write(self, X: Array, out: Array) -> None:
        rows = scratch("rows and reference", (len(X), self.light.d), self.dtype)
        seen = scratch("interference", (len(X), self.light.D), self.dtype)
        rows[:, : self.d], rows[:, self.d :] = X, self.bright
        self.light.write(rows, seen)
        np.subtract(seen[:, self.kept], self.b2, out=out)
        rows[:, self.d :] = 0
        self.light.write(rows, seen)
        out -= seen[:, self.kept]
        out *= self.scale


FAMILIES = {"optical_rff": Family(partial(real_fourier, Interference()), ISOTROPIC, "closed form", "4 d D")}
