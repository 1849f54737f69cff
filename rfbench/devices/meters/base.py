"""A meter reads the energy of a piece of work.  Where it cannot it says why, and the work goes on:

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


@dataclass
class Reading:
    """Complete when the work is over; without joules it has a reason, or nobody asked for them."""

    source: str
    seconds: float = 0.0
    joules: float | None = None
    reason: str = ""
    idle_watts: float | None = None  # of the same source when there was no work
    samples: list[tuple[float, float]] = field(default_factory=list)  # (seconds, what the sensor showed)
    unit: str = ""  # of the samples
    least_seconds: float = 0.0  # shorter work is below the resolution of the sensor

    @property
    def watts(self) -> float | None:
        return self.joules / self.seconds if self.joules is not None and self.seconds > 0 else None


@dataclass(frozen=True)
class Meter(ABC):
    """A recipe: sensors are looked for when work is measured."""

    name: ClassVar[str]
    device: ClassVar[str]  # whose energy it reads

    @abstractmethod
    def measure(self) -> AbstractContextManager[Reading]:
        """Reads from entering to leaving."""

    def on(self, device: str) -> "Meter":
        """The meter to be read while this device works."""
        if device == self.device:
            return self
        return Absent(f"meter={self.name} reads {self.device}, not {device}; use meter=auto")


@dataclass(frozen=True)
class Absent(Meter):
    """No meter: none was asked for, or there is a reason."""

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
