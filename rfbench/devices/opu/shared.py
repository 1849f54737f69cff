"""One device for feature maps on several threads: one batch at a time, and a second try if a batch fails."""

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
    """Fits the device again whenever a batch needs another setting than the batch before."""

    def __init__(self, backend: OpticalBackend) -> None:
        self.backend, self.lock, self.chip = backend, Lock(), backend.chip
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
        """A device for one feature map: itself or, if it is arithmetic only, a copy that stays fitted to it."""
        return SharedDevice(copy(self.backend)) if self.backend.parallel else self

    def counts(self, setting: DeviceSetting, rows: NDArray[Any]) -> tuple[NDArray[np.uint8], float]:
        """Counts of some rows, and the intensity of one count."""
        try:
            return self._show(setting, rows)
        except InputError:
            raise
        except Exception as error:
            log.warning("the device failed on %s rows; trying again", len(rows), exc_info=error)
        try:
            return self._show(setting, rows, again=True)
        except Exception as error:
            kept = f"; replay the frames recorded so far with {self.backend.kept()}" if self.backend.kept() else ""
            raise DeviceError(f"the OPU failed twice on {len(rows)} rows ({error}){kept}") from error

    def _show(self, setting: DeviceSetting, rows: NDArray[Any], again: bool = False) -> tuple[NDArray[np.uint8], float]:
        with self.lock:
            if again or self.fitted != setting:
                self.fitted = None
                self.backend.fit(*setting)
                self.fitted = setting
            if not self.backend.parallel:
                return self.backend.intensities(rows), self.backend.level
            device = copy(self.backend)  # keeps this setting when another thread fits the device
        return device.intensities(rows), device.level

    def info(self) -> dict[str, Any]:
        return self.backend.info() | ({} if self.level is None else {"intensity of one count": self.level})
