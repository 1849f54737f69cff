"""The papers' theorems beside the measured errors: how probable errors are, and how many features are enough.

The error of a pair is ‖k̂ − k‖ over √(‖k(x, x)‖ ‖k(y, y)‖), in the spectral norm where k is a matrix.  A theorem bounds
the probability that it exceeds ε for one pair, or that the largest of all pairs does; rfbench/sketches/theorems states
each with its constants.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, nan
from typing import NamedTuple

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, Sketch, theorems_of
from rfbench.tasks.base import Measure, Task, Trial

GRID = np.logspace(-2, 1, 61)  # values of ε of the curves
DRAWS = 16  # draws per work item


class Exact(NamedTuple):
    """Rows, their kernel matrix, and the size of the kernel for all pairs i ≤ j."""

    X: Array
    K: Array
    size: Array


@dataclass(frozen=True)
class Bounds(Task):
    """Probabilities of errors above ε over `draws` draws on all pairs of `rows` test rows, with their bounds."""

    name = "bounds"
    several_outputs = shares_reference = True
    epsilon: float = 0.2
    delta: float = 0.1
    rows: int = 50
    draws: int = 200
    most: int = 16384

    def __post_init__(self) -> None:
        require(0 < self.epsilon < np.inf, "task.epsilon", "above 0", self.epsilon)
        require(0 < self.delta < 1, "task.delta", "between 0 and 1", self.delta)
        require(2 <= self.rows <= 500, "task.rows", "from 2 to 500", self.rows)
        require(10 <= self.draws <= 10**6, "task.draws", "from 10 to 1,000,000", self.draws)
        require(self.most >= 2, "task.most", "at least 2", self.most)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if not sketch.random or not theorems_of(sketch, recipe.provisional(), np.eye(2)):
            return (
                "no theorem speaks of this sketch; use sketch=rff, rademacher, tensorsketch, optical, compressive_rff, "
                "compressive_identity, orff_curl_free or another one with a closed-form variance"
            )
        return super().objection(sketch, recipe)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> Exact:
        X, _ = split.test.sample(self.rows, rng_for(seed, "bounds", "rows"))
        X = X[:: min(kernel.size(X.shape[1]), max(len(X) // 2, 1))]
        sizes = np.array([np.linalg.norm(kernel.gram(x[None], x[None]), 2) for x in X])
        if not sizes.all():
            raise InputError("the kernel of a row with itself is zero, and errors are relative to it; use other rows")
        i, j = np.triu_indices(len(X))
        return Exact(X, kernel.gram(X, X), np.sqrt(sizes[i] * sizes[j]))

    def measure(self, trial: Trial, reference: Exact) -> Iterator[Measure]:
        known = theorems_of(trial.sketch, trial.kernel, reference.X)
        levels = np.append(GRID, self.epsilon)
        tails = self._tails(trial, reference, levels, trial.D)
        for name, tail in zip(("tail", "tail_sup"), tails, strict=True):
            trial.curve(name, GRID, tail[:-1])
            yield Measure(name, float(tail[-1]))
        for theorem in known:
            bounds = [theorem.bound(level, trial.D) for level in levels]
            trial.curve(f"bound_{theorem.name}", GRID, np.array(bounds[:-1]))
            yield Measure(f"bound_{theorem.name}", bounds[-1])
        yield from self._sufficient(trial, reference)
        for theorem in known:
            D = theorem.demanded(self.epsilon, self.delta)
            vacuous = "" if inf > D else "vacuous: no number of features is enough"
            yield Measure(f"demanded_{theorem.name}", D if inf > D else nan, message=vacuous)

    def _sufficient(self, trial: Trial, exact: Exact) -> Iterator[Measure]:
        """The least powers of two whose measured probability is at most δ, for one pair and for all."""
        if trial.sketch.count(exact.X.shape[1], self.most) != self.most:  # measurements are their own number
            return
        found: dict[str, int] = {}
        D = 2
        while len(found) < 2 and self.most >= D:
            tails = self._tails(trial, exact, np.array([self.epsilon]), D)
            for name, tail in zip(("sufficient", "sufficient_sup"), tails, strict=True):
                if tail[0] <= self.delta:
                    found.setdefault(name, D)
            D *= 2
        for name in ("sufficient", "sufficient_sup"):
            missing = "" if name in found else f"more than task.most={self.most}"
            yield Measure(name, found.get(name, nan), message=missing)

    def _tails(self, trial: Trial, exact: Exact, levels: Array, D: int) -> tuple[Array, Array]:
        """The fractions of draws and pairs whose error is above each level, and of draws whose largest error is."""

        def exceeded(draws: slice) -> Array:
            found = np.zeros((2, len(levels)))
            for k in range(draws.start, draws.stop):
                plan = replace(trial.plan(k), D=D, names=("bounds", trial.name, D, k))
                errors = np.sort(relative_errors(plan(), exact))
                found[0] += 1 - np.searchsorted(errors, levels, "right") / len(errors)
                found[1] += errors[-1] > levels
            return found

        counts = trial.engine.map(exceeded, spans(self.draws, DRAWS), "draws", -(-self.draws // DRAWS))
        pair, largest = np.sum(list(counts), axis=0) / self.draws
        return pair, largest


def relative_errors(features: FeatureMap, exact: Exact) -> Array:
    """‖k̂ − k‖ over the size of the kernel, for all pairs i ≤ j."""
    Phi = features(exact.X)
    n, (i, j) = len(exact.X), np.triu_indices(len(exact.X))
    error = features.product(Phi, Phi).real - exact.K
    p = len(error) // n
    blocks = error.reshape(n, p, n, p).swapaxes(1, 2)[i, j]
    return (np.abs(blocks[:, 0, 0]) if p == 1 else np.linalg.norm(blocks, 2, axis=(1, 2))) / exact.size
