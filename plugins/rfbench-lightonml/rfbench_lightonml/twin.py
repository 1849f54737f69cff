"""The device that lightonml simulates, with a camera, which lightonml does not simulate."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.devices.opu.camera import Camera
from rfbench_lightonml.base import LightOn, lightonml


class Twin(LightOn):
    """An OPU with a medium for each key; lightonml alone has one for all."""

    def __init__(self, timings: Mapping[str, int], camera: Camera) -> None:
        super().__init__(timings)
        self.camera = camera

    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        self.d, self.D, self.level = d, D, self.camera.level(d / 2 if ones is None else ones)
        device = lightonml().internal.simulated_device.SimulatedOpuDevice()
        device.build_random_matrix(d, D, seed=[key % 2**32, key >> 32])
        self.opu = lightonml().OPU(n_components=D, opu_device=device, max_n_features=d, disable_pbar=True)
        self.opu.open()
        self.opu.fit1d(n_features=d, **self.timings)

    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        seen = np.empty((len(bits), self.D), np.uint8)
        for rows, light in self.outputs(bits):
            light *= self.d / 2  # its entries have variance 2/d
            self.camera.count(light, self.level, seen[rows])
        return seen

    def info(self) -> dict[str, Any]:
        camera = {"camera bits": self.camera.bits, "saturates at mean intensities": self.camera.range}
        return super().info() | {"device": "lightonml, simulated"} | camera

    def seconds(self, n: int) -> float:
        return n * self.opu.device.frametime_us / 1e6
