"""Seconds and bytes of features: a short timing on this machine, and a line through two numbers of features.

All sketches are timed in one process, turn by turn, and the shortest turn counts.  The time is that of the processor,
divided by the workers: what other programs do at the same time does not count.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from rfbench.advise.candidates import Candidate
from rfbench.advise.evidence import Evidence
from rfbench.arrays import Array, padded
from rfbench.checks import InputError
from rfbench.engines import Engine
from rfbench.progress import bar
from rfbench.sketches import FeatureMap

TIMED_ROWS = 4096
TIMED_NUMBERS = 1 << 17  # in the rows that are timed, at most
TIMED_FEATURES = 1024  # at most; time is nearly linear in D
TURNS = 4
MILLION = 1_000_000
ROUNDING = 1e-6


@dataclass(frozen=True)
class Cost:
    """Lines in D for a million rows."""

    seconds: tuple[float, float]  # at D = 0, and for every feature
    map_bytes: tuple[float, float]
    feature_bytes: int  # of one number of Φ

    def seconds_of(self, D: int) -> float:
        return self.seconds[0] + self.seconds[1] * D

    def bytes_of(self, D: int) -> int:
        """The feature map, and Φ of a million rows."""
        return round(self.map_bytes[0] + self.map_bytes[1] * D) + MILLION * D * self.feature_bytes

    def within_seconds(self, seconds: float) -> int:
        return int((seconds - self.seconds[0]) / max(self.seconds[1], 1e-12) + ROUNDING)

    def within_bytes(self, size: int) -> int:
        return int((size - self.map_bytes[0]) / (self.map_bytes[1] + MILLION * self.feature_bytes) + ROUNDING)


def measured(candidates: Sequence[Candidate], engine: Engine) -> dict[str, Cost]:
    """The costs of all candidates that can be fitted to the rows, by name."""
    evidence = candidates[0].evidence
    most = min(4 * padded(evidence.d), TIMED_FEATURES)
    maps: dict[str, list[FeatureMap]] = {}
    for one in candidates:
        with suppress(InputError):  # such as a series that is too long for these rows
            maps[one.name] = [one.draw(one.count(D), 0) for D in (most // 4, most)]
    seconds = timed(maps, evidence, engine)
    return {name: of_two(two, seconds[name]) for name, two in maps.items()}


def timed(maps: Mapping[str, Sequence[FeatureMap]], evidence: Evidence, engine: Engine) -> dict[str, Array]:
    """The seconds of each feature map for a million rows, by name."""
    X = np.resize(evidence.fitting_rows, (min(TIMED_ROWS, TIMED_NUMBERS // evidence.d + 1), evidence.d))
    Phi = {name: [features.empty(len(X)) for features in several] for name, several in maps.items()}
    seconds = {name: np.full(len(several), np.inf) for name, several in maps.items()}
    with engine.running(), bar(TURNS * len(maps), "timing") as shown:
        for _ in range(TURNS):
            for name, several in maps.items():
                for k, features in enumerate(several):
                    start = process_time()
                    engine.transform(features, X, Phi[name][k])
                    seconds[name][k] = min(seconds[name][k], process_time() - start)
                shown.update()
    return {name: found / engine.workers * MILLION / len(X) for name, found in seconds.items()}


def of_two(maps: Sequence[FeatureMap], seconds: Array) -> Cost:
    """The lines through two feature maps."""
    D = [features.D for features in maps]
    sizes = np.array([sum(arrays_of(features).values()) for features in maps])
    return Cost(line(D, seconds), line(D, sizes), maps[0].dtype.itemsize)


def line(x: Sequence[int], y: Array) -> tuple[float, float]:
    """(intercept, slope) of the line through two points, neither below zero; through the origin where x is the same."""
    slope = float(y[1] - y[0]) / (x[1] - x[0]) if x[1] > x[0] else 0.0
    slope = float(np.clip(slope, 0, y[1] / x[1]))
    return float(y[1]) - slope * x[1], slope


def arrays_of(thing: Any) -> dict[int, int]:
    """The bytes of every array that an object holds, by its identity; views count once with what they share."""
    if isinstance(thing, np.ndarray):
        return {id(thing): thing.nbytes}
    parts = thing.values() if isinstance(thing, Mapping) else thing if isinstance(thing, list | tuple) else ()
    if hasattr(thing, "__dict__") and not isinstance(thing, type):
        parts = vars(thing).values()
    return {key: size for part in parts for key, size in arrays_of(part).items()}
