"""Devices that multiply n rows of D columns by a D × D matrix; drawing and loading the matrix is not measured."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from rfbench.arrays import Array
from rfbench.devices.opu.recorded import Recorded
from rfbench.devices.opu.shared import SharedDevice
from rfbench.memory import available_bytes


class NoRoomError(Exception):
    """Why a device cannot do a projection of this size."""


class Projector(ABC):
    """A device; `name` replaces that of the sketch in the results, `draws` is the device to meter."""

    name: ClassVar[str | None] = None
    draws: ClassVar[str]

    @abstractmethod
    def ready(self, rows: Array, D: int, rng: np.random.Generator) -> AbstractContextManager[Callable[[], object]]:
        """A context with a function that projects all rows once and returns when done, warmed up; or NoRoomError."""

    def seconds(self, n: int) -> float | None:
        """The time of n rows on the device that this one simulates; None: measure it."""
        return None


class NumPy(Projector):
    """A matrix product on a number of threads."""

    name = "numpy"
    draws = "cpu"

    def __init__(self, threads: int) -> None:
        self.threads = threads

    @contextmanager
    def ready(self, rows: Array, D: int, rng: np.random.Generator) -> Iterator[Callable[[], object]]:
        n, dtype = len(rows), rows.dtype
        require_room(D, (D + 2 * n) * D * dtype.itemsize, available_bytes())
        X, W, Y = widened(rows, D), rng.random((D, D), dtype), np.empty((n, D), dtype)  # the values do not matter
        Y.fill(0)  # so that the system allocates the pages now
        with threadpool_limits(self.threads):
            np.matmul(X[:8], W, out=Y[:8])
            yield lambda: np.matmul(X, W, out=Y)


class Torch(Projector):
    """torch.matmul on a CUDA card, as in Ohana et al. 2019, 4.3."""

    name = "torch"
    draws = "cuda"

    def __init__(self, place: str = "cuda") -> None:
        self.place = place

    @contextmanager
    def ready(self, rows: Array, D: int, rng: np.random.Generator) -> Iterator[Callable[[], object]]:
        import torch

        n, on_card = len(rows), self.place.startswith("cuda")
        free = torch.cuda.mem_get_info(self.place)[0] if on_card else available_bytes()
        require_room(D, (D + 2 * n) * D * rows.itemsize, free)
        X = torch.from_numpy(widened(rows, D)).to(self.place)
        generator = torch.Generator(self.place).manual_seed(int(rng.integers(2**63)))
        W = torch.rand(D, D, generator=generator, dtype=X.dtype, device=self.place)
        Y = torch.empty_like(X)

        def project() -> object:
            torch.matmul(X, W, out=Y)
            if on_card:
                torch.cuda.synchronize(self.place)
            return Y

        project()
        yield project


class OPU(Projector):
    """An OPU, whose time does not depend on D."""

    draws = "opu"

    def __init__(self, device: SharedDevice) -> None:
        """Use the bare backend: recording would skip known rows, and a second try would double the time."""
        self.device = device.backend.device if isinstance(device.backend, Recorded) else device.backend

    def seconds(self, n: int) -> float | None:
        self.device.fit(64, 64)  # some devices know their frame time only when fitted
        return self.device.seconds(n)

    @contextmanager
    def ready(self, rows: Array, D: int, rng: np.random.Generator) -> Iterator[Callable[[], object]]:
        X = widened(rows, D)
        self.device.fit(D, D, int(rng.integers(2**63)))
        self.device.intensities(X[:1])
        yield lambda: self.device.intensities(X)


def available_projectors(threads: int, device: SharedDevice | None) -> list[Projector]:
    """The processor, a card if torch finds one, and an OPU if one was chosen."""
    found: list[Projector] = [NumPy(threads)]
    if find_spec("torch"):
        import torch

        found += [Torch()] if torch.cuda.is_available() else []
    return [*found, OPU(device)] if device else found


def widened(rows: Array, D: int) -> Array:
    """The rows with their columns repeated or cut to D."""
    return np.ascontiguousarray(np.tile(rows, -(-D // rows.shape[1]))[:, :D])


def require_room(D: int, wanted: int, free: int) -> None:
    if wanted > free:
        raise NoRoomError(f"{D} columns need {wanted / 1e9:.1f} GB; only {free / 1e9:.1f} GB are free")
