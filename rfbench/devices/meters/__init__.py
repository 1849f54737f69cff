"""Energy meters by name."""

from typing import Any

from rfbench.devices.meters.auto import Auto
from rfbench.devices.meters.base import DEVICES, Absent, Meter, Reading
from rfbench.devices.meters.nvml import NVML
from rfbench.devices.meters.opu import ConstantDraw
from rfbench.devices.meters.rapl import RAPL
from rfbench.registry import build, find

__all__ = ["DEVICES", "METERS", "Absent", "Meter", "Reading", "make_meter"]

METERS: dict[str, type[Meter]] = {cls.name: cls for cls in (Auto, NVML, RAPL, ConstantDraw, Absent)}


def make_meter(name: str, **options: Any) -> Meter:
    return build("meter", find("meter", name, METERS), options)
