"""Gram matrices of features: ΦᴴΦ of all features from one pass over the rows, ΦΦᴴ of all rows.

The product of one block is in the precision of the features, the sum over blocks in double.  Few features are
multiplied in double too: that costs little, and in single precision the matrix has negative eigenvalues that a small
noise does not hide.  Only tiles of the upper triangle are computed, each by BLAS on one thread; blocks have fixed sizes
and are added in order.  So neither the workers nor the blocks in which rows are read change a bit of ΦᴴΦ.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine, Rows, State
from rfbench.linalg.spill import panels
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import TILE, products, tiles
from rfbench.sketches import FeatureMap

GRAM_ROWS = 2048  # of a block: enough to hide the sums in double, few enough for sums of singles
GRAM_ENTRIES = 1 << 24  # of Φ of a block
PAIR_ENTRIES = 1 << 27  # of Φ of a block of rows that is paired with all others


class Drawn(Protocol):
    """A feature map described by its draw: it can be pickled, and draws the same map in every process."""

    @property
    def features(self) -> FeatureMap: ...


def wide(features: FeatureMap) -> np.dtype[Any]:
    """The double precision type of the features."""
    return np.result_type(features.dtype, np.float64)


def double_products(features: FeatureMap) -> bool:
    """Whether the products of GramSums are in double precision."""
    return features.D <= TILE or features.dtype == wide(features)


def block_rows(D: int, folds: int = 1) -> int:
    """Rows of a block, a multiple of the number of folds."""
    return folds * min(GRAM_ROWS, max(GRAM_ENTRIES // (folds * D), 1))


class GramSums:
    """n, the upper triangle of ΦᴴΦ, Φᴴy and Σ|y|² of some rows; y has one column or several."""

    def __init__(self, draw: Drawn) -> None:
        self.draw, self.watch, self.n, self.squares = draw, Stopwatch(), 0, 0.0
        D, dtype = draw.features.D, wide(draw.features)
        self.G, self.R = np.zeros((D, D), dtype), np.zeros(D, dtype)
        self.buffer = draw.features.empty(0)

    def add(self, X: Array, y: Array, engine: Engine) -> None:
        Phi = self.transformed(X, engine)
        with self.watch("gram"):
            double = double_products(self.draw.features)
            add_products([(self, Phi.astype(self.G.dtype, copy=False) if double else Phi, y)], engine)

    def transformed(self, X: Array, engine: Engine) -> Array:
        """Φ(X), until the next block."""
        if len(self.buffer) < len(X):
            self.buffer = self.draw.features.empty(len(X))
        with self.watch("features"):
            return engine.transform(self.draw.features, X, self.buffer[: len(X)])

    def merge(self, other: Self) -> None:
        if other.n:
            self.G += other.G
            self.R = self.R + other.R if self.n else other.R
        self.n, self.squares = self.n + other.n, self.squares + other.squares
        self.watch.add(other.watch)

    def state(self) -> State:
        seconds = {f"seconds {name}": value for name, value in self.watch.items()}
        triangle = {f"G {k}": panel for k, (_, panel) in enumerate(panels(self.G))}  # a copy would be as large as G
        return {"n": self.n, "squares": self.squares, "R": self.R} | triangle | seconds

    def load(self, state: State) -> None:
        self.n, self.squares, self.R = int(state["n"]), float(state["squares"]), np.array(state["R"])
        for k, (_, panel) in enumerate(panels(self.G)):
            panel[...] = state[f"G {k}"]
        names = [name for name in state if name.startswith("seconds ")]
        self.watch = Stopwatch({name.removeprefix("seconds "): float(state[name]) for name in names})


class FoldedGramSums:
    """The sums of each fold, all products in double; row i belongs to fold i modulo the number of folds.

    That holds as long as every block but the last has a multiple of that many rows.
    """

    def __init__(self, draw: Drawn, folds: int) -> None:
        self.folds = [GramSums(draw) for _ in range(folds)]

    def add(self, X: Array, y: Array, engine: Engine) -> None:
        m, first = len(self.folds), self.folds[0]
        Phi = first.transformed(X, engine).astype(first.G.dtype, copy=False)
        with first.watch("gram"):
            add_products([(sums, Phi[k::m], y[k::m]) for k, sums in enumerate(self.folds)], engine)

    def merge(self, other: Self) -> None:
        for ours, theirs in zip(self.folds, other.folds, strict=True):
            ours.merge(theirs)

    def state(self) -> State:
        folds = enumerate(self.folds)
        return {f"{name} of fold {k}": value for k, fold in folds for name, value in fold.state().items()}

    def load(self, state: State) -> None:
        for k, fold in enumerate(self.folds):
            ending = f" of fold {k}"
            fold.load({key.removesuffix(ending): value for key, value in state.items() if key.endswith(ending)})


def add_products(parts: Sequence[tuple[GramSums, Array, Array]], engine: Engine) -> None:
    """Add rows, given by their features and targets, to each of the sums."""
    for sums, Phi, y in parts:
        if sums.R.ndim != y.ndim:  # before the first row the number of columns is not known
            sums.R = np.zeros((Phi.shape[1], *y.shape[1:]), sums.R.dtype)
        sums.n += len(y)
        sums.squares += float(np.vdot(y, y).real)

    def add(item: tuple[tuple[GramSums, Array, Array], tuple[slice, slice]]) -> None:
        (sums, Phi, y), (i, j) = item
        left = Phi[:, i].conj().T
        sums.G[i, j] += left @ Phi[:, j]
        if i == j:
            sums.R[i] += left @ y

    engine.run(add, ((part, ij) for part in parts for ij in tiles(part[1].shape[1])))


def gram_sums(draw: Drawn, rows: Rows, engine: Engine, size: int | None = None, what: str = "rows") -> GramSums:
    """One pass over the rows, in blocks of `size`."""
    return engine.accumulate(partial(GramSums, draw), rows, size or block_rows(draw.features.D), what)


def kernel_matrix(features: FeatureMap, X: Array, engine: Engine, size: int | None = None) -> Array:
    """K̂ of all pairs of rows, its upper triangle; features of more than `size` rows are computed several times."""
    K = np.zeros((len(X), len(X)), wide(features))
    for part in features.parts():
        blocks = list(spans(len(X), size or max(PAIR_ENTRIES // part.D, TILE)))
        for number, rows in enumerate(blocks):
            Phi = doubles(part, X[rows], engine)
            for i, j, tile in products(part, Phi, engine):
                K[rows, rows][i, j] += tile
            for others in blocks[number + 1 :]:
                add_pairs(K[rows, others], part, Phi, doubles(part, X[others], engine), engine)
    return K


def kernel_matrix_bytes(n: int, D: int, wide: int) -> int:
    """Bytes that kernel_matrix takes: the matrix and features of one block of rows, or of two."""
    rows = max(PAIR_ENTRIES // max(D, 1), TILE)
    return wide * (n * n + min(n, 2 * rows) * D)


def cross_matrix(features: FeatureMap, X: Array, Y: Array, engine: Engine) -> tuple[Array, Array]:
    """k̂ of all rows of X with all rows of Y, and of each row of X with itself."""
    K, diagonal = np.zeros((len(X), len(Y)), wide(features)), np.zeros(len(X))
    for part in features.parts():
        Phi, Psi = doubles(part, X, engine), doubles(part, Y, engine)
        diagonal += part.paired(Phi, Phi)[:, 0].real
        add_pairs(K, part, Phi, Psi, engine)
    return K, diagonal


def add_pairs(K: Array, features: FeatureMap, Phi: Array, Psi: Array, engine: Engine) -> None:
    """Add k̂ of all pairs, from their features, to K."""

    def add(span: slice) -> None:
        K[span] += features.product(Phi[span], Psi)

    engine.run(add, spans(len(Phi), TILE))


def doubles(features: FeatureMap, X: Array, engine: Engine) -> Array:
    """Φ(X) in double precision."""
    return engine.transform(features, X, features.empty(len(X))).astype(wide(features), copy=False)
