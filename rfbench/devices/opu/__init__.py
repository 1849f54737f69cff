"""Physical devices and their twins: optical processing units by name."""

from pathlib import Path
from typing import Any

from rfbench.checks import InputError, require
from rfbench.devices.opu.base import OpticalBackend
from rfbench.devices.opu.recorded import Recorded
from rfbench.devices.opu.replay import Replay
from rfbench.devices.opu.simulated import Simulated
from rfbench.registry import build, find

__all__ = ["OPUS", "OpticalBackend", "make_opu"]

PLUGINS = {"lightonml": "pip install ./plugins/rfbench-lightonml; pip install --no-deps lightonml==1.4.3"}
OPUS: dict[str, type[OpticalBackend]] = {"simulated": Simulated, "replay": Replay}


def make_opu(name: str, dump: str | None = None, **options: Any) -> OpticalBackend:
    """The backend of that name, not yet opened; its frames are kept in `dump` if told."""
    require(dump is None or isinstance(dump, str), "opu.dump", "null or a folder", dump)
    try:
        found = find("opu", name, OPUS)
    except InputError:
        if name in PLUGINS:
            raise InputError(f"opu={name} needs its plugin: {PLUGINS[name]}") from None
        raise
    opu = build("opu", found, options)
    return Recorded(opu, Path(dump)) if dump else opu
