"""An OPU of lightonml, real or simulated; lightonml is imported only when it is used."""

import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import spans
from rfbench.devices.opu.base import OpticalBackend

BATCH_BYTES = 1 << 26  # of outputs at once


class LightOn(OpticalBackend):
    """An OPU of lightonml."""

    opu: Any = None

    def __init__(self, timings: Mapping[str, int]) -> None:
        self.timings = timings

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self.opu is not None:
            self.opu.close()

    def outputs(self, bits: NDArray[np.uint8]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """(rows, all their outputs), in batches that fit into memory."""
        D = self.opu.n_components
        for rows in spans(len(bits), max(BATCH_BYTES // D, 1)):
            yield rows, np.asarray(self.opu.transform(bits[rows])).reshape(-1, D)

    def info(self) -> dict[str, Any]:
        device = getattr(self.opu, "device", None)
        return {
            "device": "lightonml",
            **{name: getattr(device, name, None) for name in ("exposure_us", "frametime_us", "gain_dB")},
            "frames per second": 1e6 / device.frametime_us if device else None,
            "versions": [f"{name} {version(name)}" for name in ("lightonml", "lightonopu") if find_spec(name)],
        }


def lightonml() -> Any:
    """The package; its own imports raise warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import lightonml
        import lightonml.internal.simulated_device
    return lightonml
