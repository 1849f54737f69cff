"""Optical features from the counts of a device, Φ(x) = (level · counts)^{m/2} / √D, which estimate k_m."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.fourier.chip import Chip, on_chip
from rfbench.sketches.fourier.waves import Fourier, RealFourier
from rfbench.sketches.optical.ideal import OpticalSketch
from rfbench.sketches.optical.interference import Interference
from rfbench.sketches.optical.polynomial import Appended, Centred
from rfbench.sketches.wrappers import Affine, Wrapper


class DeviceSetting(NamedTuple):
    """The arguments with which a device is fitted."""

    d: int
    D: int
    key: int
    ones: float | None


class Device(Protocol):
    """The interface of an optical processing unit that sketches need; devices/opu implements it."""

    level: float | None  # intensity of one count in the last feature map
    chip: Chip | None  # of a device that multiplies rows by weights in place of showing light

    def own(self) -> "Device":
        """A device for one feature map: this one, or a copy that stays fitted to the map."""

    def counts(self, setting: DeviceSetting, rows: Array) -> tuple[NDArray[np.uint8], float]:
        """The camera's counts for some rows, and the intensity of one count."""


@dataclass(frozen=True)
class OnDevice(Wrapper):
    """An optical sketch whose features a device computes; a draw is a key of its medium."""

    base: OpticalSketch
    opu: Device
    bias: int = 0  # ones appended to every row
    ones: float | None = None  # in a training row on average, for the exposure

    @property
    def device(self) -> Device:
        return self.opu

    def adapt(self, X: Array, D: int) -> "OnDevice":
        ones = float(as_bits(X).sum(1).mean()) + self.bias
        if not ones:
            raise InputError("all training rows are 0, so there is no light; lower dataset.threshold")
        return replace(self, ones=ones)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        setting = DeviceSetting(d + self.bias, D, int(rng.integers(2**63)), self.ones)
        device = self.opu.own()
        _, self.opu.level = device.counts(setting, np.empty((0, setting.d)))  # fit it before anything is timed
        return DeviceMap(device, setting, d, self.base.kernel.exponent, dtype)


def on_device(sketch: Sketch, device: Device) -> Sketch:
    """A sketch whose light comes from a device; a bias of optical features becomes as many ones."""
    if device.chip:
        return on_chip(sketch, device.chip)
    match sketch:
        case OpticalSketch():
            return OnDevice(sketch, device)
        case Affine(base=OpticalSketch() as light, bias=bias):
            if bias != int(bias):
                raise InputError(f"an OPU appends ones: kernel.bias must be a whole number; {bias:g} was given")
            return OnDevice(light, device, int(bias))
        case Affine(gamma=gamma, bias=bias) if gamma != 1 or bias not in (0, 1):
            raise InputError(
                f"rows of an OPU are 0 and 1: use kernel.gamma=1 and kernel.bias=0 or 1, not {gamma:g} and {bias:g}"
            )
        case Affine() | Centred() | Appended() | RealFourier():
            return replace(sketch, base=on_device(sketch.base, device))
        case Fourier(directions=Interference() as directions):
            return replace(sketch, directions=replace(directions, light=on_device(directions.light, device)))
    raise InputError(
        "an OPU computes optical features only, and another sketch was asked for; use sketch=optical, or opu=none"
    )


class DeviceMap(FeatureMap):
    """One medium of the device, or one window of its outputs; ones are appended to rows of d columns."""

    def __init__(self, device: Device, setting: DeviceSetting, d: int, m: float, dtype: Any) -> None:
        self.device, self.setting, self.m = device, setting, m
        self.d, self.D, self.dtype = d, setting.D, np.dtype(dtype)

    def __call__(self, X: Array, out: Array | None = None) -> Array:
        """All rows in one batch."""
        out = self.empty(len(X)) if out is None else out
        self.write(X, out)
        return out

    def write(self, X: Array, out: Array) -> None:
        rows = np.pad(X, ((0, 0), (0, self.setting.d - self.d)), constant_values=1)
        counts, level = self.device.counts(self.setting, rows)
        values = ((level * np.arange(256)) ** (self.m / 2) / np.sqrt(self.D)).astype(self.dtype)
        for row, features in zip(counts, out, strict=True):
            np.take(values, row, out=features, mode="clip")  # quickest; bytes never exceed 255


def as_bits(X: Array) -> NDArray[np.uint8]:
    """Rows of 0 and 1 as bytes; other values are refused."""
    ones = X == 1
    if not np.all(ones | (X == 0)):
        raise InputError(
            "an OPU needs rows of 0 and 1, and these have other values; end dataset.prepare with binarize, "
            "as in dataset.prepare=[min_max,binarize] dataset.threshold=0.5"
        )
    return np.ascontiguousarray(ones).view(np.uint8)
