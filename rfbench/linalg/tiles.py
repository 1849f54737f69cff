"""Symmetric matrices by tiles of their upper triangle: what is computed of them, and in what order."""

from collections.abc import Iterator

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.sketches import FeatureMap

TILE = 512  # rows of a tile
MOST_ROWS = 20_000  # the matrix of that many rows takes 3.2 GB


def products(features: FeatureMap, Phi: Array, engine: Engine) -> Iterator[tuple[slice, slice, Array]]:
    """Tiles of K̂, upper triangle."""
    return engine.map(lambda ij: (*ij, features.product(Phi[ij[0]], Phi[ij[1]])), tiles(len(Phi)))


def tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """Row and column ranges that cover the upper triangle of an n × n matrix."""
    for columns in spans(n, TILE):
        for rows in spans(columns.stop, TILE):
            yield rows, columns
