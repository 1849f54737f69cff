"""The unbiased squared maximum mean discrepancy of two sets, by the kernel itself.

    MMD² = Σ_{i≠j} k(xᵢ, xⱼ)/n(n−1) + Σ_{i≠j} k(yᵢ, yⱼ)/m(m−1) − 2 Σ_{ij} k(xᵢ, yⱼ)/nm                     (1)

[Gretton et al. 2012, Eq. 3].  The pairs of rows are computed in tiles: memory holds two blocks of rows and
never an n × n matrix.  Block-MMD is (1) on small subsets of both sets [Zaremba et al. 2013; Wacker 2022, 4.3.2].
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations_with_replacement, islice, product
from math import fsum
from time import perf_counter
from typing import NamedTuple

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel
from rfbench.linalg.tiles import TILE
from rfbench.seeds import rng_for

Rows = Callable[[], Iterable[Array]]  # each call gives all blocks of rows
Tile = tuple[Array, Array, float]  # two blocks of rows, and a weight


class Estimate(NamedTuple):
    """Mean and standard deviation of repeated estimates, and the seconds of one."""

    mean: float
    std: float
    seconds: float


def exact(kernel: Kernel, split: Split, engine: Engine) -> Estimate:
    """Equation (1) of all rows."""
    start = perf_counter()
    x, y = split.train, split.test
    a, b = -(-len(x) // TILE), -(-len(y) // TILE)
    total = a * (a + 1) // 2 + b * (b + 1) // 2 + a * b

    def bar(function: Callable[[Tile], float], tiles: Iterable[Tile]) -> Iterator[float]:
        return engine.map(function, tiles, "tiles of the exact value", total)

    return Estimate(squared_mmd(kernel, rows_of(x), rows_of(y), len(x), len(y), bar), 0.0, perf_counter() - start)


def block_mmd(kernel: Kernel, split: Split, subsets: int, size: int, seed: int, engine: Engine) -> Estimate:
    """Equation (1) of `size` rows of each set, drawn without replacement for every subset."""
    start = perf_counter()

    def subset(r: int) -> float:
        X, Y = (
            part.sample(size, rng_for(seed, "kid", "subset", r, name))[0]
            for name, part in (("x", split.train), ("y", split.test))
        )
        return squared_mmd(kernel, lambda: [X], lambda: [Y], size, size, map)

    values = list(engine.map(subset, range(subsets), "subsets of Block-MMD", subsets))
    return Estimate(float(np.mean(values)), float(np.std(values, ddof=1)), (perf_counter() - start) / subsets)


def rows_of(part: Prepared) -> Rows:
    return lambda: (X for X, _ in part.blocks())


def squared_mmd(kernel: Kernel, x: Rows, y: Rows, n: int, m: int, mapped: Callable[..., Iterable[float]]) -> float:
    """Equation (1), with the builtin `map` or one that runs in parallel."""

    def of_tile(tile: Tile) -> float:
        A, B, weight = tile
        K = kernel.gram(A, B)
        return weight * float(K.sum() - K.trace() if A is B else K.sum())

    return fsum(mapped(of_tile, tiles(x, y, n, m)))


def tiles(x: Rows, y: Rows, n: int, m: int) -> Iterator[Tile]:
    """The tiles of all three sums, with the weight of their terms."""
    for rows, count in ((x, n), (y, m)):
        for A, B in half(rows):
            yield A, B, (1 if A is B else 2) / (count * (count - 1))
    for X in x():
        for Y in y():
            yield from ((A, B, -2 / (n * m)) for A, B in product(cut(X), cut(Y)))


def half(rows: Rows) -> Iterator[tuple[Array, Array]]:
    """Every pair of tiles once; a tile is paired with itself as the same array."""
    for i, X in enumerate(rows()):
        parts = cut(X)
        for Y in islice(rows(), i):
            yield from product(parts, cut(Y))
        yield from combinations_with_replacement(parts, 2)


def cut(X: Array) -> list[Array]:
    return [X[span] for span in spans(len(X), TILE)]
