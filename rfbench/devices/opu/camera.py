"""A camera: intensities in, integer counts out, from 0 to saturation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.checks import require


@dataclass(frozen=True)
class Camera:
    """A camera of `bits` bits that saturates at `range` times the mean intensity, with optional readout noise."""

    bits: int
    range: float
    noise: float = 0.0  # standard deviation, in counts

    def __post_init__(self) -> None:
        require(1 <= self.bits <= 8, "opu.bits", "from 1 to 8", self.bits)
        require(self.range > 0, "opu.range", "above 0", self.range)
        require(self.noise >= 0, "opu.noise", "at least 0", self.noise)

    def level(self, mean: float) -> float:
        """The intensity of one count, for an exposure to this mean intensity."""
        return self.range * mean / (2**self.bits - 1)

    def count(self, intensity: Array, level: float, out: NDArray[np.uint8], noise: Array | None = None) -> None:
        """Counts of intensities, which are overwritten."""
        intensity /= level
        if noise is not None:
            intensity += self.noise * noise
        np.rint(intensity, out=intensity)
        np.copyto(out, np.clip(intensity, 0, 2**self.bits - 1, out=intensity), casting="unsafe")
