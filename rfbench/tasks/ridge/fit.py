"""Training rows → a function, by the solver that suits the features; α is given or chosen on held-out rows.

A class is +1 in its own output and −1 in the others [Ohana et al. 2019, D.3]; targets are centred.  Scaling the
features by s is scaling α by 1/s², so one grid of α serves every scale (the paper searches both).
"""

from dataclasses import dataclass, field, replace

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.prepare import Prepared
from rfbench.engines import Engine
from rfbench.linalg.cg import ITERATIONS
from rfbench.linalg.gram import Drawn
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import MOST_FACTORED, MOST_ROWS
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap
from rfbench.tasks.base import Size
from rfbench.tasks.ridge.direct import Equations, KernelEquations, NormalEquations
from rfbench.tasks.ridge.iterative import Iteration
from rfbench.tasks.ridge.predictors import Predictor
from rfbench.tasks.rows import Targets, new_rows, signed_targets
from rfbench.tasks.scores import Errors

LANDMARKS = 4096  # rows of the preconditioner of conjugate gradients for the exact kernel
SKETCHED_ROWS = 8192  # of that for features
MARGIN = 10  # of a penalty over rounding error; the grid has the same ratio
GRID = float(MARGIN) ** np.arange(-9, 1)  # values of α


@dataclass(frozen=True, eq=False)
class FittedRidge:
    """A function and how it was found."""

    f: Predictor
    alpha: float
    losses: Array  # on held-out rows for every α of the grid; none where α was given
    steps: int = 0


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """The options of a task, the rows and what all sketches share."""

    train: Prepared
    shift: Array  # the mean of the targets
    scale: float  # κ, the mean of k(x, x)
    alpha: float | None  # None: chosen on held-out rows
    validation: float
    tolerance: float  # of the residual of conjugate gradients
    seed: int
    engine: Engine
    watch: Stopwatch = field(default_factory=Stopwatch)
    landmarks: int = LANDMARKS
    sketched_rows: int = SKETCHED_ROWS
    iterations: int = ITERATIONS  # limit of conjugate gradients
    choosing_rows: int = 8000  # of which λ is chosen for conjugate gradients, which would take long for each

    def __call__(self, draw: Drawn, solver: str) -> FittedRidge:
        if (solver := chosen_solver(solver, draw.features, len(self.train))) == "cg":
            return self.by_steps(draw)
        equations, losses = self.search(draw, KernelEquations if solver == "dual" else NormalEquations)
        alpha = self.alpha
        if alpha is None:
            alpha = least(losses)
            equations.complete()
        (solution,) = equations.solve(np.array([alpha * self.scale * equations.n]))
        if np.isnan(solution).any():
            raise ArithmeticError(
                f"alpha={alpha:g} is below rounding error; use a larger task.alpha, task.solver=dual or dtype=float64"
            )
        return FittedRidge(equations.predictor(solution), alpha, losses)

    def search(self, draw: Drawn, kind: type[Equations], most: int | None = None) -> tuple[Equations, Array]:
        """The equations of the rows that are not held out, or of `most` of them, and the errors on those that are."""
        if self.alpha is not None:
            return kind(draw, self.rows(self.train), None, self.engine, self.watch), np.empty(0)
        rest, held_out = self.train.divided(self.validation, rng_for(self.seed, "ridge", "validation"))
        if not len(rest):
            raise InputError(
                f"task.validation={self.validation} holds out all {len(self.train)} training rows; use a smaller one, "
                "more rows, or give task.alpha"
            )
        if most and most < len(rest):
            _, rest = rest.divided(most / len(rest), rng_for(self.seed, "ridge", "round"))
        equations = kind(draw, self.rows(rest), self.rows(held_out), self.engine, self.watch)
        solutions = self.resolved(equations)
        scores = self.scores(equations.predictor(np.hstack(list(solutions))), held_out)
        finite, classes = [np.isfinite(one.squares) for one in scores], self.train.part.dataset.classes
        return equations, np.where(finite, [next(one.measures(classes))[1] for one in scores], np.inf)

    def resolved(self, equations: Equations) -> Array:
        """The solutions for every α, NaN where α is below ten times the rounding error.

        Rounding moves the eigenvalues of the matrix by about as much as the smallest one is below zero, so a tenth of α
        must be enough for a factor.  Otherwise the factor with the held-out rows is another function, or fails.
        """
        below = [] if equations.exact_products else [GRID[0] / MARGIN]
        solutions = equations.solve(np.array([*below, *GRID]) * self.scale * equations.n)
        failed = np.asarray(np.isnan(solutions).any(axis=(1, 2)))
        solutions[1:][failed[:-1]] = np.nan
        return solutions[len(below) :]

    def by_steps(self, draw: Drawn) -> FittedRidge:
        """Conjugate gradients.  λ, like a noise, does not grow with the rows: some of them choose it."""
        alpha, losses, n = self.alpha, np.empty(0), len(self.train)
        if alpha is None:
            some = self.train
            if n > self.choosing_rows:
                _, some = some.divided(self.choosing_rows / n, rng_for(self.seed, "ridge", "some"))
            _, losses = replace(self, train=some).search(draw, KernelEquations)
            losses[GRID * len(some) / n < np.finfo(draw.features.dtype).eps / 2] = np.inf  # lost in products of a step
            alpha = least(losses) * len(some) / n
        count = self.sketched_rows if draw.features.explicit else self.landmarks
        sampled, _ = self.train.sample(count, rng_for(self.seed, "ridge", "landmarks"))
        rows, penalty, rng = self.rows(self.train), alpha * self.scale * n, rng_for(self.seed, "ridge", "nystrom")
        iteration = Iteration(rows, sampled, penalty, self.tolerance, self.engine, self.watch, self.iterations, rng)
        f, steps = iteration.solve(draw)
        return FittedRidge(f, alpha, losses, steps)

    def rows(self, part: Prepared) -> Targets:
        """Rows with centred targets."""
        return Targets(part, self.shift, signed=True)

    def scores(self, f: Predictor, part: Prepared) -> list[Errors]:
        """The errors of every α whose outputs f has, side by side."""
        dataset = part.part.dataset
        found: list[Errors] = []
        for X, y in new_rows(part):
            targets = signed_targets(dataset, y)
            predicted = f(X, self.engine).reshape(len(X), -1, len(self.shift)).swapaxes(0, 1)
            found = found or [Errors() for _ in predicted]
            for errors, one in zip(found, predicted, strict=True):
                errors.add(one + self.shift, targets)
        return found


