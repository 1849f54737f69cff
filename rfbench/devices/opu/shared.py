"""One device for feature maps on several threads: one batch at a time, and a second try for one that fails."""

import logging
from copy import copy
from threading import Lock
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rfbench.checks import InputError
from rfbench.devices.opu.base import OpticalBackend
from rfbench.sketches.optical.device import DeviceSetting

log = logging.getLogger("rfbench")


class DeviceError(RuntimeError):
    """A device that failed twice on the same batch."""


class SharedDevice:
    """Fits the device to what a batch asks for, where the one before asked for something else."""

    def __init__(self, backend: OpticalBackend) -> None:
        self.backend, self.lock = backend, Lock()
        self.fitted: DeviceSetting | None = None
        self.level: float | None = None  # of the last feature map, for run.json

    def __enter__(self) -> Self:
        self.backend.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.fitted = None
        self.backend.__exit__(kind, error, where)

    def own(self) -> "SharedDevice":
        """For one feature map: itself or, where there is nothing but arithmetic, another that stays fitted to it."""
        return SharedDevice(copy(self.backend)) if self.backend.parallel else self

    def counts(self, setting: DeviceSetting, rows: NDArray[Any]) -> tuple[NDArray[np.uint8], float]:
        """What the camera counts behind some rows, and the intensity of one count."""
        try:
            return self._show(setting, rows)
        except InputError:
            raise
        except Exception as error:
            log.warning("the device failed on %s rows, which are tried again", len(rows), exc_info=error)
        try:
            return self._show(setting, rows, anew=True)
        except Exception as error:
            kept = f"; frames so far are kept: {self.backend.kept()}" if self.backend.kept() else ""
            raise DeviceError(f"the OPU failed twice on {len(rows)} rows ({error}){kept}") from error

    def _show(self, setting: DeviceSetting, rows: NDArray[Any], anew: bool = False) -> tuple[NDArray[np.uint8], float]:
        with self.lock:
            if anew or self.fitted != setting:
                self.fitted = None
                self.backend.fit(*setting)
                self.fitted = setting
            if not self.backend.parallel:
                return self.backend.intensities(rows), self.backend.level
            device = copy(self.backend)  # as it is fitted now, whatever it is fitted to next
        return device.intensities(rows), device.level

    def info(self) -> dict[str, Any]:
        return self.backend.info() | ({} if self.level is None else {"intensity of one count": self.level})
