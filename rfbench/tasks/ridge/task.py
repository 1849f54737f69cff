"""Classification and regression by ridge regression on features [Ohana et al. 2019, 4 and D]."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.moments import Moments
from rfbench.datasets.prepare import Preparation, Prepared, Split, thresholds
from rfbench.engines import PART_ROWS, Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.kernels.base import LengthScale
from rfbench.linalg.gram import kernel_matrix_bytes
from rfbench.linalg.spill import MEMORY
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.progress import bar
from rfbench.results.pictures import GRIDS
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch, WithConstant
from rfbench.tasks.base import KERNEL_ROWS, Measure, Size, Task, Trial, no_localized, of_one_output
from rfbench.tasks.baseline import baseline, baseline_name, plain_features
from rfbench.tasks.model import no_model
from rfbench.tasks.ridge.direct import KernelEquations, NormalEquations
from rfbench.tasks.ridge.fit import GRID, LANDMARKS, SKETCHED_ROWS, RidgeFit, chosen_solver, edge, least
from rfbench.tasks.ridge.iterative import ROWS_A_RANK
from rfbench.tasks.ridge.predictors import RidgeModel
from rfbench.tasks.ridge.search import Round, narrowed, rounds
from rfbench.tasks.rows import signed_targets

SOLVERS = ("auto", "cholesky", "dual", "cg")
# Features of the baseline sketch that chooses a number of the kernel: lower and upper limit.  With ohana it chooses α
# too, for every number of features and for the exact kernel [Ohana et al. 2019, D.2].
SEARCH = {"each": (64, 2048), "ohana": (10_000, 10_000)}
MOST_SEARCHED = 4096  # features of the last round, however many the trials have
CHOOSING_ROWS = 8000  # training rows on which a threshold is chosen
PHASES = ("features", "gram", "factor", "solve")  # of fitting, timed apart


@dataclass(frozen=True)
class Ridge(Task):
    """Errors on the test rows; α, and a number of the kernel that is not given, are chosen on held-out rows."""

    name = "ridge"
    several_outputs = spreads = True
    chooses = ("length_scale", "bias", "threshold")
    alpha: float | str = "auto"
    solver: str = "auto"
    tolerance: float = 1e-4
    validation: float = 0.1
    protocol: str = "each"
    intercept: bool = False
    save: bool = False

    def __post_init__(self) -> None:
        good = self.alpha == "auto" if isinstance(self.alpha, str) else 0 < self.alpha < np.inf
        require(good, "task.alpha", "auto or a number above 0", self.alpha)
        require(0 < self.tolerance < 1, "task.tolerance", "between 0 and 1", self.tolerance)
        require(0 < self.validation < 1, "task.validation", "between 0 and 1", self.validation)
        if self.solver not in SOLVERS:
            raise InputError(f"unknown task.solver '{self.solver}'; {did_you_mean(self.solver, SOLVERS)}")
        if self.protocol not in SEARCH:
            raise InputError(f"unknown task.protocol '{self.protocol}'; {did_you_mean(self.protocol, SEARCH)}")

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        unsuited = of_one_output(self.name, recipe) or no_localized(self.name, sketch)
        if self.intercept and not sketch.explicit:
            return "task.intercept is a feature, and this sketch has none; use task.intercept=false"
        objection = unsuited or super().objection(sketch, recipe) or (no_model(sketch) if self.save else None)
        if recipe.tunable and not objection:
            baseline_name(recipe.provisional(), f"kernel.{recipe.tunable}")  # or a word on what to do
        return objection

    def prepare(
        self,
        preparation: Preparation,
        split_by: Callable[[Preparation], Split],
        recipe: KernelRecipe,
        seed: int,
        engine: Engine,
    ) -> Preparation:
        """The threshold of least error on held-out rows, for the best number of the kernel  [ibid., D.1]."""
        if preparation.threshold is not None:
            return super().prepare(preparation, split_by, recipe, seed, engine)
        X, _ = split_by(preparation.until_binarize).train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))
        candidates, losses = [replace(preparation, threshold=one) for one in thresholds(X)], []
        quick = replace(self, protocol="each")
        with bar(len(candidates), "thresholds") as shown:
            for one in candidates:
                train = split_by(one).train
                if len(train) > CHOOSING_ROWS:
                    _, train = train.divided(CHOOSING_ROWS / len(train), rng_for(seed, "ridge", "threshold"))
                losses.append(quick.best(recipe, train, seed, engine)[1])
                shown.update()
        return candidates[int(np.argmin(losses))]

    def fit(self, recipe: KernelRecipe, train: Prepared, seed: int, engine: Engine, D: int | None = None) -> Kernel:
        """The candidate whose baseline features err least on held-out rows, whatever the sketch [ibid., D.2]."""
        if not recipe.tunable:
            return super().fit(recipe, train, seed, engine)
        return self.best(recipe, train, seed, engine, D)[0]

    def best(
        self, recipe: KernelRecipe, train: Prepared, seed: int, engine: Engine, D: int | None = None
    ) -> tuple[Kernel, float]:
        """The kernel of least error on held-out rows, and the error; with D features by rounds, see search.py."""
        X, _ = train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))
        candidates = recipe.candidates(X) if recipe.tunable else [super().fit(recipe, train, seed, engine)]
        least = plain_features(X.shape[1], SEARCH[self.protocol])
        sizes, beyond = [Round(least, len(train))], 0
        if D is not None and self.protocol == "each":
            sizes = rounds(max(min(D, MOST_SEARCHED), least), least, len(train))
            beyond = len(candidates) if isinstance(candidates[0], LengthScale) else 0
        with bar(None, "kernels") as shown:

            def loss(place: int, size: Round) -> float:
                found = float(self.losses(candidate(candidates, place), train, seed, engine, size).min())
                shown.update()
                return found

            place, least_loss = narrowed(loss, sizes, len(candidates), beyond)
        return candidate(candidates, place), least_loss

    def losses(self, kernel: Kernel, train: Prepared, seed: int, engine: Engine, size: Round | None = None) -> Array:
        """The errors of the baseline features on held-out rows, for every α of the grid."""
        x, _ = train.take(np.zeros(1, np.int64))
        limits = SEARCH[self.protocol] if size is None else (size.features, size.features)
        draw, n = baseline(kernel, x.shape[1], seed, x.dtype, "task.alpha", limits), size.rows if size else len(train)
        fit = replace(self._fit(train, kernel, seed, engine), alpha=None)
        return fit.search(draw, KernelEquations if n < draw.features.D else NormalEquations, n)[1]

    def _fit(self, train: Prepared, kernel: Kernel, seed: int, engine: Engine) -> RidgeFit:
        targets, dataset = Moments(), train.part.dataset
        for y in train.part.labels():
            targets.add(signed_targets(dataset, y))
        X, _ = train.sample(100, rng_for(seed, "ridge", "scale"))
        scale = float(np.mean([kernel.gram(x[None], x[None]) for x in X]))
        alpha = None if isinstance(self.alpha, str) else float(self.alpha)
        return RidgeFit(train, targets.mean, scale, alpha, self.validation, self.tolerance, seed, engine)

    def wrapped(self, sketch: Sketch, kernel: Kernel) -> Sketch:
        return WithConstant(sketch) if self.intercept else sketch

    def memory(self, size: Size) -> int:
        """Two matrices, of features or of rows; for conjugate gradients features in memory and the preconditioner."""
        solver = chosen_solver(self.solver, size, size.n)
        if solver == "cg":
            columns, rank = (size.D, SKETCHED_ROWS // ROWS_A_RANK) if size.explicit else (size.n, LANDMARKS)
            return min(size.n * columns * size.itemsize, MEMORY) + 2 * rank * columns * size.itemsize
        if solver == "dual":
            return kernel_matrix_bytes(size.n, size.D, size.wide) + size.n * size.n * size.wide
        return (2 if size.n <= PART_ROWS else 3) * size.D * size.D * size.wide

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> RidgeFit:
        fit = self._fit(split.train, kernel, seed, engine)
        if self.protocol == "each" or fit.alpha is not None:
            return fit
        losses = self.losses(kernel, split.train, seed, engine)
        say_edge(least(losses), losses, f"{kernel.name} kernel, seed {seed}")
        return replace(fit, alpha=least(losses))

    def measure(self, trial: Trial, reference: RidgeFit) -> Iterator[Measure]:
        fit, draw = replace(reference, watch=Stopwatch()), trial.drawn()
        start = perf_counter()
        found = fit(draw, self.solver)
        fitted, classes = perf_counter(), trial.split.test.part.dataset.classes
        yield from (Measure(*one) for one in fit.scores(found.f, trial.split.test)[0].measures(classes))
        predicted = perf_counter()
        if self.save:
            trial.keep_model(RidgeModel.of(found.f, draw, fit.shift))
        yield Measure("alpha", found.alpha, message=edge(found.losses))
        if len(found.losses):
            say_edge(found.alpha, found.losses, f"{trial.name}, {trial.D} features, seed {trial.seed}")
            best = float(found.losses.min())
            yield Measure("validation_error" if classes else "validation_rmse", best)
            trial.show(GRIDS, np.stack([GRID, found.losses]), best)
        yield Measure("fit_seconds", fitted - start, "s")
        yield from (Measure(f"{phase}_seconds", fit.watch[phase], "s") for phase in PHASES if phase in fit.watch)
        if found.steps:
            yield Measure("iterations", found.steps)
        yield Measure("predict_seconds", predicted - fitted, "s")


def candidate(candidates: Sequence[Kernel], place: int) -> Kernel:
    """The kernel at a place; beyond the ends a length scale goes on in the same steps."""
    if 0 <= place < len(candidates):
        return candidates[place]
    first, second = candidates[:2]
    assert isinstance(first, LengthScale)
    assert isinstance(second, LengthScale)
    return replace(first, length_scale=first.length_scale * (second.length_scale / first.length_scale) ** place)


def say_edge(alpha: float, losses: Array, where: str) -> None:
    """Say that a minimum at the end of the grid need not be one."""
    if end := edge(losses):
        print(f"rfbench: ridge, {where}: alpha={alpha:.1g} is {end}; others need task.alpha", file=sys.stderr)
