"""Points that stand for many rows: some of the rows, or centroids of all of them."""

import numpy as np

from rfbench.arrays import Array, squared_norms
from rfbench.blocks import spans
from rfbench.progress import bar

ROWS = 2048  # compared with all centroids at once
ROUNDS = 10  # of Lloyd's algorithm


def uniform(_: object, X: Array, m: int, rng: np.random.Generator) -> Array:
    """m rows, whatever the kernel is."""
    return X[rng.permutation(len(X))[:m]]


def k_means(_: object, X: Array, m: int, rng: np.random.Generator) -> Array:
    """Lloyd's algorithm from random rows; a centroid without rows stays."""
    Z = uniform(None, X, m, rng)
    with bar(ROUNDS, "k-means", "round") as shown:
        for _ in range(ROUNDS):
            sums, counts, half = np.zeros(Z.shape), np.zeros(len(Z)), (squared_norms(Z) / 2).astype(X.dtype)
            for span in spans(len(X), ROWS):
                nearest = (X[span] @ Z.T - half).argmax(1)
                order = np.argsort(nearest, kind="stable")
                found, first = np.unique(nearest[order], return_index=True)
                sums[found] += np.add.reduceat(X[span][order], first, axis=0)
                counts[found] += np.diff(np.append(first, len(order)))
            Z = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], Z).astype(X.dtype)
            shown.update()
    return Z
