"""Processors with running average power limits: counters of packages and memory, in files of the Linux kernel.

A package has its cores and its graphics in it, so of the zones below it only memory is added; the zone of the whole
platform (psys) has everything in it and is left out.
"""

from dataclasses import dataclass
from pathlib import Path

from rfbench.devices.meters.sampled import INTERVAL, Sampled, Sensor, SensorError


@dataclass(frozen=True)
class RAPL(Sampled):
    """All that runs on the processors, whoever started it."""

    name = "rapl"
    device = "cpu"
    least_seconds = INTERVAL  # counters move every millisecond
    root: str = "/sys/class/powercap"

    def sensor(self) -> Sensor:
        names = {path.parent: _read(path) for path in sorted(Path(self.root).glob("intel-rapl:*/name"))}
        zones = [Zone(path, name) for path, name in names.items() if name.startswith(("package", "dram"))]
        if not zones:
            raise SensorError(f"there is no energy counter of a processor in {self.root}")
        source = f"rapl, {', '.join(zone.name for zone in zones)}"
        return Sensor(source, "J", lambda: sum(zone.microjoules() for zone in zones) / 1e6)


class Zone:
    """One counter, which starts again from 0 at its range; sums up what it has moved since it was first read."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.range = _number(path / "max_energy_range_uj")
        self.total, self.last = 0, _number(path / "energy_uj")

    def microjoules(self) -> int:
        shown = _number(self.path / "energy_uj")
        self.total += (shown - self.last) % self.range
        self.last = shown
        return self.total


def _number(path: Path) -> int:
    try:
        return int(_read(path))
    except ValueError:
        raise SensorError(f"{path} is not a number") from None


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except PermissionError:
        raise SensorError(f"{path} is not for you to read; sudo chmod a+r it") from None
    except OSError as error:
        raise SensorError(f"{path}: {error.strerror}") from None
