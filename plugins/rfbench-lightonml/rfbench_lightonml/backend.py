"""An OPU by way of lightonml: the device, or the one that lightonml simulates."""

import warnings
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.devices.base import OpticalBackend
from rfbench.devices.camera import Camera
from rfbench.seeds import rng_for

CALIBRATION = 128  # random rows on which the intensity of one count is measured
BATCH_BYTES = 1 << 26  # of all outputs at once


class LightOn(OpticalBackend):
    """A device has one medium, and a key is a window of its outputs; a simulated one has a medium for every key."""

    def __init__(
        self,
        simulated: bool | str = "auto",
        outputs: int = 100_000,
        exposure_us: int = 0,
        frametime_us: int = 0,
        bits: int = 8,
        range: float = 10.0,
    ) -> None:
        require(simulated in (True, False, "auto"), "opu.simulated", "true, false or auto", simulated)
        require(outputs >= 1, "opu.outputs", "at least 1", outputs)
        require(exposure_us >= 0, "opu.exposure_us", "at least 0", exposure_us)
        require(frametime_us >= 0, "opu.frametime_us", "at least 0", frametime_us)
        if find_spec("lightonml") is None:
            raise InputError("opu=lightonml needs lightonml: pip install --no-deps lightonml==1.4.3")
        self.simulated = find_spec("lightonopu") is None if simulated == "auto" else bool(simulated)
        self.outputs, self.camera = outputs, Camera(bits, range)
        self.timings = {"exposure_us": exposure_us, "frametime_us": frametime_us}  # 0: the device's own
        self.levels: dict[tuple[int, float], float] = {}
        self.opu: Any = None

    def __enter__(self) -> Self:
        if not self.simulated:
            try:
                self.opu = _lightonml().OPU(n_components=self.outputs, disable_pbar=True)
                self.opu.open()
            except (ImportError, RuntimeError) as error:
                reason = str(error).splitlines()[0]
                raise InputError(
                    f"no OPU can be opened ({reason}); use opu.simulated=true, or opu=simulated"
                ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self.opu is not None:
            self.opu.close()

    def fit(self, d: int, D: int, key: int = 0, ones: float | None = None) -> None:
        self.d, self.D, ones = d, D, d / 2 if ones is None else ones
        if self.simulated:
            self.opu, self.window = self._twin(d, D, key), slice(D)
        else:
            self.opu.n_components = max(self.outputs, D)
            start = key % (self.opu.n_components - D + 1)
            self.window = slice(start, start + D)
        self.opu.fit1d(n_features=d, **self.timings)
        self.level = self.camera.level(ones) if self.simulated else self._measured_level(d, ones)

    def _twin(self, d: int, D: int, key: int) -> Any:
        """lightonml's simulated device, which by itself would have the same medium for every key."""
        lightonml = _lightonml()
        device = lightonml.internal.simulated_device.SimulatedOpuDevice()
        device.build_random_matrix(d, D, seed=[key % 2**32, key >> 32])
        twin = lightonml.OPU(n_components=D, opu_device=device, max_n_features=d, disable_pbar=True)
        twin.open()
        return twin

    def _measured_level(self, d: int, ones: float) -> float:
        """The mean intensity behind random rows with so many ones over the mean count, over all outputs."""
        if (d, ones) not in self.levels:
            n = min(max(round(ones), 1), d)
            order = rng_for(0, "opu", d, n).random((CALIBRATION, d)).argsort(axis=1)
            seen = self._seen((order < n).astype(np.uint8), slice(None))
            if not seen.any():
                raise InputError("the camera sees nothing of training rows; set a longer opu.exposure_us")
            self.levels[d, ones] = n / float(seen.mean())
        return self.levels[d, ones]

    def frames(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return self._seen(bits, self.window)

    def _seen(self, bits: NDArray[np.uint8], window: slice) -> NDArray[np.uint8]:
        """Counts of some outputs, in batches that memory holds."""
        batch = max(BATCH_BYTES // self.opu.n_components, 1)
        counts = np.empty((len(bits), len(range(*window.indices(self.opu.n_components)))), np.uint8)
        for rows in (slice(*span) for span in spans(len(bits), batch)):
            seen = np.asarray(self.opu.transform(bits[rows])).reshape(-1, self.opu.n_components)
            if self.simulated:  # it has no camera, and entries of variance 2/d
                self.camera.count(seen * np.float32(self.d / 2), self.level, counts[rows])
            else:
                counts[rows] = seen[:, window]
        return counts

    def info(self) -> dict[str, Any]:
        device = getattr(self.opu, "device", None)
        twin = {"camera bits": self.camera.bits, "saturates at mean intensities": self.camera.range}
        return {
            "device": "lightonml, simulated" if self.simulated else "lightonml",
            **{name: getattr(device, name, None) for name in ("exposure_us", "frametime_us", "gain_dB")},
            **(twin if self.simulated else {"outputs": self.outputs}),
            "frames per second": 1e6 / device.frametime_us if device else None,
            "versions": {name: _version(name) for name in ("lightonml", "lightonopu")},
        }

    def seconds(self, n: int) -> float | None:
        return n * self.opu.device.frametime_us / 1e6 if self.simulated else None


def _lightonml() -> Any:
    """Imported where it is needed: it takes long, and warns of its own imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import lightonml
        import lightonml.internal.simulated_device
    return lightonml


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
