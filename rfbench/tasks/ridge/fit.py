"""Training rows → a function, by the solver that suits the features; α is given or chosen on rows left out.

A class is +1 in its own output and −1 in the others [Ohana et al. 2019, D.3]; targets are centred.  To scale the
features by s is to scale α by 1/s², so a grid of α serves every scale (the paper searches both).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset
from rfbench.datasets.prepare import Prepared
from rfbench.engines import Engine
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import MOST_ROWS
from rfbench.progress import bar, with_progress
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap
from rfbench.tasks.gp.process import new_rows
from rfbench.tasks.ridge.direct import Dual, Primal, System
from rfbench.tasks.ridge.iterative import LANDMARKS, kernel_equations, normal_equations
from rfbench.tasks.ridge.predictors import Function
from rfbench.tasks.scores import Errors

GRID = 10.0 ** np.arange(-9, 1)  # of α
MOST_FEATURES = 12_000  # of a matrix that is factorised unasked
CHOOSING = 8000  # rows that choose λ where conjugate gradients would take long


@dataclass(frozen=True, eq=False)
class Fitted:
    """A function and how it was found."""

    f: Function
    alpha: float
    losses: Array  # on rows left out, for every α of the grid; none where α was given
    steps: int = 0


@dataclass(frozen=True, eq=False)
class Fit:
    """The options of a task, with the rows and what all sketches share."""

    train: Prepared
    shift: Array  # the mean of the targets
    scale: float  # κ, the mean of k(x, x)
    alpha: float | None  # none: on rows left out
    validation: float
    tolerance: float  # of the residual of conjugate gradients
    seed: int
    engine: Engine
    watch: Stopwatch = field(default_factory=Stopwatch)

    def __call__(self, features: FeatureMap, solver: str) -> Fitted:
        if (solver := chosen(solver, features, len(self.train))) == "cg":
            return self.by_steps(features)
        system, losses = self.search(features, Dual if solver == "dual" else Primal)
        alpha = self.alpha
        if alpha is None:
            alpha = float(GRID[losses.argmin()])
            system.complete()
        return Fitted(system.solve(np.array([alpha])), alpha, losses)

    def search(self, features: FeatureMap, kind: type[Primal | Dual]) -> tuple[System, Array]:
        """The equations of the rows that are not left out, and the errors on those that are, for every α."""
        rest, left_out = self.train, self.train
        if self.alpha is None:
            rest, left_out = self.train.divided(self.validation, rng_for(self.seed, "ridge", "validation"))
        with bar(len(rest), "training rows", " rows") as shown:
            more = self.blocks(left_out) if self.alpha is None else iter(())
            system = kind(features, with_progress(self.blocks(rest), shown), more, self.scale, self.engine, self.watch)
        if self.alpha is not None:
            return system, np.empty(0)
        classes, scores = self.train.part.dataset.classes, self.scores(system.solve(GRID), left_out)
        finite = [np.isfinite(one.squares) for one in scores]
        return system, np.where(finite, [next(one.measures(classes))[1] for one in scores], np.inf)

    def by_steps(self, features: FeatureMap) -> Fitted:
        """Conjugate gradients.  λ, which like a noise does not grow with the rows, is that of some of them."""
        alpha, losses, n = self.alpha, np.empty(0), len(self.train)
        if alpha is None:
            some = self.train
            if n > CHOOSING:
                _, some = some.divided(CHOOSING / n, rng_for(self.seed, "ridge", "some"))
            _, losses = replace(self, train=some).search(features, Dual)
            alpha = float(GRID[losses.argmin()]) * len(some) / n
        landmarks, _ = self.train.sample(LANDMARKS, rng_for(self.seed, "ridge", "landmarks"))
        more = landmarks, alpha * self.scale * n, self.tolerance, self.engine, self.watch
        if not features.explicit:
            f, steps = kernel_equations(features, lambda: self.blocks(self.train), *more)
        else:
            f, steps = normal_equations(features, lambda: self.blocks(self.train), (n, len(self.shift)), *more)
        return Fitted(f, alpha, losses, steps)

    def blocks(self, part: Prepared) -> Iterator[tuple[Array, Array]]:
        """(X, centred targets)."""
        dataset = part.part.dataset
        return ((X, signed(dataset, y) - self.shift) for X, y in part.blocks())

    def scores(self, f: Function, part: Prepared) -> list[Errors]:
        """For every α whose outputs f has."""
        dataset = part.part.dataset
        found: list[Errors] = []
        for X, y in new_rows(part):
            targets = signed(dataset, y)
            predicted = f(X, self.engine).reshape(len(X), -1, len(self.shift)).swapaxes(0, 1)
            found = found or [Errors() for _ in predicted]
            for errors, one in zip(found, predicted, strict=True):
                errors.add(one + self.shift, targets)
        return found


def chosen(solver: str, features: FeatureMap, n: int) -> str:
    """The solver asked for, if it can be, or the one that is quickest."""
    exact, D = not features.explicit, features.D
    if solver == "auto":
        if n <= MOST_ROWS and (exact or n < D):
            return "dual"
        return "cg" if exact or D > MOST_FEATURES else "cholesky"
    if solver == "cholesky" and exact:
        raise InputError("task.solver=cholesky needs features; use task.solver=dual with sketch=exact")
    if (size := {"cholesky": D, "dual": n}.get(solver, 0)) > MOST_ROWS:
        raise InputError(
            f"task.solver={solver} needs a matrix of {size} rows, and {MOST_ROWS} are the most; use task.solver=cg"
        )
    return solver


def signed(dataset: Dataset, y: Array) -> Array:
    """Targets, those of classes as ±1."""
    targets = dataset.targets(y)
    return targets if dataset.classes is None else 2 * targets - 1
