"""The unbiased squared maximum mean discrepancy of two sets, by the kernel itself.

    MMD² = Σ_{i≠j} k(xᵢ, xⱼ)/n(n−1) + Σ_{i≠j} k(yᵢ, yⱼ)/m(m−1) − 2 Σ_{ij} k(xᵢ, yⱼ)/nm                     (1)

[Gretton et al. 2012, Eq. 3].  All pairs of rows are gone through in tiles: no matrix of n × n is ever held, and no more
than two blocks of rows.  Block-MMD is (1) on small subsets of both sets [Zaremba et al. 2013; Wacker 2022, 4.3.2].
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import spans
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Local
from rfbench.kernels import Kernel
from rfbench.seeds import rng_for
from rfbench.tasks.tiles import TILE

Array = NDArray[Any]
Rows = Callable[[], Iterable[Array]]  # blocks of rows, from the first one whenever asked
Pair = tuple[Array, Array]


class Estimate(NamedTuple):
    """Mean and standard deviation of repeated estimates, and the seconds of one."""

    mean: float
    std: float
    seconds: float


def exact(kernel: Kernel, split: Split, engine: Local) -> Estimate:
    """Equation (1) of all rows."""
    start = perf_counter()
    x, y = split.train, split.test
    total = sum(-(-len(a) // TILE) * -(-len(b) // TILE) for a, b in ((x, x), (y, y), (x, y))) // 2

    def sums(function: Callable[[Pair], float], pairs: Iterable[Pair]) -> Iterator[float]:
        return engine.map(function, pairs, "tiles of the exact value", total)

    value = squared_mmd(kernel, rows_of(x), rows_of(y), len(x), len(y), sums)
    return Estimate(value, 0.0, perf_counter() - start)


def block_mmd(kernel: Kernel, split: Split, subsets: int, size: int, seed: int, engine: Local) -> Estimate:
    """Equation (1) of `size` rows of each set, drawn without replacement, anew for every subset."""
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


def squared_mmd(kernel: Kernel, x: Rows, y: Rows, n: int, m: int, sums: Callable[..., Iterable[float]]) -> float:
    """Equation (1); `sums` maps a function over pairs of tiles."""

    def of_tile(pair: Pair) -> float:
        K = kernel.gram(*pair)
        return float(K.sum() - K.trace()) if pair[0] is pair[1] else float(K.sum())

    def of_half(pair: Pair) -> float:
        return of_tile(pair) * (1 if pair[0] is pair[1] else 2)

    within = (sum(sums(of_half, half(z))) / (k * (k - 1)) for z, k in ((x, n), (y, m)))
    across = (pair for X in x() for Y in y() for pair in product(cut(X), cut(Y)))
    return sum(within) - 2 * sum(sums(of_tile, across)) / (n * m)


def half(rows: Rows) -> Iterator[Pair]:
    """Every pair of tiles once, a tile with itself as the same array twice."""
    for i, X in enumerate(rows()):
        tiles = cut(X)
        for Y in islice(rows(), i):
            yield from product(tiles, cut(Y))
        yield from ((tiles[a], tiles[b]) for a in range(len(tiles)) for b in range(a + 1))


def cut(X: Array) -> list[Array]:
    return [X[start:stop] for start, stop in spans(len(X), TILE)]
