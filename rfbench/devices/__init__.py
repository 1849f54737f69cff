"""Physical devices and their twins: optical processing units by name."""

from typing import Any

from rfbench.devices.base import OpticalBackend
from rfbench.devices.simulated import Simulated
from rfbench.registry import build, find

__all__ = ["OPUS", "OpticalBackend", "make_opu"]

OPUS: dict[str, type[OpticalBackend]] = {"simulated": Simulated}


def make_opu(name: str, **options: Any) -> OpticalBackend:
    """The backend of that name, not yet opened."""
    return build("opu", find("opu", name, OPUS), options)
