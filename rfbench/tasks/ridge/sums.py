"""What ridge regression needs of the rows, in one pass and in memory that does not grow with them.

Rows go to folds in turn.  ‖Y − ΦW‖² = Σ‖y‖² − 2⟨ΦᵀY, W⟩ + ⟨W, ΦᵀΦW⟩, so the error on a fold that was left out needs no
second pass either.
"""

from collections.abc import Iterable

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.linalg.tiles import tiles
from rfbench.progress import bar
from rfbench.sketches import FeatureMap

NUMBERS = 1 << 23  # of Φ held at once in double precision


class Sums:
    """ΦᵀΦ, ΦᵀY and Σ‖y‖² of the rows of one fold."""

    def __init__(self, D: int, p: int) -> None:
        self.n, self.squares = 0, 0.0
        self.G, self.C = np.zeros((D, D)), np.zeros((D, p))

    def loss(self, W: Array) -> float:
        """‖Y − ΦW‖²."""
        return self.squares - 2 * float(np.vdot(self.C, W)) + float(np.vdot(W, self.G @ W))


def sums(
    features: FeatureMap, blocks: Iterable[tuple[Array, Array]], shape: tuple[int, int], folds: int, engine: Engine
) -> list[Sums]:
    """One pass over (X, Y); the shape is that of all targets, n × p."""
    n, p = shape
    found = [Sums(features.D, p) for _ in range(folds)]
    size = max(NUMBERS // features.D, folds)
    held = features.empty(size)
    doubled = held if held.dtype == np.float64 else np.empty_like(held, np.float64)
    with bar(n, "training rows", " rows") as shown:
        for X, Y in blocks:
            for span in spans(len(X), size):
                count = len(X[span])
                Phi = doubled[:count]
                np.copyto(Phi, engine.transform(features, X[span], held[:count]))
                _add(found, Phi, Y[span], engine)
                shown.update(count)
    for one in found:
        np.copyto(one.G, one.G.T, where=np.tri(features.D, k=-1, dtype=bool))
    return found


def _add(found: list[Sums], Phi: Array, Y: Array, engine: Engine) -> None:
    folds = len(found)

    def add(item: tuple[int, tuple[slice, slice]]) -> None:
        fold, (i, j) = item
        rows = Phi[fold::folds]
        found[fold].G[i, j] += rows[:, i].T @ rows[:, j]

    for _ in engine.map(add, ((fold, ij) for fold in range(folds) for ij in tiles(Phi.shape[1]))):
        pass
    for fold, one in enumerate(found):
        y = Y[fold::folds]
        one.n += len(y)
        one.C += Phi[fold::folds].T @ y
        one.squares += float(np.vdot(y, y))
