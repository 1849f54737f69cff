"""Seconds and bytes of features: a short timing on this machine at a few numbers of features, and curves through them.

All sketches are timed in one process, turn by turn, and the shortest turn counts.  The time is that of the processor,
divided by the workers: what other programs do at the same time does not count.  Where transforms take most of the time
it hardly grows with D, and the number of features that fit into a time follows from small differences; so the numbers
of features that are timed lie far apart, and those that are compared between them.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import process_time

import numpy as np

from rfbench.advise.candidates import Candidate
from rfbench.advise.evidence import Evidence
from rfbench.arrays import Array, padded
from rfbench.blocks import scratch
from rfbench.checks import InputError
from rfbench.engines import Engine
from rfbench.memory import arrays_of
from rfbench.progress import bar
from rfbench.sketches import FeatureMap

TIMED_ROWS = 256, 4096  # at least one block of a run, and at most
TIMED_NUMBERS = 1 << 17  # in the rows that are timed, where it is more than the fewest
LONG = 4.0  # seconds of fitting, after which no larger map of a sketch is fitted
FAR = 512  # features at least of the largest map that is timed
TURNS = 16
ENOUGH = 0.05  # seconds of turns, from which on a map is timed no more
MILLION = 1_000_000
ROUNDING = 1e-6


@dataclass(frozen=True)
class Curve:
    """Straight lines through points with increasing D; it never falls, and the last line goes on."""

    D: tuple[int, ...]
    y: tuple[float, ...]

    @classmethod
    def through(cls, D: Sequence[int], y: Array) -> "Curve":
        """Through measured points and a start at D = 0 that is not negative.

        Noise only adds time, so a point above one of more features is lowered to it.
        """
        values = np.minimum.accumulate(y[::-1])[::-1]
        slope = (values[1] - values[0]) / (D[1] - D[0]) if len(D) > 1 else 0.0
        first = max(float(values[0] - slope * D[0]), 0.0)
        return cls((0, *map(int, D)), (first, *map(float, values)))

    @property
    def slope(self) -> float:
        """Of the last line; of a line through the origin where there is one point only."""
        if len(self.D) == 2:
            return self.y[1] / self.D[1]
        return (self.y[-1] - self.y[-2]) / (self.D[-1] - self.D[-2])

    def __call__(self, D: float) -> float:
        return float(np.interp(D, self.D, self.y)) + self.slope * max(D - self.D[-1], 0)

    def within(self, y: float) -> int:
        """The largest D of at most this value."""
        k = int(np.searchsorted(self.y, y, side="right"))
        if k == 0:
            return 0
        if k == len(self.y):
            return self.D[-1] + int((y - self.y[-1]) / max(self.slope, 1e-12) + ROUNDING)
        share = (y - self.y[k - 1]) / (self.y[k] - self.y[k - 1])
        return int(self.D[k - 1] + share * (self.D[k] - self.D[k - 1]) + ROUNDING)


@dataclass(frozen=True)
class Cost:
    """Curves in D: seconds and bytes of a million rows, and the seconds to fit."""

    seconds: Curve
    fit: Curve
    map_bytes: Curve
    feature_bytes: int  # of one number of Φ

    def bytes_of(self, D: int) -> int:
        """The feature map, and Φ of a million rows."""
        return round(self.map_bytes(D)) + MILLION * D * self.feature_bytes

    @property
    def total(self) -> Curve:
        """Seconds to fit, and then to compute a million rows."""
        return Curve(self.fit.D, tuple(a + b for a, b in zip(self.fit.y, self.seconds.y, strict=True)))

    def within_bytes(self, size: int) -> int:
        both = (y + MILLION * D * self.feature_bytes for D, y in zip(self.map_bytes.D, self.map_bytes.y, strict=True))
        return Curve(self.map_bytes.D, tuple(both)).within(size)


def measured(candidates: Sequence[Candidate], engine: Engine) -> dict[str, Cost]:
    """The costs of all candidates that can be fitted to the rows, by name."""
    evidence = candidates[0].evidence
    h = padded(evidence.d)
    maps: dict[str, list[FeatureMap]] = {}
    for one in candidates:
        with suppress(InputError):  # such as a series that is too long for these rows
            maps[one.name] = drawn(one, (max(h // 4, 2), h, max(4 * h, FAR)))
    seconds = timed(maps, evidence, engine)
    return {one.name: cost_of(one, maps[one.name], seconds[one.name]) for one in candidates if one.name in maps}


def drawn(one: Candidate, wanted: Sequence[int]) -> list[FeatureMap]:
    """Maps of so many features, or of the nearest possible numbers; beyond two only while fitting is short."""
    maps: list[FeatureMap] = []
    for D in sorted({one.count(D) for D in wanted}):
        if len(maps) >= 2 and one.fit_seconds[maps[-1].D] > LONG:
            break
        maps.append(one.draw(D, 0))
    return maps


def timed(maps: Mapping[str, Sequence[FeatureMap]], evidence: Evidence, engine: Engine) -> dict[str, Array]:
    """The seconds of each feature map for a million rows, by name."""
    n = int(np.clip(TIMED_NUMBERS // evidence.d, *TIMED_ROWS))
    X = np.resize(evidence.fitting_rows, (n, evidence.d))
    shortest = {name: np.full(len(several), np.inf) for name, several in maps.items()}
    spent = {name: np.zeros(len(several)) for name, several in maps.items()}
    with engine.running(), bar(TURNS * len(maps), "timing") as shown:
        for _ in range(TURNS):
            for name, several in maps.items():
                for k, features in enumerate(several):
                    if spent[name][k] < ENOUGH:
                        turn = seconds_of_turn(features, X, engine)
                        spent[name][k] += turn
                        shortest[name][k] = min(shortest[name][k], turn)
                shown.update()
    return {name: found / engine.workers * MILLION / n for name, found in shortest.items()}


def seconds_of_turn(features: FeatureMap, X: Array, engine: Engine) -> float:
    """The processor's seconds for Φ(X), written to pages that are there already, as those of a run are."""
    shape = (features.D, len(X)) if features.order == "F" else (len(X), features.D)
    Phi = scratch("timed", shape, features.dtype)
    start = process_time()
    engine.transform(features, X, Phi.T if features.order == "F" else Phi)
    return process_time() - start


def cost_of(one: Candidate, maps: Sequence[FeatureMap], seconds: Array) -> Cost:
    """The curves through the feature maps of a candidate."""
    D = [features.D for features in maps]
    fits = np.array([one.fit_seconds.get(count, 0.0) for count in D])
    sizes = np.array([sum(arrays_of(features).values()) for features in maps])
    seconds_curve, fit, map_bytes = (Curve.through(D, values) for values in (seconds, fits, sizes))
    return Cost(seconds_curve, fit, map_bytes, maps[0].dtype.itemsize)
