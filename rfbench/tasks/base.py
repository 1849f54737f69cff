"""A task measures features against an exact answer that never saw the sketch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rfbench.datasets.prepare import Split
from rfbench.engines import Local
from rfbench.kernels import Kernel
from rfbench.sketches import FeatureMap, Sketch


class Measure(NamedTuple):
    """One number of results.csv."""

    metric: str
    value: float
    unit: str = ""


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


@dataclass(frozen=True)
class Task(ABC):
    """Two steps: what does not depend on the sketch, once per repetition; then a measure for every sketch."""

    name: ClassVar[str]
    several_outputs: ClassVar[bool] = False  # whether labels may have several columns

    def objection(self, sketch: Sketch, kernel: Kernel) -> str | None:
        """Why this sketch cannot be measured, or None."""
        return None

    @abstractmethod
    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Local) -> Any:
        """The exact answer."""

    @abstractmethod
    def measure(self, trial: Trial, reference: Any) -> Iterator[Measure]:
        """The numbers of one trial."""
