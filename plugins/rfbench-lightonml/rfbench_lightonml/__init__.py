"""LightOn's optical processing units: opu=lightonml."""

from importlib.util import find_spec

from rfbench.checks import InputError, require
from rfbench.devices.opu.base import OpticalBackend
from rfbench.devices.opu.camera import Camera
from rfbench_lightonml.physical import Physical
from rfbench_lightonml.twin import Twin


def make(
    simulated: bool | str = "auto",
    outputs: int = 100_000,
    exposure_us: int = 0,
    frametime_us: int = 0,
    bits: int = 8,
    range: float = 10.0,
) -> OpticalBackend:
    """The device or its simulation, not yet opened; `auto` is the device if its driver is installed."""
    require(simulated in (True, False, "auto"), "opu.simulated", "true, false or auto", simulated)
    require(outputs >= 1, "opu.outputs", "at least 1", outputs)
    require(exposure_us >= 0, "opu.exposure_us", "at least 0", exposure_us)
    require(frametime_us >= 0, "opu.frametime_us", "at least 0", frametime_us)
    if find_spec("lightonml") is None:
        raise InputError("opu=lightonml needs lightonml: pip install --no-deps lightonml==1.4.3")
    timings = {"exposure_us": exposure_us, "frametime_us": frametime_us}  # 0: the device's own
    if find_spec("lightonopu") is None if simulated == "auto" else simulated:
        return Twin(timings, Camera(bits, range))
    return Physical(timings, outputs)
