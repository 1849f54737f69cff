"""A task measures features against an exact answer that never saw the sketch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import nan
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from rfbench.datasets.prepare import Prepared, Split
from rfbench.devices.meters import Absent, Reading
from rfbench.engines import Local
from rfbench.kernels import Kernel
from rfbench.kernels.matrix import MatrixKernel
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, Sketch
from rfbench.sketches.compressive import Compressed
from rfbench.sketches.exact import Exact

KERNEL_ROWS = 1000  # training rows from which a kernel and a sketch learn


class Measure(NamedTuple):
    """One number of results.csv, or NaN and in `message` why there is none."""

    metric: str
    value: float
    unit: str = ""
    message: str = ""
    where: Mapping[str, Any] = MappingProxyType({})  # columns that are not those of the trial


def energy(reading: Reading) -> Iterator[Measure]:
    """What a meter has read; nothing where none was asked for."""
    if reading.joules is not None and reading.watts is not None:
        yield Measure("joules", reading.joules, "J", reading.source)
        yield Measure("watts", reading.watts, "W", reading.source)
        if reading.idle_watts is not None:
            yield Measure("idle_watts", reading.idle_watts, "W", reading.source)
    elif reading.reason:
        yield Measure("joules", nan, "J", reading.reason)


def unmetered(device: str | None = None) -> AbstractContextManager[Reading]:
    return Absent().measure()


@dataclass(frozen=True)
class Trial:
    """One sketch with D features in one repetition."""

    split: Split
    kernel: Kernel
    sketch: Sketch
    real_twin: Sketch | None  # the real sketch of the same family, for ratios of variances
    D: int
    seed: int
    draw: Callable[[int], FeatureMap]  # k → the k-th independent draw
    engine: Local
    show: Callable[[str, str, float, Any], None] = lambda kind, sketch, error, picture: None  # for the report
    meter: Callable[[str | None], AbstractContextManager[Reading]] = unmetered  # of a device, or of the job
    tell: Callable[[dict[str, Any]], None] = lambda facts: None  # what the task made of the sketch, for run.json


def of_one_output(task: str, kernel: Kernel) -> str | None:
    """Why a kernel does not suit a task of one output, or None."""
    if not isinstance(kernel, MatrixKernel):
        return None
    return f"task={task} is for one output, and kernel '{kernel.name}' has several; use task=vector_field"


@dataclass(frozen=True)
class Task(ABC):
    """Two steps: what does not depend on the sketch, once per repetition; then a measure for every sketch."""

    name: ClassVar[str]
    several_outputs: ClassVar[bool] = False  # whether labels may have several columns
    chooses: ClassVar[tuple[str, ...]] = ()  # numbers of the kernel that it chooses on rows left out
    measurements: ClassVar[bool] = False  # whether the exact kernel may be that of measurements of the rows

    @classmethod
    def data(cls, options: Mapping[str, Any]) -> dict[str, Any] | None:
        """The config of a data set in place of the one chosen, where the task's options name its rows."""
        return None

    def objection(self, sketch: Sketch, kernel: Kernel) -> str | None:
        """Why this sketch or this kernel cannot be measured, or None."""
        if getattr(kernel, "length_scale", None) == "likelihood":
            return "kernel.length_scale=likelihood needs labels that are numbers; use task=gpr, or median"
        if kernel.open and kernel.open not in self.chooses:
            return f"kernel.{kernel.open}=validation is chosen by task=ridge and task=vector_field only; give a number"
        if isinstance(sketch, Compressed) and isinstance(sketch.base, Exact) and not self.measurements:
            return f"task={self.name} takes the exact kernel of the rows themselves; use sketch=exact"
        return None

    def fit(self, kernel: Kernel, train: Prepared, seed: int, engine: Local) -> Kernel:
        """The kernel with what it takes from training rows."""
        return kernel.fit(train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))[0])

    @abstractmethod
    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Local) -> Any:
        """The exact answer."""

    @abstractmethod
    def measure(self, trial: Trial, reference: Any) -> Iterator[Measure]:
        """The numbers of one trial."""

    def metered(self, trial: Trial, reference: Any) -> list[Measure]:
        """The numbers of one trial, and the energy that it took."""
        with trial.meter(None) as reading:
            measures = list(self.measure(trial, reference))
        return [*measures, *energy(reading)]
