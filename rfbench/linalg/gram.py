"""Gram matrices of features, from rows that are seen once: ΦᴴΦ of all features, ΦΦᴴ of all rows.

A product of one block is in the precision of the features, the sum over blocks in double; so is a product of few
features, which costs little and, in single precision, has negative eigenvalues that little noise does not hide.  Only
tiles of the upper triangle are computed, each call of BLAS with one thread; blocks have fixed sizes and are summed in
order.  So neither workers nor the blocks in which rows are read change a bit of ΦᴴΦ.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import regrouped, spans
from rfbench.engines import Engine
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import TILE, products, tiles
from rfbench.sketches import FeatureMap

Blocks = Iterable[tuple[Array, Array]]  # (X, y)
NUMBERS = 1 << 24  # of Φ held at once
PAIRED = 1 << 27  # of Φ held at once of rows that are paired with others
ROWS = 2048  # of a block: enough to hide the sums in double, few enough for sums of singles


def wide(features: FeatureMap) -> np.dtype[Any]:
    """The double precision type of the features."""
    return np.result_type(features.dtype, np.float64)


def gram(features: FeatureMap, blocks: Blocks, engine: Engine, watch: Stopwatch) -> tuple[Array, Array]:
    """ΦᴴΦ, its upper triangle, and Φᴴy."""
    G = np.zeros((features.D, features.D), wide(features))
    return G, add_gram(G, features, blocks, engine, watch)


def add_gram(G: Array, features: FeatureMap, blocks: Blocks, engine: Engine, watch: Stopwatch) -> Array:
    """Add ΦᴴΦ to the upper triangle of a matrix; Φᴴy, of labels in one column or several."""
    r: Any = np.zeros(features.D, wide(features))
    for Phi, y in filled(features, blocks, engine, watch):
        r = r if r.ndim == y.ndim else np.zeros((features.D, y.shape[1]), r.dtype)
        Phi = Phi if features.D > TILE else Phi.astype(G.dtype, copy=False)

        def add(ij: tuple[slice, slice], Phi: Array = Phi, y: Array = y, r: Array = r) -> None:
            left = Phi[:, ij[0]].conj().T
            G[ij] += left @ Phi[:, ij[1]]
            if ij[0] == ij[1]:
                r[ij[0]] += left @ y

        with watch("gram"):
            engine.run(add, tiles(features.D))
    return r


def filled(features: FeatureMap, blocks: Blocks, engine: Engine, watch: Stopwatch) -> Iterator[tuple[Array, Array]]:
    """(Φ, y) of the same rows in blocks of one size, the last shorter, in a buffer that is used again."""
    size = min(ROWS, max(NUMBERS // features.D, 1))
    held = features.empty(size)
    for X, y in regrouped(blocks, size):
        with watch("features"):
            Phi = engine.transform(features, X, held[: len(X)])
        yield Phi, y


def kernel_matrix(features: FeatureMap, X: Array, engine: Engine) -> Array:
    """K̂ of all pairs of rows, its upper triangle; features that are too many to be held are computed again."""
    K = np.zeros((len(X), len(X)), wide(features))
    for part in features.parts():
        blocks = list(spans(len(X), max(PAIRED // part.D, TILE)))
        for number, rows in enumerate(blocks):
            Phi = doubles(part, X[rows], engine)
            for i, j, tile in products(part, Phi, engine):
                K[rows, rows][i, j] += tile
            for others in blocks[number + 1 :]:
                Psi = doubles(part, X[others], engine)
                add_products(K[rows, others], part, Phi, Psi, engine)
    return K


def add_products(K: Array, features: FeatureMap, Phi: Array, Psi: Array, engine: Engine) -> None:
    """Add k̂ of all pairs, from their features, to K."""

    def add(span: slice) -> None:
        K[span] += features.product(Phi[span], Psi)

    engine.run(add, spans(len(Phi), TILE))


def cross_matrix(features: FeatureMap, X: Array, Y: Array, engine: Engine) -> tuple[Array, Array]:
    """k̂ of all rows of X with all of Y, and of those of X with themselves."""
    K, diagonal = np.zeros((len(X), len(Y)), wide(features)), np.zeros(len(X))
    for part in features.parts():
        Phi, Psi = doubles(part, X, engine), doubles(part, Y, engine)
        diagonal += part.paired(Phi, Phi)[:, 0].real
        add_products(K, part, Phi, Psi, engine)
    return K, diagonal


def doubles(features: FeatureMap, X: Array, engine: Engine) -> Array:
    """Φ(X) in double precision."""
    return engine.transform(features, X, features.empty(len(X))).astype(wide(features), copy=False)
