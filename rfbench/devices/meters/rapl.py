"""Processors with running average power limits (RAPL): energy counters of packages and memory in the Linux kernel.

A package includes its cores and graphics, so only the memory zones are added to it.  The zone of the platform (psys)
includes everything and is skipped.
"""

from dataclasses import dataclass
from pathlib import Path

from rfbench.devices.meters.sampled import INTERVAL, Sampled, Sensor, SensorError


@dataclass(frozen=True)
class RAPL(Sampled):
    """The processors and their memory, with all processes that run on them."""

    name = "rapl"
    device = "cpu"
    least_seconds = INTERVAL  # the counters change every millisecond
    root: str = "/sys/class/powercap"

    def sensor(self) -> Sensor:
        names = {path.parent: _read(path) for path in sorted(Path(self.root).glob("intel-rapl:*/name"))}
        zones = [Zone(path, name) for path, name in names.items() if name.startswith(("package", "dram"))]
        if not zones:
            raise SensorError(f"no energy counter of a processor in {self.root}")
        source = f"rapl, {', '.join(zone.name for zone in zones)}"
        return Sensor(source, "J", lambda: sum(zone.microjoules() for zone in zones) / 1e6)


class Zone:
    """One counter, which wraps around at its range; its total since the first read does not."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.range = _number(path / "max_energy_range_uj")
        self.total, self.last = 0, _number(path / "energy_uj")

    def microjoules(self) -> int:
        value = _number(self.path / "energy_uj")
        self.total += (value - self.last) % self.range
        self.last = value
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
        raise SensorError(f"{path}: permission denied; try sudo chmod a+r {path}") from None
    except OSError as error:
        raise SensorError(f"{path}: {error.strerror}") from None
