"""Symmetric matrices by tiles of their upper triangle, and how large a matrix may be."""

from collections.abc import Iterator

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.sketches import FeatureMap

TILE = 512  # rows of a tile
MOST_ROWS = 20_000  # of a matrix in memory: 3.2 GB
MOST_FACTORED = 12_000  # features that solver=auto gives to a Cholesky factorisation
MOST_DIAGONALISED = 4000  # rows of a matrix that is diagonalised once for each fold
MOST_GRAM_ROWS = 10_000  # of the exact Gram matrix of task=vector_field, solved on one thread
MOST_FOLD_ENTRIES = 3e8  # of ΦᵀΦ of all folds and their sum: 2.4 GB


def tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """Row and column ranges that cover the upper triangle of an n × n matrix, column by column of tiles."""
    for columns in spans(n, TILE):
        for rows in spans(columns.stop, TILE):
            yield rows, columns


def products(features: FeatureMap, Phi: Array, engine: Engine) -> Iterator[tuple[slice, slice, Array]]:
    """Tiles of K̂, upper triangle."""
    return engine.map(lambda ij: (*ij, features.product(Phi[ij[0]], Phi[ij[1]])), tiles(len(Phi)))


def mirror(A: Array) -> Array:
    """Fill the lower triangle of a real symmetric matrix from the upper one."""
    np.copyto(A, A.T, where=np.tri(len(A), k=-1, dtype=bool))
    return A
