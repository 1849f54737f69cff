"""The papers' theorems about the error of an estimate, for the sketches that they speak of."""

from rfbench.arrays import Array
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import Sketch
from rfbench.sketches.theorems.pairs import of_pairs
from rfbench.sketches.theorems.record import Theorem
from rfbench.sketches.theorems.uniform import uniform

__all__ = ["Theorem", "theorems_of"]


def theorems_of(sketch: Sketch, kernel: Kernel, X: Array) -> list[Theorem]:
    """All that apply to a sketch, on rows X."""
    return [*of_pairs(sketch, kernel, X), *uniform(sketch, kernel, X)]
