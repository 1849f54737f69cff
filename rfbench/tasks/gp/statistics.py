"""Training rows → all that is kept of them, by the way that suits the features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.engines import Engine
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import MOST_ROWS
from rfbench.sketches import FeatureMap
from rfbench.tasks.gp.dual import DualEvidence
from rfbench.tasks.gp.posterior import Evidence, Groups, Model, Posterior
from rfbench.tasks.gp.primal import PrimalEvidence


def collect(features: FeatureMap, groups: Groups, n: int, engine: Engine, watch: Stopwatch) -> Evidence:
    """One pass over n rows; one for each cluster of a localized sketch."""
    if features.experts:
        return LocalEvidence(features, [collect(part, groups, n, engine, watch) for part in features.experts])
    by_rows = not features.explicit or n < features.D
    if (size := n if by_rows else features.D) > MOST_ROWS:
        raise InputError(
            f"a Gaussian process with {features.D} features of {n} rows needs a matrix of {size} rows, and {MOST_ROWS} "
            "are the most; use fewer features, or not sketch=exact"
        )
    return (DualEvidence if by_rows else PrimalEvidence)(features, groups, n, engine, watch)


@dataclass(frozen=True, eq=False)
class LocalEvidence(Evidence):
    """The evidence of every cluster of a localized sketch [Wacker 2022, Algorithm 7]."""

    features: FeatureMap
    parts: list[Evidence]

    def posterior(self, model: Model, engine: Engine, watch: Stopwatch) -> "LocalPosterior":
        return LocalPosterior(self.features, [part.posterior(model, engine, watch) for part in self.parts])


class LocalPosterior(Posterior):
    """A row is predicted by its cluster."""

    def __init__(self, features: FeatureMap, parts: list[Posterior]) -> None:
        self.features, self.parts, self.jitter = features, parts, max(part.jitter for part in parts)

    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        cluster = self.features.nearest(X)
        found: Any = None
        for c in np.unique(cluster):
            rows = cluster == c
            part = np.array(self.parts[c](X[rows], engine))
            found = np.empty((2, len(X), part.shape[2])) if found is None else found
            found[:, rows] = part
        return found[0], found[1]
