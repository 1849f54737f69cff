"""Regression and classification with several outputs: vector fields, related tasks, classes.

Operator-valued sketches and kernels couple the outputs; with scalar kernels each output is learned alone.  A class is a
unit vector, and the largest output predicts the class.  Targets are centred.  With at most `exact_rows` training rows
the exact kernel is fitted too, with an α of its own.  `kernel.length_scale=validation` takes the length scale with
which the exact kernel errs least on folds of some training rows, held out in turn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import PART_ROWS, Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.tiles import MOST_GRAM_ROWS
from rfbench.progress import bar
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.tasks.base import Measure, Size, Task, Trial, no_localized
from rfbench.tasks.ridge.operator import GRID, FittedField, GramProblem, OperatorFit, exact_gram
from rfbench.tasks.rows import Targets
from rfbench.tasks.scores import Errors

SOLVERS = ("auto", "direct", "cg", "sgd")
MEAN_ROWS = 1000  # of which the mean of the targets is taken
LENGTH_SCALE_ROWS = 300  # of which a length scale is chosen
OF_EXACT = ("error", "rmse", "fit_seconds")  # measures of the exact kernel
ARROWS = ("x0", "x1", "field0", "field1", "predicted0", "predicted1")


@dataclass(frozen=True, eq=False)
class ExactField:
    """What all sketches share, and the errors of the exact kernel."""

    fit: OperatorFit
    measures: list[Measure]


@dataclass(frozen=True)
class VectorField(Task):
    """Errors on the test rows; α is chosen by cross-validation, or given: c, or c/n for a penalty λ = c κ of any n."""

    name = "vector_field"
    several_outputs = spreads = True
    chooses = ("length_scale",)
    alpha: float | str = "auto"
    folds: int = 5
    solver: str = "auto"
    epochs: int = 20
    exact_rows: int = 1000
    arrows: int = 0

    def __post_init__(self) -> None:
        number = self._number
        require(
            number is None or 0 < number < np.inf, "task.alpha", "auto, a number above 0, or one over n", self.alpha
        )
        require(self.folds >= 2, "task.folds", "at least 2", self.folds)
        require(self.epochs >= 1, "task.epochs", "at least 1", self.epochs)
        require(
            0 <= self.exact_rows <= MOST_GRAM_ROWS, "task.exact_rows", f"from 0 to {MOST_GRAM_ROWS}", self.exact_rows
        )
        require(0 <= self.arrows <= 1000, "task.arrows", "from 0 to 1000", self.arrows)
        if self.solver not in SOLVERS:
            raise InputError(f"unknown task.solver '{self.solver}'; {did_you_mean(self.solver, SOLVERS)}")
        if self.solver == "sgd" and number is None:
            raise InputError("task.solver=sgd needs a number for task.alpha, such as 1e-6")

    @property
    def _number(self) -> float | None:
        """The number in `alpha`, which may be followed by /n; 0 for other words, None for auto."""
        if not isinstance(self.alpha, str):
            return self.alpha
        try:
            return None if self.alpha == "auto" else float(self.alpha.removesuffix("/n"))
        except ValueError:
            return 0.0

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if sketch.is_complex:
            return "task=vector_field needs real features; use the real form of this sketch, or its ctr_ form"
        return no_localized(self.name, sketch) or super().objection(sketch, recipe)

    def fit(self, recipe: KernelRecipe, train: Prepared, seed: int, engine: Engine, D: int | None = None) -> Kernel:
        if not recipe.tunable:
            return super().fit(recipe, train, seed, engine)
        X, y = train.sample(LENGTH_SCALE_ROWS, rng_for(seed, "kernel"))
        Y, losses = train.part.dataset.targets(y), []
        candidates = recipe.candidates(X, Y)
        self._check(candidates[0], train, X, Y)
        with bar(len(candidates), "length scales") as shown:
            for one in candidates:
                gram, R = exact_gram(one, Y.shape[1])
                K = gram(X, X)
                problem = GramProblem(K, R, Y - Y.mean(0), self.folds, float(K.diagonal().mean()))
                losses.append(problem.thinned(2 * LENGTH_SCALE_ROWS).losses(GRID).min())
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

    def memory(self, size: Size) -> int:
        """The matrices of the folds, their sum and its decomposition; or that of the rows, its parts and theirs."""
        by_rows = not size.explicit or size.n < size.D
        matrices = self.folds + (2 if size.n <= PART_ROWS else self.folds)  # several parts have sums of their own
        return 4 * 8 * size.n**2 if by_rows else matrices * 8 * size.D**2 if self.solver != "sgd" else 0

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> ExactField:
        train = split.train
        X, y = train.sample(MEAN_ROWS, rng_for(seed, "vector_field"))
        Y = train.part.dataset.targets(y)
        self._check(kernel, train, X, Y)
        scale = float(np.mean([kernel.gram(x[None], x[None]).diagonal().mean() for x in X[:100]]))
        alpha = self._number
        if alpha is not None and isinstance(self.alpha, str):
            alpha /= len(train)
        rows = Targets(train, Y.mean(0))
        fit = OperatorFit(rows, scale, engine, alpha, self.folds, self.solver, self.epochs)
        measures: list[Measure] = []
        if len(train) <= self.exact_rows and fit.gram_rows(kernel) <= MOST_GRAM_ROWS:
            found, _ = errors(lambda: fit.exact(kernel), split.test, fit)
            measures = [m._replace(metric=f"exact_{m.metric}") for m in found if m.metric in OF_EXACT]
        return ExactField(fit, measures)

    def measure(self, trial: Trial, reference: ExactField) -> Iterator[Measure]:
        fit, draw, rng = reference.fit, trial.drawn(), rng_for(trial.seed, "vector_field", "sgd")
        without = not draw.features.explicit
        found, f = errors(
            lambda: fit.exact(trial.kernel) if without else fit.features(draw, rng), trial.split.test, fit
        )
        yield from found
        yield from () if without else reference.measures
        if self.arrows:
            show_arrows(trial, f, self.arrows)


def errors(
    learn: Callable[[], FittedField], test: Prepared, fit: OperatorFit
) -> tuple[list[Measure], Callable[[Array], Array]]:
    """The measures of a fit, and the function learned."""
    dataset, sums = test.part.dataset, Errors()
    start = perf_counter()
    centred, alpha = learn()
    fitted = perf_counter()

    def f(X: Array) -> Array:
        return centred(X, fit.engine) + fit.rows.shift

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


def show_arrows(trial: Trial, f: Callable[[Array], Array], count: int) -> None:
    """Place, field and prediction at some test rows, two numbers each, as curves over the number of the arrow."""
    test = trial.split.test
    X, y = test.sample(count, rng_for(0, "vector_field", "arrows"))
    numbers = np.hstack((X, test.part.dataset.targets(y), f(X)))
    for name, column in zip(ARROWS, numbers.T, strict=True):
        trial.curve(name, np.arange(len(X)), column)
