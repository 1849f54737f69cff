"""Processes that are fitted for each new row, with features around it [Wacker 2022, 5.5.1].

With Φ the features of rows minus a new row x, they are equation (1) of posterior.py; one pass over the training rows
serves as many new rows as have their Gram matrices in memory.
"""

from functools import partial
from typing import Self

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine, Rows, State
from rfbench.linalg.gram import GRAM_ROWS, wide
from rfbench.sketches import FeatureMap
from rfbench.tasks.gp.posterior import Model, Posterior

BYTES = 1 << 26  # of the Gram matrices of new rows


class RecentredSums:
    """ΦᴴΦ and Φᴴy around each centre."""

    def __init__(self, features: FeatureMap, centres: Array) -> None:
        self.maps = [features.around(centre) for centre in centres]
        size, dtype = (len(centres), self.maps[0].D), wide(features)
        self.G, self.r = np.zeros((*size, size[1]), dtype), np.zeros(size, dtype)

    def add(self, X: Array, y: Array, engine: Engine) -> None:
        def around(i: int) -> None:
            Phi = self.maps[i](X).astype(self.G.dtype)
            self.G[i] += Phi.conj().T @ Phi
            self.r[i] += Phi.conj().T @ y

        engine.run(around, range(len(self.maps)))

    def merge(self, other: Self) -> None:
        self.G += other.G
        self.r += other.r

    def state(self) -> State:
        return {"G": self.G, "r": self.r}

    def load(self, state: State) -> None:
        self.G, self.r = np.array(state["G"]), np.array(state["r"])


class RecentredPosterior(Posterior):
    jitter = 0.0  # I/σ² keeps each matrix regular

    def __init__(self, features: FeatureMap, groups: list[Rows], model: Model) -> None:
        self.features, self.groups, self.model = features, groups, model

    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        mean, variance = np.empty((2, len(X), len(self.model.W)))
        D = self.features.around(X[0]).D
        for span in spans(len(X), max(BYTES // (16 * len(self.groups) * D**2), 1)):
            start = partial(RecentredSums, self.features, X[span])
            sums = [engine.accumulate(start, rows, GRAM_ROWS, "training rows") for rows in self.groups]
            v = np.stack([features(x[None])[0] for features, x in zip(sums[0].maps, X[span], strict=True)])
            for c, (W, T) in enumerate(zip(self.model.W, self.model.T, strict=True)):
                A = sum(w * group.G for w, group in zip(W, sums, strict=True)) + np.eye(D) / self.model.signal
                b = sum(w * t * group.r for w, t, group in zip(W, T, sums, strict=True))
                solved = np.linalg.solve(A, np.stack((b, v.conj()), -1))
                mean[span, c], variance[span, c] = np.einsum("nf,nfk->kn", v, solved).real
        return mean, variance
