"""Meters with a sensor that is sampled while the work runs.

A sensor shows either energy, a counter whose difference counts, or power P(t), which the trapezoid rule integrates over
samples at t₀ ≤ … ≤ t_k, the first taken before the work and the last after it:

    E = Σᵢ (tᵢ₊₁ − tᵢ) (Pᵢ + Pᵢ₊₁)/2,      exact if P is linear between samples                                 (1)
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Event, Thread
from time import perf_counter, sleep
from typing import ClassVar, NamedTuple

import numpy as np

from rfbench.checks import require
from rfbench.devices.meters.base import Absent, Meter, Reading

INTERVAL = 0.1  # seconds between samples


class SensorError(Exception):
    """Why a sensor cannot be read."""


class Sensor(NamedTuple):
    """A source of numbers; `read` raises SensorError if it fails."""

    source: str
    unit: str  # J for a counter, W for power
    read: Callable[[], float]


@dataclass(frozen=True)
class Sampled(Meter):
    """The idle power is measured once, before the first work."""

    least_seconds: ClassVar[float]
    idle_seconds: float = 1.0

    def __post_init__(self) -> None:
        require(0 <= self.idle_seconds <= 60, "meter.idle_seconds", "from 0 (no baseline) to 60", self.idle_seconds)

    @abstractmethod
    def sensor(self) -> Sensor:
        """Find the sensor, or raise SensorError."""

    @contextmanager
    def measure(self) -> Iterator[Reading]:
        try:
            sensor, idle = opened(self), idle_watts(self)
        except SensorError as error:
            with Absent(f"{self.name}: {error}").measure() as reading:
                yield reading
            return
        with sampling(sensor) as reading:
            reading.idle_watts, reading.least_seconds = idle, self.least_seconds
            yield reading
        if reading.seconds < self.least_seconds:
            reading.source += ", shorter than its resolution"


@cache
def opened(meter: Sampled) -> Sensor:
    """The sensor, opened once for all jobs of a process: a driver may take long to start."""
    return meter.sensor()


@cache
def idle_watts(meter: Sampled) -> float | None:
    """The mean power over `idle_seconds` without work."""
    if not meter.idle_seconds:
        return None
    with sampling(opened(meter)) as reading:
        sleep(meter.idle_seconds)
    if reading.reason:
        raise SensorError(reading.reason)
    return reading.watts


@contextmanager
def sampling(sensor: Sensor) -> Iterator[Reading]:
    """Sample at the start, every INTERVAL and at the end, until a sample fails."""
    reading, start, over = Reading(sensor.source, unit=sensor.unit), perf_counter(), Event()

    def sample() -> None:
        if not reading.reason:
            seconds = perf_counter() - start
            try:
                reading.samples.append((seconds, sensor.read()))
            except SensorError as error:
                reading.reason = f"{sensor.source}: {error}, after {seconds:.1f} s"

    def until_over() -> None:
        while not over.wait(INTERVAL) and not reading.reason:
            sample()

    sample()
    thread = Thread(target=until_over, daemon=True)
    thread.start()
    try:
        yield reading
    finally:
        over.set()
        thread.join()
        sample()
        reading.seconds = perf_counter() - start
        if not reading.reason:
            reading.seconds = reading.samples[-1][0] - reading.samples[0][0]
            reading.joules = energy(reading.samples, sensor.unit)


def energy(samples: Sequence[tuple[float, float]], unit: str) -> float:
    """The difference of a counter, or equation (1)."""
    t, P = np.array(samples).T
    return float(P[-1] - P[0] if unit == "J" else np.diff(t) @ (P[1:] + P[:-1]) / 2)
