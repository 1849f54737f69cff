"""Hierarchical sketches: pairs, then pairs of sketches, until p inputs are one [Ahle et al. 2020].

Each pair is a product sketch of its two inputs; sequential is v ← Φ(v, x), a tree pairs neighbours.  Sketching
preserves inner products in expectation, so the composition is unbiased; its variance is not known in closed form.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, complex_type
from rfbench.checks import require
from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import TupleMap, require_base
from rfbench.sketches.wrappers import affine

SHAPES = ("sequential", "tree")


@dataclass(frozen=True)
class Hierarchical(Sketch):
    """Estimates ⟨x, y⟩ᵖ by p − 1 product sketches of pairs."""

    degree: int
    base: str = "tensorsrht"
    shape: str = "sequential"

    def __post_init__(self) -> None:
        require(self.degree >= 1, "degree", "at least 1", self.degree)
        require(self.shape in SHAPES, "sketch.shape", " or ".join(SHAPES), self.shape)
        require_base(self.base)

    def objection(self, D: int) -> str | None:
        return homogeneous(self.base, 1).objection(D)

    @property
    def is_complex(self) -> bool:
        return homogeneous(self.base, 1).is_complex

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        one = homogeneous(self.base, 1)
        if self.degree == 1:
            return one.sample(d, D, rng, dtype)
        columns, pairs = deque([d] * self.degree), []
        while len(columns) > 1:
            pairs.append(TupleMap(one, (columns.popleft(), columns.popleft()), D, rng, dtype))
            (columns.append if self.shape == "tree" else columns.appendleft)(D)
        return HierarchicalMap(pairs, self.shape, d, complex_type(dtype) if self.is_complex else np.dtype(dtype))


class HierarchicalMap(FeatureMap):
    def __init__(self, pairs: list[TupleMap], shape: str, d: int, dtype: np.dtype[Any]) -> None:
        self.pairs, self.shape = pairs, shape
        self.d, self.D, self.dtype, self.order = d, pairs[-1].D, dtype, pairs[-1].maps[0].order

    @property
    def chunk(self) -> int:
        """As many rows as the sketches of all pairs compute at once, so that their results stay in the cache."""
        return min(features.chunk for pair in self.pairs for features in pair.maps)

    def write(self, X: Array, out: Array) -> None:
        nodes = deque([X] * (len(self.pairs) + 1))
        for pair in self.pairs:
            node = pair(nodes.popleft(), nodes.popleft())
            (nodes.append if self.shape == "tree" else nodes.appendleft)(node)
        out[...] = nodes[0]


def make(kernel: AffinePower, base: str = "tensorsrht", shape: str = "sequential") -> Sketch:
    degree, gamma, bias = kernel.affine
    return affine(Hierarchical(degree, base, shape), gamma, bias)


FAMILIES = {"hierarchical": Family(make, POWERS, "Monte Carlo", "p D log D")}
