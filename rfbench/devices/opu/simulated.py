"""An OPU simulated in NumPy: a medium of CN(0, 1) entries for each key, and an 8-bit camera.

The entries lie on a grid of 2⁻¹⁰, so that their sums are exact in single precision while they stay below 2¹⁴: counts of
a row do not depend on the batch, thread or machine.  The grid adds 8·10⁻⁸ to the variance.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.blocks import scratch, spans
from rfbench.checks import require
from rfbench.devices.opu.base import OpticalBackend
from rfbench.devices.opu.camera import Camera
from rfbench.devices.opu.rows import row_digests
from rfbench.sketches.optical.medium import Medium, intensity

CHUNK = 128  # rows at once
GRID = 1024


class ExactMedium(Medium):
    """Entries whose sums are exact."""

    def draw(self, outputs: slice) -> Array:
        U = super().draw(outputs)
        U *= GRID
        np.rint(U, out=U)
        U /= GRID
        return U


class Simulated(OpticalBackend):
    """A device with another medium for each key."""

    parallel = True

    def __init__(self, bits: int = 8, range: float = 10.0, noise: float = 0.0, frames_per_second: float = 2000.0):
        require(frames_per_second > 0, "opu.frames_per_second", "above 0", frames_per_second)
        self.camera, self.rate = Camera(bits, range, noise), frames_per_second

    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        self.d, self.D, self.medium = d, D, ExactMedium(d, D, key, np.float32)
        self.level = self.camera.level(d / 2 if ones is None else ones)

    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        counts = np.empty((len(bits), self.D), np.uint8)
        X = bits.astype(np.float32)
        digests = row_digests(bits) if self.camera.noise else None
        for columns, U in self.medium.blocks():
            for rows in spans(len(X), CHUNK):
                out = counts[rows, columns]
                seen = intensity(X[rows], U, scratch("seen", out.shape, np.float32))
                noise = None if digests is None else self._noise(digests[rows], columns.start, out.shape)
                self.camera.count(seen, self.level, out, noise)
        return counts

    def _noise(self, digests: NDArray[np.uint64], first: int, shape: tuple[int, ...]) -> Array:
        """N(0, 1), keyed by the row, so that its counts do not depend on the batch."""
        noise = scratch("noise", shape, np.float32)
        for digest, row in zip(digests, noise, strict=True):
            stream = np.random.Philox(key=[self.medium.key, int(digest)], counter=[0, 0, 0, first])
            np.random.Generator(stream).standard_normal(dtype=np.float32, out=row)
        return noise

    def info(self) -> dict[str, Any]:
        return {
            "device": "simulated",
            "camera bits": self.camera.bits,
            "saturates at mean intensities": self.camera.range,
            "noise in counts": self.camera.noise,
            "frames per second": self.rate,
            "versions": [f"numpy {np.__version__}"],
        }

    def seconds(self, n: int) -> float:
        return n / self.rate
