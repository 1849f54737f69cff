"""Posteriors where there are more features than rows, or none: equation (2) of posterior.py."""

import numpy as np

from rfbench.arrays import Array, diagonal
from rfbench.engines import Engine
from rfbench.linalg.gram import cross_matrix, kernel_matrix
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.sketches import FeatureMap
from rfbench.tasks.gp.posterior import Evidence, Factored, Groups, Model, Posterior, solve_all


class DualEvidence(Evidence):
    """All rows, and K̂ of them."""

    def __init__(self, features: FeatureMap, groups: Groups, n: int, engine: Engine, watch: Stopwatch) -> None:
        found = [(X, y, g) for g, blocks in enumerate(groups) for X, y in blocks()]
        self.features, self.X = features, np.concatenate([X for X, *_ in found])
        self.y = np.concatenate([y for _, y, _ in found]).astype(np.float64)
        self.group = np.repeat([g for *_, g in found], [len(X) for X, *_ in found])
        with watch("gram"):
            self.K = kernel_matrix(features, self.X, engine)

    def posterior(self, model: Model, engine: Engine, watch: Stopwatch) -> "Dual":
        B, noise = np.empty_like(self.K), 1 / (model.signal * model.W[:, self.group])

        def fill(c: int) -> Array:
            np.copyto(B, self.K)
            diagonal(B)[...] += noise[c]
            return B

        labels = (model.T[:, self.group] * self.y).astype(self.K.dtype)
        return Dual(self.features, self.X, model.signal, solve_all(fill, labels, self.K.dtype, engine, watch))


class Dual(Posterior):
    """Equation (2)."""

    def __init__(self, features: FeatureMap, X: Array, signal: float, factored: Factored) -> None:
        self.features, self.X, self.signal, self.factored = features, X, signal, factored
        self.jitter = factored.jitter

    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        K, diagonal = cross_matrix(self.features, X, self.X, engine)
        mean, removed = self.factored(K, engine)
        return mean, self.signal * np.maximum(diagonal[:, None] - removed, 0)  # below zero only by rounding
