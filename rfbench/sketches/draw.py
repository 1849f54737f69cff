"""One draw of a sketch by its recipe and seed: small, picklable, and the same feature map in every process."""

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

from rfbench.seeds import rng_for
from rfbench.sketches.base import FeatureMap, Sketch


@dataclass(frozen=True)
class Draw:
    """What a feature map is drawn from; called, it gives the map."""

    sketch: Sketch
    d: int
    D: int
    seed: int
    names: tuple[object, ...]  # of the generator, besides the seed
    dtype: str

    @classmethod
    def of(cls, sketch: Sketch, name: str, d: int, D: int, seed: int, k: int, dtype: str) -> "Draw":
        """The k-th independent draw of the sketch of that name, as every task and every transformer draws it."""
        return cls(sketch, d, D, seed, ("sketch", name, D, k), dtype)

    def __call__(self) -> FeatureMap:
        return self.sketch.sample(self.d, self.D, rng_for(self.seed, *self.names), self.dtype)

    @cached_property
    def timed(self) -> tuple[FeatureMap, float]:
        """The map, drawn once in each process, and the seconds that it took."""
        start = perf_counter()
        return self(), perf_counter() - start

    @property
    def features(self) -> FeatureMap:
        return self.timed[0]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "timed"}
