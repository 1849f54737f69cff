"""Sufficient statistics of training rows: enough for the posterior of any model, from one pass over the rows."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array, diagonal
from rfbench.checks import InputError
from rfbench.engines import Engine, Rows
from rfbench.linalg.gram import Drawn, GramSums, gram_sums, kernel_matrix, wide
from rfbench.linalg.spill import MEMORY, Triangles
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import MOST_ROWS, TILE, tiles
from rfbench.sketches import FeatureMap
from rfbench.tasks.gp.posterior import (
    ExpertPosterior,
    FeaturePosterior,
    KernelPosterior,
    Model,
    Posterior,
    solve_systems,
)
from rfbench.tasks.gp.recentred import RecentredPosterior
from rfbench.tasks.rows import gathered

Groups = Sequence[Rows]


class Statistics(ABC):
    """What is kept of the training rows, and the seconds that it took."""

    watch: Stopwatch

    @abstractmethod
    def posterior(self, model: Model, engine: Engine) -> Posterior: ...


def collect(draw: Drawn, groups: Groups, engine: Engine) -> Statistics:
    """One pass over the rows; one for each expert of a localized sketch, or for each new row."""
    features, n = draw.features, sum(map(len, groups))
    if features.recentred:
        return RecentredStatistics(features, groups)
    if features.experts:
        experts = [collect(Expert(draw, c), groups, engine) for c in range(len(features.experts))]
        return ExpertStatistics(features, experts)
    by_rows = not features.explicit or n < features.D
    if (size := n if by_rows else features.D) > MOST_ROWS:
        raise InputError(
            f"a Gaussian process with {features.D:,} features of {n:,} rows needs a {size:,} × {size:,} matrix; "
            f"the limit is {MOST_ROWS:,}. Use fewer features or another sketch"
        )
    return DualStatistics(features, groups, engine) if by_rows else PrimalStatistics(draw, groups, engine)


class PrimalStatistics(Statistics):
    """G, the upper triangles of G_g and Φ_gᴴ y_g: for no more features than rows."""

    def __init__(
        self, draw: Drawn, groups: Groups, engine: Engine, *, size: int | None = None, memory: int = MEMORY
    ) -> None:
        self.features, self.watch, D = draw.features, Stopwatch(), draw.features.D
        self.G = np.zeros(0)
        self.parts = Triangles(len(groups) if len(groups) > 1 else 0, D, self.features.dtype, memory)
        self.r = np.zeros((len(groups), D), wide(self.features))
        for g, rows in enumerate(groups):
            what = "training rows" if len(groups) == 1 else f"class {g + 1} of {len(groups)}"
            self._add(g, gram_sums(draw, rows, engine, size, what), engine)

    def _add(self, g: int, sums: GramSums, engine: Engine) -> None:
        self.watch.add(sums.watch)
        self.r[g] = sums.R
        with self.watch("keep"):
            if len(self.r) > 1:  # of one group G is all
                self.parts.put(g, sums.G, engine)
            if g == 0:
                self.G = sums.G
                return

            def add(ij: tuple[slice, slice]) -> None:
                self.G[ij] += sums.G[ij]

            engine.run(add, tiles(len(self.G)))

    def posterior(self, model: Model, engine: Engine) -> FeaturePosterior:
        W, A = model.W, np.empty_like(self.G)

        def fill(c: int) -> Array:
            """A_c from the precision of most groups, and the difference of each other group: equation (3)."""
            values, counts = np.unique(W[c], return_counts=True)
            w0 = values[counts.argmax()]

            def scale(ij: tuple[slice, slice]) -> None:
                A[ij] = self.G[ij] * w0

            engine.run(scale, tiles(len(A)))
            for g in np.flatnonzero(W[c] != w0).tolist():
                panels = self.parts.get(g)

                def add(ij: tuple[slice, slice], w: float = W[c, g] - w0) -> None:
                    A[ij] += panels[ij[1].start // TILE][1][ij[0]] * w  # noqa: B023  (run before the next group)

                engine.run(add, tiles(len(A)))
            diagonal(A)[...] += 1 / model.signal
            return A

        systems = solve_systems(fill, W * model.T @ self.r, self.features.dtype, engine, self.watch)
        return FeaturePosterior(self.features, systems)


class DualStatistics(Statistics):
    """All rows and K̂ of them: for more features than rows, or none."""

    def __init__(self, features: FeatureMap, groups: Groups, engine: Engine) -> None:
        self.features, self.watch = features, Stopwatch()
        self.X, y = gathered(*groups)
        self.y, self.group = y.astype(np.float64), np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])
        with self.watch("gram"):
            self.K = kernel_matrix(features, self.X, engine)

    def posterior(self, model: Model, engine: Engine) -> KernelPosterior:
        B, noise = np.empty_like(self.K), 1 / (model.signal * model.W[:, self.group])

        def fill(c: int) -> Array:
            np.copyto(B, self.K)
            diagonal(B)[...] += noise[c]
            return B

        labels = (model.T[:, self.group] * self.y).astype(self.K.dtype)
        systems = solve_systems(fill, labels, self.K.dtype, engine, self.watch)
        return KernelPosterior(self.features, self.X, model.signal, systems)


@dataclass(frozen=True)
class Expert:
    """One expert of the draw of a localized sketch."""

    draw: Drawn
    number: int

    @property
    def features(self) -> FeatureMap:
        return self.draw.features.experts[self.number]


class ExpertStatistics(Statistics):
    """The statistics of every expert of a localized sketch."""

    def __init__(self, features: FeatureMap, experts: list[Statistics]) -> None:
        self.features, self.experts, self.watch = features, experts, Stopwatch()

    def posterior(self, model: Model, engine: Engine) -> ExpertPosterior:
        posteriors = [expert.posterior(model, engine) for expert in self.experts]
        self.watch = Stopwatch()
        for expert in self.experts:
            self.watch.add(expert.watch)
        return ExpertPosterior(self.features.nearest, posteriors)


class RecentredStatistics(Statistics):
    """The rows themselves, for a sketch that is recentred at each new row."""

    def __init__(self, features: FeatureMap, groups: Groups) -> None:
        self.features, self.groups, self.watch = features, groups, Stopwatch()

    def posterior(self, model: Model, engine: Engine) -> RecentredPosterior:
        return RecentredPosterior(self.features, list(self.groups), model)
