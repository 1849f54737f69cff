"""An OPU draws constant power: "below 30 W independently of the workload" [Ohana et al. 2019, 4.3]."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from rfbench.checks import require
from rfbench.devices.meters.base import Meter, Reading


@dataclass(frozen=True)
class ConstantDraw(Meter):
    """Watts times seconds, without a sensor."""

    name = "opu"
    device = "opu"
    watts: float = 30.0

    def __post_init__(self) -> None:
        require(0 < self.watts < float("inf"), "meter.watts", "above 0", self.watts)

    @contextmanager
    def measure(self) -> Iterator[Reading]:
        reading, start = Reading(f"opu, constant {self.watts:g} W"), perf_counter()
        try:
            yield reading
        finally:
            reading.seconds = perf_counter() - start
            reading.joules = self.watts * reading.seconds
