"""Recorded frames in place of a device."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.checks import InputError, require
from rfbench.devices.opu.base import OpticalBackend
from rfbench.devices.opu.frames import Frames, place
from rfbench.devices.opu.rows import row_digests


class Replay(OpticalBackend):
    """The frames that opu.dump wrote to a folder; rows without a frame are refused."""

    def __init__(self, folder: str | None = None) -> None:
        require(folder is not None, "opu.folder", "a folder that an earlier run filled with opu.dump=…", folder)
        self.folder = Path(str(folder))
        self.source: dict[str, Any] = {}

    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        here = place(self.folder, d, D, key, ones)
        try:
            about = json.loads((here / "device.json").read_text())
        except FileNotFoundError:
            raise InputError(
                f"{self.folder} has no frames of {D} features for this seed and these training rows of {d} columns; "
                + self._way_out()
            ) from None
        self.d, self.D, self.level, self.source = d, D, float(about["level"]), about["device"]
        self.store = Frames(here, D)

    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        rows = row_digests(bits)
        unseen = np.count_nonzero(~self.store.has(rows))
        if unseen:
            raise InputError(f"{self.folder} has no frames of {unseen} of {len(rows)} rows; {self._way_out()}")
        return self.store.read(rows)

    def _way_out(self) -> str:
        return f"run the same command on a device first, with opu.dump={self.folder}"

    def info(self) -> dict[str, Any]:
        return {"device": "replay", "folder": str(self.folder), "frames of": self.source}
