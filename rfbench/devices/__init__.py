"""Physical devices and their twins: optical processing units by name."""

from pathlib import Path
from typing import Any

from rfbench.devices.base import OpticalBackend
from rfbench.devices.recorded import Recorded
from rfbench.devices.replay import Replay
from rfbench.devices.simulated import Simulated
from rfbench.registry import build, find

__all__ = ["OPUS", "OpticalBackend", "make_opu"]

OPUS: dict[str, type[OpticalBackend]] = {"simulated": Simulated, "replay": Replay}


def make_opu(name: str, dump: str | None = None, **options: Any) -> OpticalBackend:
    """The backend of that name, not yet opened; its frames are kept in `dump` if told."""
    opu = build("opu", find("opu", name, OPUS), options)
    return Recorded(opu, Path(dump)) if dump else opu
