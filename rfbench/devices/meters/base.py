"""A meter measures the energy of some work.  If it cannot, it says why; the work runs anyway:

with meter.measure() as reading:
    work()
reading.joules or reading.reason
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import ClassVar

DEVICES = ("cpu", "cuda", "opu")  # whose energy may be measured


@dataclass
class Reading:
    """The energy of some work, complete when the work is; without joules it has a reason, unless there is no meter."""

    source: str
    seconds: float = 0.0
    joules: float | None = None
    reason: str = ""
    idle_watts: float | None = None  # of the same source without work
    samples: list[tuple[float, float]] = field(default_factory=list)  # (seconds, value of the sensor)
    unit: str = ""  # of the samples
    least_seconds: float = 0.0  # shorter work is below the resolution of the sensor

    @property
    def watts(self) -> float | None:
        return self.joules / self.seconds if self.joules is not None and self.seconds > 0 else None


@dataclass(frozen=True)
class Meter(ABC):
    """A recipe: it looks for its sensors when it measures."""

    name: ClassVar[str]
    device: ClassVar[str]  # whose energy it measures: cpu, cuda or opu

    @abstractmethod
    def measure(self) -> AbstractContextManager[Reading]:
        """Measure from entering to leaving the context."""

    def on(self, device: str) -> "Meter":
        """The meter for work that this device does: itself, or none where it measures another device."""
        if device == self.device:
            return self
        return Absent(f"meter={self.name} measures {self.device}, but {device} does this work; use meter=auto")


@dataclass(frozen=True)
class Absent(Meter):
    """No meter: none was chosen, or there is a reason."""

    name = "none"
    device = "nothing"
    reason: str = ""

    def on(self, device: str) -> Meter:
        return self

    @contextmanager
    def measure(self) -> Iterator[Reading]:
        reading, start = Reading(self.name, reason=self.reason), perf_counter()
        try:
            yield reading
        finally:
            reading.seconds = perf_counter() - start
