"""An optical processing unit (OPU): binary rows in, the light behind a scattering medium as counted by a camera out."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.sketches.fourier.chip import Chip
from rfbench.sketches.optical.device import as_bits


class OpticalBackend(ABC):
    """A device for one caller at a time, opened and closed as a context.

    After `fit`, `level` is the intensity of one count, in units in which a medium of CN(0, 1) entries gives row x the
    mean intensity ‖x‖².
    """

    d: int
    D: int
    level: float
    chip: Chip | None = None  # of a device that multiplies rows by weights in place of showing light
    parallel: ClassVar[bool] = False  # whether a copy may run beside it after `fit`: it is arithmetic only

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        return None

    @abstractmethod
    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        """Prepare for rows of d bits and D outputs.

        The key selects a medium or, in a device that has only one, a window of its outputs: equal keys give equal
        features.  The exposure suits rows with this many ones, by default half of the bits.
        """

    @abstractmethod
    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Counts of rows of 0 and 1, (n, D)."""

    def intensities(self, rows: Array) -> NDArray[np.uint8]:
        """Counts of rows of any type; they must be binary and have the fitted number of columns."""
        if rows.shape[1] != self.d:
            raise ValueError(f"the device was fitted to rows of {self.d} columns; got {rows.shape[1]}")
        return self.frames(as_bits(rows))

    @abstractmethod
    def info(self) -> dict[str, Any]:
        """Device, exposure, camera, frames per second and versions, for run.json."""

    def kept(self) -> str:
        """The options that replay the frames recorded so far, if any."""
        return ""

    def seconds(self, n: int) -> float | None:
        """The time of n frames on the device that this one simulates; None: this is a real device, measure it."""
        return None
