"""Optical random features, simulated: what a camera sees of light through a scattering medium.

    Φ(x) = |Ux|ᵐ / √D,      U with independent CN(0, 1) entries                                       (1)

estimates k_m with Var = (k_{2m} − k_m²)/D  [Ohana et al. 2019, Eq. 2; Wacker 2022, 6.2, where the square is missing].
U is drawn in blocks of features by a counter-based generator and, where it is large, drawn again whenever it is
needed: a million features take no more memory than ten thousand.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import scratch, spans
from rfbench.checks import InputError, require
from rfbench.kernels.base import squared_norms
from rfbench.kernels.optical import Optical
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.weights import complex_gaussian, complex_type
from rfbench.sketches.wrappers import affine

Array = NDArray[Any]
BLOCK = 4096  # features to a block of U
KEPT_BYTES = 1 << 27  # a U below this is drawn once and kept


@dataclass(frozen=True)
class OpticalSketch(ClosedForm):
    """Estimates the optical kernel by D intensities to the power m/2."""

    kernel: Optical

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return OpticalMap(d, D, self.kernel.exponent, int(rng.integers(2**63)), dtype)

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        doubled = Optical(2 * self.kernel.exponent)
        return np.maximum(doubled.gram(X, Y) - self.kernel.gram(X, Y) ** 2, 0) / D


@dataclass(frozen=True)
class Camera(Sketch):
    """The same through a camera of `bits` bits that saturates at `range` times the mean intensity of training rows."""

    base: OpticalSketch
    bits: int
    range: float
    full: float | None = None  # the intensity at which it saturates, learned

    def __post_init__(self) -> None:
        require(1 <= self.bits <= 16, "sketch.camera_bits", "null or from 1 to 16", self.bits)
        require(self.range > 0, "sketch.camera_range", "above 0", self.range)

    def adapt(self, X: Array, D: int) -> "Camera":
        # E|⟨u, x⟩|² = ‖x‖²
        return replace(self, full=self.range * float(squared_norms(X).mean()))

    def facts(self) -> dict[str, Any]:
        return {"camera saturates at": self.full}

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        if self.full is None:
            raise InputError("a camera needs training rows to set its range: call adapt")
        levels = 2**self.bits - 1
        return OpticalMap(
            d, D, self.base.kernel.exponent, int(rng.integers(2**63)), dtype, (self.full / levels, levels)
        )


class OpticalMap(FeatureMap):
    """One medium, or the features first..first + D of one with `total`."""

    def __init__(
        self,
        d: int,
        D: int,
        m: float,
        key: int,
        dtype: Any,
        camera: tuple[float, int] | None = None,  # intensity of one level, number of levels
        first: int = 0,
        total: int | None = None,
    ) -> None:
        self.d, self.D, self.dtype, self.m, self.camera = d, D, np.dtype(dtype), m, camera
        self.key, self.first, self.total = key, first, total or D
        small = d * D * complex_type(dtype).itemsize <= KEPT_BYTES
        self.kept = [self._draw(*span) for span in spans(D, BLOCK)] if small else None

    def _draw(self, start: int, stop: int) -> Array:
        """Features start..stop of U, real and imaginary columns side by side; the same whenever asked."""
        rng = np.random.Generator(np.random.Philox(key=[self.key, self.first + start]))
        return complex_gaussian((self.d, stop - start), rng, self.dtype).view(self.dtype)

    def parts(self) -> Iterator[FeatureMap]:
        for start, stop in spans(self.D, 4 * BLOCK):
            yield OpticalMap(
                self.d, stop - start, self.m, self.key, self.dtype, self.camera, self.first + start, self.total
            )

    def write(self, X: Array, out: Array) -> None:
        for number, (start, stop) in enumerate(spans(self.D, BLOCK)):
            U = self.kept[number] if self.kept else self._draw(start, stop)
            light = np.matmul(X, U, out=scratch("light", (len(X), U.shape[1]), self.dtype))
            np.square(light, out=light)
            intensity = np.add(light[:, ::2], light[:, 1::2], out=out[:, start:stop])
            if self.camera:
                step, levels = self.camera
                intensity /= step
                np.minimum(np.rint(intensity, out=intensity), levels, out=intensity)
                intensity *= step
            if self.m != 2:
                np.power(intensity, self.m / 2, out=intensity)
            intensity /= np.sqrt(self.total)


def make(kernel: Optical, exponent: float = 2.0, camera_bits: int | None = None, camera_range: float = 10.0) -> Sketch:
    if kernel.exponent != exponent:
        raise InputError(
            f"sketch.exponent={exponent:g} does not estimate kernel.exponent={kernel.exponent:g}; "
            "set sketch.exponent, which the kernel follows"
        )
    sketch = OpticalSketch(replace(kernel, bias=0.0))
    ideal = sketch if camera_bits is None else Camera(sketch, camera_bits, camera_range)
    return affine(ideal, 1.0, 0.0 if isinstance(kernel.bias, str) else kernel.bias)


FAMILIES = {"optical": Family(make, ("optical",), "closed form", "d D")}
