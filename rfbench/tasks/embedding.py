"""Mean embeddings of two sets in one pass over each, for several draws of a sketch at once.

With μ the mean of φ over the rows of a set and q that of ‖φ‖², the unbiased squared MMD is

    MMD² = ‖μ_x − μ_y‖² − (q_x − ‖μ_x‖²)/(n − 1) − (q_y − ‖μ_y‖²)/(m − 1)                                   (1)

[Sutherland & Schneider 2015, 3], which for E⟨φ(x), φ(y)⟩ = k(x, y) has the exact value of mmd.py as its mean.  A draw
is D + 1 numbers, summed in double precision; every draw sees a block of rows while it is in the cache.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import scratch, spans
from rfbench.datasets.prepare import Prepared
from rfbench.engines import Local
from rfbench.sketches import FeatureMap

Array = NDArray[Any]


@dataclass(eq=False)
class Embedding:
    """Sums over n rows for every draw."""

    n: int
    features: Array  # Σφ, (draws, D)
    squares: Array  # Σ‖φ‖², (draws,)
    seconds: float  # in the features alone, of all workers together

    def add(self, other: "Embedding") -> None:
        self.n += other.n
        self.features += other.features
        self.squares += other.squares
        self.seconds += other.seconds


def nothing(maps: Sequence[FeatureMap]) -> Embedding:
    shape, dtype = (len(maps), maps[0].D), np.result_type(maps[0].dtype, np.float64)
    return Embedding(0, np.zeros(shape, dtype), np.zeros(len(maps)), 0.0)


def embed(maps: Sequence[FeatureMap], part: Prepared, engine: Local) -> Embedding:
    """Sums over all rows of a set."""

    def of_block(X: Array) -> Embedding:
        sums = nothing(maps)
        sums.n = len(X)
        for r, features in enumerate(maps):
            start = perf_counter()
            Phi = features(X, _buffer(features, len(X)))
            sums.seconds += perf_counter() - start
            sums.features[r] = Phi.sum(0, dtype=sums.features.dtype)
            sums.squares[r] = squared_norm(Phi)
        return sums

    total = nothing(maps)
    blocks = -(-len(part) // engine.block_rows)
    for sums in engine.map(of_block, _cut(part, engine.block_rows), "blocks of rows", blocks):
        total.add(sums)
    return total


def _cut(part: Prepared, size: int) -> Iterator[Array]:
    return (X[start:stop] for X, _ in part.blocks() for start, stop in spans(len(X), size))


def _buffer(features: FeatureMap, n: int) -> Array:
    """What `features.empty` gives, used again."""
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
    return value


def _squares(A: Array) -> Array:
    return np.einsum("rj,rj->r", A, A.conj()).real
