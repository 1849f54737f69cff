"""Optical processing units by name: devices and their simulations."""

from pathlib import Path
from typing import Any

from rfbench.checks import require
from rfbench.devices.opu.analog import Analog
from rfbench.devices.opu.base import OpticalBackend
from rfbench.devices.opu.recorded import Recorded
from rfbench.devices.opu.replay import Replay
from rfbench.devices.opu.simulated import Simulated
from rfbench.registry import build, find

__all__ = ["OPUS", "OpticalBackend", "make_opu"]

OPUS: dict[str, type[OpticalBackend]] = {"simulated": Simulated, "replay": Replay, "analog": Analog}


def make_opu(name: str, dump: str | None = None, **options: Any) -> OpticalBackend:
    """The backend of that name, not yet opened; where `dump` is given, it keeps its frames in that folder."""
    require(dump is None or isinstance(dump, str), "opu.dump", "null or a folder", dump)
    opu = build("opu", find("opu", name, OPUS), options)
    return Recorded(opu, Path(dump)) if dump else opu
