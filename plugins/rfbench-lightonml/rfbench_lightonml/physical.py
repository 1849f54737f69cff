"""The device: one medium, in which a key selects a window of outputs, and a camera that is calibrated."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rfbench.checks import InputError
from rfbench.seeds import rng_for
from rfbench_lightonml.base import LightOn, lightonml

CALIBRATION = 128  # random rows that measure the intensity of one count
SATURATED = 0.1  # of the counts, at most: saturation changes the features


class Physical(LightOn):
    """An OPU that reads `count` outputs, or as many as there are features if these are more."""

    def __init__(self, timings: Mapping[str, int], count: int) -> None:
        super().__init__(timings)
        self.count = count
        self.levels: dict[tuple[int, int], float] = {}

    def __enter__(self) -> Self:
        try:
            self.opu = lightonml().OPU(n_components=self.count, disable_pbar=True)
            self.opu.open()
        except (ImportError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"cannot open an OPU ({reason}); use opu.simulated=true or opu=simulated") from error
        return self

    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        self.d, self.D = d, D
        self.opu.n_components = max(self.count, D)
        self.first = key % (self.opu.n_components - D + 1)
        self.opu.fit1d(n_features=d, **self.timings)
        self.level = self._measure(d, round(d / 2 if ones is None else ones))

    def _measure(self, d: int, ones: int) -> float:
        """Mean intensity over mean count, over all outputs of random rows with this many ones."""
        ones = min(max(ones, 1), d)
        if (d, ones) not in self.levels:
            order = rng_for(0, "opu", d, ones).random((CALIBRATION, d)).argsort(axis=1)
            rows = [
                (counts.mean(1), (counts == 255).mean(1)) for _, counts in self.outputs((order < ones).view(np.uint8))
            ]
            mean, saturated = np.concatenate(rows, axis=1).mean(1)
            if not mean:
                raise InputError("the camera sees no light; set a longer opu.exposure_us")
            if saturated > SATURATED:
                raise InputError(f"{saturated:.0%} of the camera's pixels saturate; set a shorter opu.exposure_us")
            self.levels[d, ones] = ones / float(mean)
        return self.levels[d, ones]

    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        seen = np.empty((len(bits), self.D), np.uint8)
        for rows, counts in self.outputs(bits):
            seen[rows] = counts[:, self.first : self.first + self.D]
        return seen

    def info(self) -> dict[str, Any]:
        return super().info() | {"outputs": self.count}
