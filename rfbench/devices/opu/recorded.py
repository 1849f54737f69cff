"""A device that records its frames."""

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rfbench.checks import InputError
from rfbench.devices.opu.base import OpticalBackend
from rfbench.devices.opu.frames import Frames, place
from rfbench.devices.opu.rows import row_digests
from rfbench.storage import replace_file


class Recorded(OpticalBackend):
    """Sends each row to a device once, and keeps the frame in a folder."""

    def __init__(self, device: OpticalBackend, folder: Path) -> None:
        self.device, self.folder = device, folder

    def __enter__(self) -> Self:
        self.device.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.device.__exit__(kind, error, where)

    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        self.device.fit(d, D, key, ones)
        self.d, self.D, here = d, D, place(self.folder, d, D, key, ones)
        about: dict[str, Any] = {"level": self.device.level, "device": self.device.info()}
        path = here / "device.json"
        if path.exists():
            before = json.loads(path.read_text())
            if _settings(before) != _settings(json.loads(json.dumps(about))):
                raise InputError(f"{here} has frames of another device or exposure; choose another opu.dump")
            about = before  # one level for all frames, even if the device measures it
        else:
            replace_file(path, json.dumps(about, indent=1) + "\n")
        self.level, self.store = float(about["level"]), Frames(here, D)

    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        rows = row_digests(bits)
        fresh = np.unique(rows, return_index=True)[1]
        fresh = np.sort(fresh[~self.store.has(rows[fresh])])
        if len(fresh):
            self.store.add(rows[fresh], self.device.frames(bits[fresh]))
        return self.store.read(rows)

    def info(self) -> dict[str, Any]:
        return self.device.info() | {"frames kept in": str(self.folder)}

    def seconds(self, n: int) -> float | None:
        return self.device.seconds(n)

    def kept(self) -> str:
        return f"opu=replay opu.folder={self.folder}"


def _settings(about: dict[str, Any]) -> dict[str, Any]:
    """The settings that frames of one folder must share."""
    return {key: value for key, value in about["device"].items() if key != "versions"}
