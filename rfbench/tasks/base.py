"""A task measures features against an exact answer that never saw the sketch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, nan
from time import perf_counter
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from rfbench.arrays import Array
from rfbench.datasets.prepare import Preparation, Prepared, Split
from rfbench.devices.meters import Absent, Meter, Reading
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.memory import arrays_of
from rfbench.results.pictures import PictureKey
from rfbench.results.recorder import Recorder, model_file
from rfbench.results.series import Curve
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, Sketch, flops
from rfbench.sketches.draw import Draw
from rfbench.tasks.model import Fitted, model_of

TIMED_NUMBERS = 1 << 22  # of Φ, at most, by which the time of all rows is estimated
KERNEL_ROWS = 1000  # training rows from which a kernel learns, and a sketch if it needs no more


class Measure(NamedTuple):
    """One number of results.csv, or NaN and in `message` why there is none."""

    metric: str
    value: float
    unit: str = ""
    message: str = ""
    where: Mapping[str, Any] = MappingProxyType({})  # columns that are not those of the trial


class Size(NamedTuple):
    """The size of a trial, which determines the memory that it takes."""

    n: int  # training rows
    n_test: int
    D: int
    explicit: bool  # whether there are features, or the exact kernel only
    itemsize: int  # bytes of a feature
    wide: int  # bytes of a feature in double precision


def energy(reading: Reading) -> Iterator[Measure]:
    """What a meter has read; nothing where none was asked for."""
    if reading.joules is not None and reading.watts is not None:
        yield Measure("joules", reading.joules, "J", reading.source)
        yield Measure("watts", reading.watts, "W", reading.source)
        if reading.idle_watts is not None:
            yield Measure("idle_watts", reading.idle_watts, "W", reading.source)
    elif reading.reason:
        yield Measure("joules", nan, "J", reading.reason)


def costs(trial: "Trial") -> Iterator[Measure]:
    """Seconds, bytes and floating-point operations of the features of all training and test rows, and of the fit.

    Rows are timed once more, some of them, since tasks overlap the computation of features with other work.
    """
    features, drawn = trial.first.timed
    X = next(iter(trial.split.train.blocks()))[0][: max(TIMED_NUMBERS // max(features.D, 1), 1)]
    if not features.explicit or features.d != X.shape[1] or trial.device != "cpu":
        return
    Phi = features.empty(len(X))
    trial.engine.transform(features, X, Phi)  # buffers and caches
    start = perf_counter()
    trial.engine.transform(features, X, Phi)
    n = len(trial.split.train) + len(trial.split.test)
    transform = (perf_counter() - start) * n / len(X)
    fit = max(trial.fit_seconds, trial.sketch.facts().get("fit_seconds", 0.0))  # parts of it may have been in the cache
    yield Measure("seconds_total", fit + drawn + transform, "s")
    yield Measure("bytes", sum(arrays_of(features).values()) + n * features.D * features.dtype.itemsize, "B")
    counted = n * flops(features)
    yield Measure("flops", counted, "", "" if isfinite(counted) else "operations of this sketch are not counted")


@dataclass(frozen=True)
class Trial:
    """One sketch with D features in one repetition, and the recorder of what it shows beside its numbers."""

    split: Split
    kernel: Kernel
    sketch: Sketch
    d: int  # columns of the prepared rows
    D: int
    seed: int
    engine: Engine
    dtype: str = "float32"
    name: str = ""  # of the sketch; its draws depend on it
    real_twin: Sketch | None = None  # the real sketch of the same family, for ratios of variances
    energy_meter: Meter = field(default_factory=Absent)
    device: str = "cpu"  # that makes the features
    columns: Mapping[str, Any] = field(default_factory=dict)  # of its rows in results.csv
    recorder: Recorder = field(default_factory=Recorder)
    costs: bool = False  # whether it reports its seconds, bytes and operations
    fit_seconds: float = 0.0  # that the sketch took to learn from training rows

    @cached_property
    def first(self) -> Draw:
        """The first draw."""
        return self.plan(0)

    def plan(self, k: int) -> Draw:
        """The k-th independent draw as a description that can be pickled."""
        return Draw.of(self.sketch, self.name, self.d, self.D, self.seed, k, self.dtype)

    def draw(self, k: int) -> FeatureMap:
        return self.plan(k)()

    def drawn(self) -> Draw:
        """The first draw, already made, so that no clock counts what it takes."""
        self.learn(self.first.features.facts)
        return self.first

    def meter(self, device: str | None = None) -> AbstractContextManager[Reading]:
        """Measure the energy of a device, by default of the one that makes the features."""
        device = device or self.device
        return self.recorder.metered(self.energy_meter.on(device), (self.D, self.seed, device))

    def learn(self, facts: Mapping[str, Any]) -> None:
        """What task and sketch took from the training rows, for run.json."""
        self.recorder.learn(f"{self.columns.get('sketch', self.name)}, {self.D} features, seed {self.seed}", facts)

    def keep_model(self, fitted: Fitted) -> None:
        """Save a fitted model with the rows of this trial."""
        about = {
            **self.columns,
        }
        model = model_of(fitted, self.split.train, self.engine.block_rows, about)
        self.recorder.models[model_file(self.D, self.seed)] = model

    def curve(self, name: str, x: Array, y: Array) -> None:
        """A curve of this trial, for series.csv."""
        self.recorder.curve(self.columns, Curve(name, x, y))

    def show(self, kind: str, picture: Array, error: float, sketch: str = "") -> None:
        """A picture for the report: of this trial, or of what all are compared with, which is named."""
        name, features = (sketch, 0) if sketch else (str(self.columns.get("sketch", self.name)), self.D)
        dataset, kernel = (str(self.columns.get(column, "")) for column in ("dataset", "kernel"))
        self.recorder.show(PictureKey(kind, dataset, name, features, error, kernel), self.seed, picture)


def fitted(sketch: Sketch, train: Prepared, D: int, seed: int) -> Sketch:
    """A sketch with D features that has learned from training rows, as in a run."""
    sample, _ = train.sample(max(KERNEL_ROWS, sketch.sample_rows), rng_for(seed, "kernel"))
    return sketch.survey(lambda: (X for X, _ in train.blocks())).adapt(sample, D)


def of_one_output(task: str, recipe: KernelRecipe) -> str | None:
    """Why a kernel does not suit a task of one output, or None."""
    if not recipe.cls.matrix_valued:
        return None
    return f"task={task} is for one output, and kernel '{recipe.name}' has several; use task=vector_field"


def no_localized(task: str, sketch: Sketch) -> str | None:
    """Why a localized sketch does not suit a task that needs features of single rows, or None."""
    if not sketch.localized:
        return None
    return f"task={task} needs features that depend on one row only; use sketch=optimized_maclaurin"


@dataclass(frozen=True)
class Task(ABC):
    """Two steps: what does not depend on the sketch, once per repetition; then a measure for every sketch."""

    name: ClassVar[str]
    several_outputs: ClassVar[bool] = False  # whether labels may have several columns
    chooses: ClassVar[tuple[str, ...]] = ()  # numbers of the kernel, or threshold, that it chooses on held-out rows
    spreads: ClassVar[bool] = False  # whether it has passes that other processes may share
    shares_reference: ClassVar[bool] = False  # whether jobs may have one: it consists of arrays, not of work to be done
    predicts_rows: ClassVar[bool] = False  # whether a model of its own may predict each test row
    measurements: ClassVar[bool] = False  # whether the exact kernel may be that of measurements of the rows
    indefinite: ClassVar[bool] = False  # whether the estimated matrix may have negative eigenvalues

    @classmethod
    def data(cls, options: Mapping[str, Any]) -> dict[str, Any] | None:
        """The config of the dataset that the task's options name, if they name one."""
        return None

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        """Why this sketch or this kernel cannot be measured, or None."""
        if recipe.by_likelihood:
            return "kernel.length_scale=likelihood needs labels that are numbers; use task=gpr, or median"
        if recipe.tunable and recipe.tunable not in self.chooses:
            return f"kernel.{recipe.tunable}=validation works with task=ridge and task=vector_field only; use a number"
        if sketch.recentred and not self.predicts_rows:
            return f"sketch.centers=test is for Gaussian processes, not task={self.name}; use sketch.centers=clusters"
        if sketch.indefinite and not self.indefinite:
            return f"task={self.name} needs an estimate without negative eigenvalues; use sketch.correction=centred"
        exact_of_measurements = sketch.random and not (sketch.explicit or sketch.localized)
        if exact_of_measurements and not self.measurements:
            return f"task={self.name} takes the exact kernel of the rows themselves; use sketch=exact"
        return None

    def prepare(
        self,
        preparation: Preparation,
        split_by: Callable[[Preparation], Split],
        recipe: KernelRecipe,
        seed: int,
        engine: Engine,
    ) -> Preparation:
        """The preparation with the threshold for the training rows of one repetition."""
        return preparation

    def fit(self, recipe: KernelRecipe, train: Prepared, seed: int, engine: Engine, D: int | None = None) -> Kernel:
        """The kernel for these training rows and their outputs; D is the largest number of features, if it is known."""
        X, y = train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))
        return recipe.fit(X, train.part.dataset.targets(y))

    def wrapped(self, sketch: Sketch, kernel: Kernel) -> Sketch:
        """The sketch of what the task compares: of the rows themselves, unless it overrides this."""
        return sketch

    def memory(self, size: Size) -> int:
        """Bytes of the large arrays that a trial holds at once; 0 where blocks of rows are all."""
        return 0

    @abstractmethod
    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> Any:
        """The exact answer."""

    @abstractmethod
    def measure(self, trial: Trial, reference: Any) -> Iterator[Measure]:
        """The numbers of one trial."""

    def metered(self, trial: Trial, reference: Any) -> list[Measure]:
        """The numbers of one trial, and the energy that it took."""
        with trial.meter() as reading:
            measures = list(self.measure(trial, reference))
        return [*measures, *energy(reading), *(costs(trial) if trial.costs else ())]
