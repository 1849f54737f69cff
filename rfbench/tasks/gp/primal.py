"""Posteriors where there are no more features than rows: equations (1) and (3) of posterior.py."""

import numpy as np

from rfbench.arrays import Array, diagonal
from rfbench.engines import Engine
from rfbench.linalg.gram import add_gram, wide
from rfbench.linalg.shelf import Shelf
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import tiles
from rfbench.progress import bar, with_progress
from rfbench.sketches import FeatureMap
from rfbench.tasks.gp.posterior import Evidence, Factored, Groups, Model, Posterior, solve_all


class PrimalEvidence(Evidence):
    """G, G_g and Φ_gᴴ y_g."""

    def __init__(self, features: FeatureMap, groups: Groups, n: int, engine: Engine, watch: Stopwatch) -> None:
        self.features = features
        self.parts = Shelf(len(groups), features.D, features.dtype)
        self.r = np.zeros((len(groups), features.D), wide(features))
        self.G, part = (np.zeros((features.D, features.D), wide(features)) for _ in range(2))

        def move(ij: tuple[slice, slice]) -> None:
            self.G[ij] += part[ij]
            part[ij] = 0

        with bar(n, "training rows", " rows") as shown:
            for g, blocks in enumerate(groups):
                self.r[g] = add_gram(part, features, with_progress(blocks(), shown), engine, watch)
                with watch("keep"):
                    self.parts.put(g, part, engine)
                    engine.run(move, tiles(len(part)))

    def posterior(self, model: Model, engine: Engine, watch: Stopwatch) -> "Primal":
        W, A = model.W, np.empty_like(self.G)

        def fill(c: int) -> Array:
            """Equation (3).  With one group there is no other: w₀ = w₁."""
            part, w0 = self.parts.get(c), W[c, c - 1]

            def add(ij: tuple[slice, slice]) -> None:
                A[ij] = self.G[ij] * w0
                A[ij] += part[ij] * (W[c, c] - w0)

            engine.run(add, tiles(len(A)))
            diagonal(A)[...] += 1 / model.signal
            return A

        return Primal(self.features, solve_all(fill, W * model.T @ self.r, self.features.dtype, engine, watch))


class Primal(Posterior):
    """Equation (1)."""

    def __init__(self, features: FeatureMap, factored: Factored) -> None:
        self.features, self.factored, self.jitter = features, factored, factored.jitter

    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        return self.factored(engine.transform(self.features, X, self.features.empty(len(X))), engine)