def least(losses: Array) -> float:
    """The α of least error."""
    if not np.isfinite(losses).any():
        raise ArithmeticError("every candidate of alpha is below rounding error; use dtype=float64 or give task.alpha")
    return float(GRID[losses.argmin()])


def edge(losses: Array) -> str:
    """Which end of the grid has the least error, if no candidate between the ends has it too."""
    if not len(losses):
        return ""
    first, (best,) = int(np.isfinite(losses).argmax()), np.nonzero(losses == losses.min())
    if best[0] == len(GRID) - 1:
        return "the largest candidate"
    if best[-1] == first:
        return "the smallest candidate" + (" above rounding error" if first else "")
    return ""


def chosen_solver(solver: str, features: FeatureMap | Size, n: int) -> str:
    """The solver asked for, unless it is impossible, or for auto the fastest one."""
    exact, D = not features.explicit, features.D
    if solver == "auto":
        if n <= MOST_ROWS and (exact or n < D):
            return "dual"
        return "cg" if exact or D > MOST_FACTORED else "cholesky"
    if solver == "cholesky" and exact:
        raise InputError("task.solver=cholesky needs features; use task.solver=dual with sketch=exact")
    if (size := {"cholesky": D, "dual": n}.get(solver, 0)) > MOST_ROWS:
        raise InputError(
            f"task.solver={solver} needs a {size:,} × {size:,} matrix; the limit is {MOST_ROWS:,}. Use task.solver=cg"
        )
    return solver
