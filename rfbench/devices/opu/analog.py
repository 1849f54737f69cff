"""An analogue chip, simulated: it multiplies rows of any numbers by weights, and shows no light."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.checks import InputError
from rfbench.devices.opu.base import OpticalBackend
from rfbench.sketches.fourier.chip import Chip

ELSEWHERE = "an analogue chip has no camera; use opu=simulated for optical features"


class Analog(OpticalBackend):
    """The profile of a chip; the sketches that it computes do the arithmetic."""

    parallel = True

    def __init__(
        self, weight_noise: float = 0.03, input_bits: int = 8, output_bits: int = 8, clip: float = 3.0
    ) -> None:
        self.chip = self.profile = Chip(weight_noise, input_bits, output_bits, clip)

    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        raise InputError(ELSEWHERE)

    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        raise InputError(ELSEWHERE)

    def info(self) -> dict[str, Any]:
        return {
            "device": "analogue chip, simulated",
            "weight noise over the largest weight": self.profile.weight_noise,
            "bits of the converters": [self.profile.input_bits, self.profile.output_bits],
            "clipped at standard deviations": self.profile.clip,
        }
