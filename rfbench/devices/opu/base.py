"""What an optical processing unit does: binary rows in, what a camera sees of the light behind the medium out."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.sketches.optical.device import as_bits


class OpticalBackend(ABC):
    """One device, for one caller at a time; opened and closed as a context.

    After `fit`, `level` is the intensity that one count stands for, in the unit in which a medium of CN(0, 1) entries
    has a mean intensity of ‖x‖² behind row x.
    """

    d: int
    D: int
    level: float
    parallel: ClassVar[bool] = False  # whether a copy made after `fit` may work beside it: nothing but arithmetic

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        return None

    @abstractmethod
    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        """Make ready for rows of d bits and D outputs.

        The key names a medium or, in a device that has but one, a window of its outputs: the same key, the same
        features.  The exposure suits rows with so many ones, half of the bits unless told.
        """

    @abstractmethod
    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Counts behind rows of 0 and 1, (n, D)."""

    def intensities(self, rows: Array) -> NDArray[np.uint8]:
        """The same for rows of any type, refused unless they are binary and as long as those fitted."""
        if rows.shape[1] != self.d:
            raise ValueError(f"the device was fitted to rows of {self.d} columns; {rows.shape[1]} were given")
        return self.frames(as_bits(rows))

    @abstractmethod
    def info(self) -> dict[str, Any]:
        """Device, exposure, camera, frames per second and versions, for run.json."""

    def kept(self) -> str:
        """The options that find the frames so far again, if they are kept."""
        return ""

    def seconds(self, n: int) -> float | None:
        """What n frames take on the device that is simulated; None: it is real, and they are measured."""
        return None
