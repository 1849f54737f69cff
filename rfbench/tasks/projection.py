"""Time and energy of a projection, (n, D) × (D, D), on the available devices [Ohana et al. 2019, 4.3 and Fig. 3].

The rows are the training rows of the dataset, their columns repeated or cut to D.  An OPU takes one frame per row,
whatever D is; the time of a simulated OPU is that of the device it simulates.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import nan
from time import perf_counter

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import require
from rfbench.datasets.prepare import Split
from rfbench.devices.opu.replay import Replay
from rfbench.devices.opu.shared import SharedDevice
from rfbench.devices.projectors import NoRoomError, Projector, available_projectors
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.tasks.base import Measure, Task, Trial, energy


@dataclass(frozen=True)
class Projection(Task):
    """Mean over as many projections as take `seconds`; the column `sketch` of the results names the device."""

    name = "projection"
    several_outputs = True
    seconds: float = 0.2

    def __post_init__(self) -> None:
        require(0 <= self.seconds < np.inf, "task.seconds", "at least 0", self.seconds)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        device = device_of(sketch)
        if device and isinstance(device.backend, Replay):
            return "recorded frames have no times; use opu=simulated or a device"
        if not (device or (sketch.random and recipe.name == "optical")):
            return "task=projection needs sketch=optical, its default; remove sketch=…"
        return super().objection(sketch, recipe)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> Array:
        return np.concatenate([X for X, _ in split.train.blocks()])

    def measure(self, trial: Trial, reference: Array) -> Iterator[Measure]:
        for projector in available_projectors(trial.engine.workers, device_of(trial.sketch)):
            where = {"d": trial.D} | ({"sketch": projector.name} if projector.name else {})
            for measure in self._of(projector, reference, trial):
                yield measure._replace(where=where)

    def metered(self, trial: Trial, reference: Array) -> list[Measure]:
        """Each device has its own meter."""
        return list(self.measure(trial, reference))

    def _of(self, projector: Projector, rows: Array, trial: Trial) -> Iterator[Measure]:
        rng = rng_for(trial.seed, "projection", projector.draws, trial.D)
        if (seconds := projector.seconds(len(rows))) is not None:
            source = "time of the simulated device"
            with trial.meter(projector.draws) as reading:
                pass
        else:
            try:
                with projector.ready(rows, trial.D, rng) as project, trial.meter(projector.draws) as reading:
                    seconds, repeats = mean_seconds(project, max(self.seconds, reading.least_seconds))
            except NoRoomError as reason:
                yield Measure("transform_seconds", nan, "s", str(reason))
                return
            source = f"mean of {repeats}"
        yield Measure("transform_seconds", seconds, "s", source)
        joules = None if reading.watts is None else reading.watts * seconds
        yield from energy(replace(reading, seconds=seconds, joules=joules))


def device_of(sketch: Sketch) -> SharedDevice | None:
    """The optical processing unit of a sketch, if it has one."""
    return sketch.device if isinstance(sketch.device, SharedDevice) else None


def mean_seconds(project: Callable[[], object], least: float) -> tuple[float, int]:
    """(mean seconds of a projection, number of projections); all together take at least `least` seconds."""
    start, repeats, elapsed = perf_counter(), 0, 0.0
    while not repeats or elapsed < least:
        project()
        repeats, elapsed = repeats + 1, perf_counter() - start
    return elapsed / repeats, repeats
