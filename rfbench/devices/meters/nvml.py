"""NVIDIA cards: the energy counter if the card has one (Volta and later), else its power."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rfbench.checks import require
from rfbench.devices.meters.sampled import INTERVAL, Sampled, Sensor, SensorError


@dataclass(frozen=True)
class NVML(Sampled):
    """The board, as reported by the driver; `card` is the index that nvidia-smi shows."""

    name = "nvml"
    device = "cuda"
    least_seconds = 20 * INTERVAL
    card: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.card >= 0, "meter.card", "at least 0", self.card)

    def sensor(self) -> Sensor:
        try:
            import pynvml
        except ImportError:
            raise SensorError("nvidia-ml-py is not installed; pip install 'rfbench[gpu]'") from None

        def ask(function: Callable[..., Any], *arguments: Any) -> Any:
            try:
                return function(*arguments)
            except pynvml.NVMLError as error:
                raise SensorError(str(error)) from error

        ask(pynvml.nvmlInit)
        handle = ask(pynvml.nvmlDeviceGetHandleByIndex, self.card)
        source = f"nvml, {ask(pynvml.nvmlDeviceGetName, handle)}"
        try:
            ask(pynvml.nvmlDeviceGetTotalEnergyConsumption, handle)
        except SensorError as error:
            none = (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
            if getattr(error.__cause__, "value", None) not in none:
                raise
            return Sensor(f"{source}, power", "W", lambda: ask(pynvml.nvmlDeviceGetPowerUsage, handle) / 1000)
        return Sensor(
            f"{source}, energy counter",
            "J",
            lambda: ask(pynvml.nvmlDeviceGetTotalEnergyConsumption, handle) / 1000,
        )
