"""Distances of several sets from one reference by sketch, with their errors, in one pass over each set.

Two sources of error are kept apart: the rows are a sample of two distributions, and the sketch is a draw.  The draws
are the same for all sets, so that a difference of two distances has a smaller error than the sum of theirs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.datasets.prepare import Prepared, Split
from rfbench.datasets.splits import Part
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.memory import arrays_of
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, Tangent
from rfbench.sketches.draw import Draw
from rfbench.tasks.base import Trial
from rfbench.tasks.kid.embedding import Embedder, Embedding, squared_mmd
from rfbench.tasks.kid.error import SamplingError

MAPS_BYTES = 1 << 29  # for draws in memory at once; more draws take another pass over the rows
BLOCKS = 32  # of rows read at once, for all workers together
ERROR_ROWS = 1000  # of each set, from which the sampling error is estimated


class Error(NamedTuple):
    """A value, and the standard deviations that the choice of the rows and that of the sketch give it."""

    value: float
    sampling: float
    sketch: float

    @property
    def total(self) -> float:
        return float(np.hypot(self.sampling, self.sketch))


@dataclass(eq=False)
class Distances:
    """The estimates by every draw, (sets, draws), and the seconds that they took."""

    sampling: SamplingError
    values: Array = field(default_factory=lambda: np.empty(0))
    f_x: list[Array] = field(default_factory=list)  # of each set, (draws, rows)
    f_y: list[Array] = field(default_factory=list)
    watch: Stopwatch = field(default_factory=Stopwatch)

    def of(self, *sets: int) -> Error:
        """The distance of one set, or how much larger that of the first of two is than that of the second."""
        weights = np.zeros(len(self.values))
        weights[list(sets)] = (1, -1)[: len(sets)]
        by_draw = weights @ self.values
        sketch = float(np.var(by_draw, ddof=1)) / len(by_draw)
        return Error(float(by_draw.mean()), self.sampling.variance(weights, self.f_x, self.f_y) ** 0.5, sketch**0.5)

    def differences(self) -> Iterator[tuple[int, int, Error]]:
        return ((i, j, self.of(i, j)) for i, j in combinations(range(len(self.values)), 2))


def sets_of(split: Split) -> dict[str, Prepared]:
    """The sets that are compared with the training rows: the test rows, or those of each of several files."""
    dataset = split.test.part.dataset
    if len(dataset.files) <= 2:
        return {"": split.test}
    ends = np.cumsum([count for _, count in dataset.files])
    files = [file for file, _ in dataset.files[1:]]
    names = [file.removesuffix(Path(file).suffix) for file in files]
    if len(set(names)) < len(files):  # fake.npy and fake.npz
        names = files
    parts = (Part(dataset, np.arange(a, b), False) for a, b in pairwise(ends))
    return {name: replace(split.test, part=part) for name, part in zip(names, parts, strict=True)}


def distances(
    trial: Trial, exactly: Tangent | None, plan: Callable[[int], Draw], first: FeatureMap, draws: int
) -> Distances:
    """The distances of all sets from the reference; `first` is the first draw of the sketch."""
    reference, sets = trial.split.train, list(sets_of(trial.split).values())
    X, *Y = (part.sample(ERROR_ROWS, rng_for(trial.seed, "kid", "error"))[0] for part in (reference, *sets))
    found = Distances(SamplingError(trial.kernel, X, Y, len(reference), list(map(len, sets))))
    parts: list[tuple[Array, list[Array], list[Array]]] = []
    for embedder, x, ys in _passes(trial, [reference, *sets], exactly, plan, first, draws, found.watch):
        values = np.array([squared_mmd(x, y) for y in ys])
        f_x = [embedder.witness(X, x, y) for y in ys]
        parts.append((values, f_x, [embedder.witness(rows, x, y) for rows, y in zip(Y, ys, strict=True)]))
    by_pass, *witnesses = zip(*parts, strict=True)
    found.values = np.concatenate(by_pass, axis=1)
    found.f_x, found.f_y = ([np.concatenate(one) for one in zip(*passes, strict=True)] for passes in witnesses)
    return found


def _passes(
    trial: Trial,
    parts: Sequence[Prepared],
    exactly: Tangent | None,
    plan: Callable[[int], Draw],
    first: FeatureMap,
    draws: int,
    watch: Stopwatch,
) -> Iterator[tuple[Embedder, Embedding, list[Embedding]]]:
    """Embeddings of the reference and of the other sets, each time for as many draws as may be in memory."""
    engine, at_once = trial.engine, max(MAPS_BYTES // max(sum(arrays_of(first).values()), 1), 1)
    for span in spans(draws, at_once):
        with watch("all"):
            embedder = Embedder([plan(k) for k in range(span.start, span.stop)], exactly, None if span.start else first)
            x, *ys = (engine.accumulate(embedder, part, BLOCKS * engine.block_rows).finish() for part in parts)
        watch["features"] += sum(one.seconds for one in (x, *ys)) / engine.workers
        yield embedder, x, ys
