"""The meter that fits the device."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from rfbench.devices.meters.base import Absent, Meter, Reading
from rfbench.devices.meters.nvml import NVML
from rfbench.devices.meters.opu import ConstantDraw
from rfbench.devices.meters.rapl import RAPL


@dataclass(frozen=True)
class Auto(Meter):
    """RAPL for processors, NVML for cards, the constant draw of an OPU."""

    name = "auto"
    device = "cpu"
    card: int = 0
    watts: float = 30.0
    idle_seconds: float = 1.0
    root: str = "/sys/class/powercap"

    def __post_init__(self) -> None:
        for device in ("cuda", "opu"):
            self.on(device)  # refuses wrong options

    def on(self, device: str) -> Meter:
        if device == "cpu":
            return RAPL(self.idle_seconds, self.root)
        if device == "cuda":
            return NVML(self.idle_seconds, self.card)
        return ConstantDraw(self.watts) if device == "opu" else Absent(f"no meter measures {device}")

    def measure(self) -> AbstractContextManager[Reading]:
        return self.on(self.device).measure()
