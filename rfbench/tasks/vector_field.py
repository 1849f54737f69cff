"""Regression and classification with several outputs: vector fields, tasks that resemble each other, classes.

Operator-valued sketches and kernels couple the outputs; with those of scalar kernels each output is on its own.  A
class is a unit vector, and the largest output is predicted.  Targets are centred.  Where there are at most `exact_rows`
training rows the exact kernel is fitted too, with an α of its own.  `kernel.length_scale=validation` is that with which
the exact kernel errs least on folds of some training rows, left out in turn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.progress import bar
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.tasks.base import Measure, Task, Trial, no_localized
from rfbench.tasks.ridge.operator import Dual, exact
from rfbench.tasks.ridge.operator_fit import GRID, MOST_ROWS, Fit, Fitted
from rfbench.tasks.scores import Errors

SOLVERS = ("auto", "direct", "cg", "sgd")
SAMPLE = 1000  # rows from which the mean of the targets is taken
CHOOSING = 300  # rows from which a length scale is chosen
OF_EXACT = ("error", "rmse", "fit_seconds")


@dataclass(frozen=True, eq=False)
class Reference:
    """What all sketches share, and the errors of the exact kernel."""

    fit: Fit
    measures: list[Measure]


@dataclass(frozen=True)
class VectorField(Task):
    """Errors on the test rows; α is chosen by cross-validation, or given."""

    name = "vector_field"
    several_outputs = True
    chooses = ("length_scale",)
    alpha: float | str = "auto"
    folds: int = 5
    solver: str = "auto"
    epochs: int = 20
    exact_rows: int = 1000
    arrows: int = 0

    def __post_init__(self) -> None:
        good = self.alpha == "auto" if isinstance(self.alpha, str) else 0 < self.alpha < np.inf
        require(good, "task.alpha", "auto or a number above 0", self.alpha)
        require(self.folds >= 2, "task.folds", "at least 2", self.folds)
        require(self.epochs >= 1, "task.epochs", "at least 1", self.epochs)
        require(0 <= self.exact_rows <= MOST_ROWS, "task.exact_rows", f"from 0 to {MOST_ROWS}", self.exact_rows)
        require(0 <= self.arrows <= 1000, "task.arrows", "from 0 to 1000", self.arrows)
        if self.solver not in SOLVERS:
            raise InputError(f"no task.solver '{self.solver}'; {did_you_mean(self.solver, SOLVERS)}")
        if self.solver == "sgd" and isinstance(self.alpha, str):
            raise InputError("task.solver=sgd needs a number for task.alpha, such as 1e-6")

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if sketch.is_complex:
            return "task=vector_field needs real features; use the real form of this sketch, or its ctr_ form"
        return no_localized(self.name, sketch) or super().objection(sketch, recipe)

    def fit(self, recipe: KernelRecipe, train: Prepared, seed: int, engine: Engine) -> Kernel:
        if not recipe.tunable:
            return super().fit(recipe, train, seed, engine)
        X, y = train.sample(CHOOSING, rng_for(seed, "kernel"))
        Y, losses = train.part.dataset.targets(y), []
        candidates = recipe.candidates(X, Y)
        self._check(candidates[0], train, X, Y)
        with bar(len(candidates), "length scales") as shown:
            for one in candidates:
                gram, R = exact(one, Y.shape[1])
                K = gram(X, X)
                problem = Dual(K, R, Y - Y.mean(0), self.folds, float(K.diagonal().mean())).thinned(2 * CHOOSING)
                losses.append(problem.losses(GRID).min())
                shown.update()
        return candidates[int(np.argmin(losses))]

    def _check(self, kernel: Kernel, train: Prepared, X: Array, Y: Array) -> None:
        (_, d), (_, p), name = X.shape, Y.shape, train.part.dataset.name
        if (q := kernel.size(d)) not in (1, p):
            raise InputError(
                f"kernel '{kernel.name}' has {q} outputs for {d} columns, and dataset '{name}' has {p}. "
                "Use sketch=orff_decomposable"
            )
        if self.arrows and (d, p) != (2, 2):
            raise InputError(f"task.arrows is for fields on the plane; dataset '{name}' has {d} columns")
        if len(train) < self.folds:
            raise InputError(f"task.folds={self.folds} needs as many training rows; there are {len(train)}")

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> Reference:
        train = split.train
        X, y = train.sample(SAMPLE, rng_for(seed, "vector_field"))
        Y = train.part.dataset.targets(y)
        self._check(kernel, train, X, Y)
        scale = float(np.mean([kernel.gram(x[None], x[None]).diagonal().mean() for x in X[:100]]))
        alpha = None if isinstance(self.alpha, str) else float(self.alpha)
        fit = Fit(train, Y.mean(0), scale, engine, alpha, self.folds, self.solver, self.epochs)
        measures: list[Measure] = []
        if len(train) <= self.exact_rows and fit.gram_rows(kernel) <= MOST_ROWS:
            found, _ = errors(lambda: fit.exact(kernel), split.test, fit.shift)
            measures = [m._replace(metric=f"exact_{m.metric}") for m in found if m.metric in OF_EXACT]
        return Reference(fit, measures)

    def measure(self, trial: Trial, reference: Reference) -> Iterator[Measure]:
        fit, features, rng = reference.fit, trial.draw(0), rng_for(trial.seed, "vector_field", "sgd")
        without = not features.explicit
        found, f = errors(
            lambda: fit.exact(trial.kernel) if without else fit.features(features, rng), trial.split.test, fit.shift
        )
        yield from found
        yield from () if without else reference.measures
        if self.arrows:
            yield from arrows(f, trial.split.test, self.arrows)


def errors(fit: Callable[[], Fitted], test: Prepared, shift: Array) -> tuple[list[Measure], Callable[[Array], Array]]:
    """The measures of a fit, and the function found."""
    dataset, sums = test.part.dataset, Errors()
    start = perf_counter()
    centred, alpha = fit()
    fitted = perf_counter()

    def f(X: Array) -> Array:
        return centred(X) + shift

    for X, y in test.blocks():
        sums.add(f(X), dataset.targets(y))
    predicted = perf_counter()
    measures = [
        *(Measure(*one) for one in sums.measures(dataset.classes)),
        Measure("alpha", alpha),
        Measure("fit_seconds", fitted - start, "s"),
        Measure("predict_seconds", predicted - fitted, "s"),
    ]
    return measures, f


def arrows(f: Callable[[Array], Array], test: Prepared, count: int) -> Iterator[Measure]:
    """Place, field and prediction at some test rows, the same for every seed, two numbers each, for the figure."""
    X, y = test.sample(count, rng_for(0, "vector_field", "arrows"))
    Y = test.part.dataset.targets(y)
    for i, numbers in enumerate(np.hstack((X, Y, f(X)))):
        for name, value in zip(("x0", "x1", "field0", "field1", "predicted0", "predicted1"), numbers, strict=True):
            yield Measure(f"arrow_{name}_{i:03d}", float(value))
