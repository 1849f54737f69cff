"""Variance and bias of every degree of a Maclaurin series, which decide the allocation [Wacker 2022, Fig. 5.1]."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import require
from rfbench.datasets.prepare import Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.tiles import MOST_ROWS
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.tasks.base import Measure, Task, Trial


@dataclass(frozen=True)
class MaclaurinTerms(Task):
    """vₙ, the variance of one feature, and bₙ, the squared bias up to degree n: means over pairs of training rows."""

    name = "maclaurin_terms"
    rows: int = 500
    terms: int = 20

    def __post_init__(self) -> None:
        require(2 <= self.rows <= MOST_ROWS, "task.rows", f"from 2 to {MOST_ROWS}", self.rows)
        require(1 <= self.terms <= 100, "task.terms", "from 1 to 100", self.terms)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if not sketch.by_degree:
            return "task=maclaurin_terms is for Maclaurin features; use sketch=optimized_maclaurin"
        return super().objection(sketch, recipe)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> Array:
        return split.train.sample(self.rows, rng_for(seed, "maclaurin_terms"))[0]

    def measure(self, trial: Trial, reference: Array) -> Iterator[Measure]:
        degrees, variances, biases = map(np.array, zip(*trial.sketch.degree_errors(reference, self.terms), strict=True))
        trial.curve("variance", degrees, variances)
        trial.curve("bias", degrees, biases)
        yield Measure("largest_variance", float(variances.max()), message="of one feature")
        yield Measure("last_bias", float(biases[-1]), message=f"squared, with all degrees up to {degrees[-1]}")
