"""Mean embeddings of two sets in one pass over each, for several draws of a sketch at once.

With μ the mean of φ over the rows of a set and q that of ‖φ‖², the unbiased squared MMD is

    MMD² = ‖μ_x − μ_y‖² − (q_x − ‖μ_x‖²)/(n − 1) − (q_y − ‖μ_y‖²)/(m − 1)                                   (1)

[Sutherland & Schneider 2015, 3], which for E⟨φ(x), φ(y)⟩ = k(x, y) has the exact value of mmd.py as its mean.  A draw
is D + 1 numbers, summed in double precision; every draw sees a block of rows while it is in the cache.  The part of the
features that is known without a sketch (sketches/maclaurin/tangent.py) has an embedding of its own; φ and q are then
those of the rest, φ by sketch and q exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import scratch, spans
from rfbench.engines import Engine, State
from rfbench.sketches import FeatureMap, Tangent
from rfbench.sketches.draw import Draw


@dataclass(eq=False)
class Embedding:
    """Sums over n rows for every draw."""

    n: int
    features: Array  # Σφ, (draws, D)
    squares: Array  # Σ‖φ‖², (draws,)
    seconds: float = 0.0  # in the features alone, of all workers together
    known: "Embedding | None" = None

    def add(self, other: "Embedding") -> None:
        self.n += other.n
        self.features += other.features
        self.squares += other.squares
        self.seconds += other.seconds
        if self.known and other.known:
            self.known.add(other.known)

    def state(self) -> State:
        known = {f"known {name}": value for name, value in self.known.state().items()} if self.known else {}
        return {"n": self.n, "features": self.features, "squares": self.squares, "seconds": self.seconds} | known

    @classmethod
    def of(cls, state: State) -> "Embedding":
        known = {name.removeprefix("known "): value for name, value in state.items() if name.startswith("known ")}
        arrays = np.array(state["features"]), np.array(state["squares"])
        return cls(int(state["n"]), *arrays, float(state["seconds"]), cls.of(known) if known else None)


class Embedder:
    """Starts a pass over rows.  Pickled, it is the recipes and seeds of its feature maps, which are drawn again."""

    def __init__(self, draws: Sequence[Draw], tangent: Tangent | None, first: FeatureMap | None = None) -> None:
        self.draws, self.tangent = draws, tangent
        drawn = [first] if first else []
        maps = [*drawn, *(draw() for draw in draws[len(drawn) :])]
        self.maps = [tangent.map(features) for features in maps] if tangent else maps

    def __call__(self) -> "EmbeddingSums":
        return EmbeddingSums(self.maps, self.tangent)

    def witness(self, X: Array, x: Embedding, y: Embedding) -> Array:
        """⟨φ, μ_x − μ_y⟩ of the rows X by every draw, (draws, rows); its mean over draws is that of the kernel."""
        known: Any = 0.0
        if self.tangent:
            Z = self.tangent.rows(X)
            if x.known and y.known:
                known = self.tangent.values(Z.astype(np.float64), (x.known.features / x.n - y.known.features / y.n)[0])
            X = Z.astype(X.dtype)
        difference = x.features / x.n - y.features / y.n
        found = (features(X) @ mean.conj() for features, mean in zip(self.maps, difference, strict=True))
        return known + np.array([values.real for values in found])

    def __reduce__(self) -> tuple[Any, ...]:
        return Embedder, (self.draws, self.tangent)


class EmbeddingSums:
    """The sums of a pass."""

    def __init__(self, maps: Sequence[FeatureMap], tangent: Tangent | None) -> None:
        self.maps, self.tangent = maps, tangent
        self.total: Embedding | None = None

    def add(self, X: Array, y: Array, engine: Engine) -> None:
        """A sum of its own, then added to the total: the same bits if another process computes it."""
        blocks = engine.map(self._of_block, (X[rows] for rows in spans(len(X), engine.block_rows)))
        sums = next(blocks)
        for block in blocks:
            sums.add(block)
        self._include(sums)

    def merge(self, other: "EmbeddingSums") -> None:
        if other.total:
            self._include(other.total)

    def state(self) -> State:
        assert self.total
        return self.total.state()

    def load(self, state: State) -> None:
        self.total = Embedding.of(state)

    def _include(self, part: Embedding) -> None:
        if self.total:
            self.total.add(part)
        else:
            self.total = part

    def _of_block(self, X: Array) -> Embedding:
        maps, tangent = self.maps, self.tangent
        dtype = np.result_type(maps[0].dtype, np.float64)
        sums = Embedding(len(X), np.empty((len(maps), maps[0].D), dtype), np.empty(len(maps)))
        if tangent:
            Z = tangent.rows(X)
            h, squares, rest = tangent.sums(Z)
            sums.known = Embedding(len(X), h[None], np.array([squares]))
            X = Z.astype(X.dtype, copy=False)
        for r, features in enumerate(maps):
            start = perf_counter()
            Phi = features(X, _buffer(features, len(X)))
            sums.seconds += perf_counter() - start
            sums.features[r] = Phi.sum(0, dtype=dtype)
            sums.squares[r] = rest if tangent else squared_norm(Phi)
        return sums

    def finish(self) -> Embedding:
        """The sums over all rows, of features without what is known of them."""
        assert self.total
        if self.tangent and self.total.known:
            h = self.total.known.features[0]
            self.total.features -= [self.tangent.of(features, h) for features in self.maps]
        return self.total


def _buffer(features: FeatureMap, n: int) -> Array:
    """Like `features.empty`, in memory that is used again."""
    flat = scratch("embedded", (n * features.D,), features.dtype)
    return flat.reshape((n, features.D), order=features.order)


def squared_norm(Phi: Array) -> float:
    halves = (Phi.real, Phi.imag) if np.iscomplexobj(Phi) else (Phi,)
    return sum(float(np.einsum("ij,ij->", half, half, dtype=np.float64)) for half in halves)


def squared_mmd(x: Embedding, y: Embedding) -> Array:
    """Equation (1) of every draw."""
    means = [z.features / z.n for z in (x, y)]
    value = _squares(means[0] - means[1])
    for z, mean in zip((x, y), means, strict=True):
        value -= (z.squares / z.n - _squares(mean)) / (z.n - 1)
    return value + squared_mmd(x.known, y.known) if x.known and y.known else value


def _squares(A: Array) -> Array:
    return np.einsum("rj,rj->r", A, A.conj()).real
