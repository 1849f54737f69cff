"""Classification and regression by ridge regression on features [Ohana et al. 2019, 4 and D]."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.moments import Moments
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.progress import bar
from rfbench.results.pictures import GRIDS
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.tasks.base import KERNEL_ROWS, Measure, Task, Trial, no_localized, of_one_output
from rfbench.tasks.baseline import baseline, baseline_name
from rfbench.tasks.ridge.direct import NormalEquations
from rfbench.tasks.ridge.fit import GRID, RidgeFit
from rfbench.tasks.rows import signed_targets

SOLVERS = ("auto", "cholesky", "dual", "cg")
SEARCH = 64, 2048  # features of the baseline sketch that chooses a number of the kernel: lower and upper limit
PHASES = ("features", "gram", "factor", "solve")  # of fitting, timed apart


@dataclass(frozen=True)
class Ridge(Task):
    """Errors on the test rows; α, and a number of the kernel that is not given, are chosen on held-out rows."""

    name = "ridge"
    several_outputs = True
    chooses = ("length_scale", "bias")
    alpha: float | str = "auto"
    solver: str = "auto"
    tolerance: float = 1e-4
    validation: float = 0.1

    def __post_init__(self) -> None:
        good = self.alpha == "auto" if isinstance(self.alpha, str) else 0 < self.alpha < np.inf
        require(good, "task.alpha", "auto or a number above 0", self.alpha)
        require(0 < self.tolerance < 1, "task.tolerance", "between 0 and 1", self.tolerance)
        require(0 < self.validation < 1, "task.validation", "between 0 and 1", self.validation)
        if self.solver not in SOLVERS:
            raise InputError(f"unknown task.solver '{self.solver}'; {did_you_mean(self.solver, SOLVERS)}")

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        unsuited = of_one_output(self.name, recipe) or no_localized(self.name, sketch)
        objection = unsuited or super().objection(sketch, recipe)
        if recipe.tunable and not objection:
            baseline_name(recipe.provisional(), f"kernel.{recipe.tunable}")  # or a word on what to do
        return objection

    def fit(self, recipe: KernelRecipe, train: Prepared, seed: int, engine: Engine) -> Kernel:
        """The candidate whose baseline features err least on held-out rows, whatever the sketch [ibid., D.2]."""
        if not recipe.tunable:
            return super().fit(recipe, train, seed, engine)
        X, _ = train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))
        candidates, losses = recipe.candidates(X), []
        with bar(len(candidates), "kernels") as shown:
            for one in candidates:
                features = baseline(one, X.shape[1], seed, X.dtype, f"kernel.{recipe.tunable}", SEARCH)
                losses.append(
                    replace(self._fit(train, one, seed, engine), alpha=None).search(features, NormalEquations)[1].min()
                )
                shown.update()
        return candidates[int(np.argmin(losses))]

    def _fit(self, train: Prepared, kernel: Kernel, seed: int, engine: Engine) -> RidgeFit:
        targets, dataset = Moments(), train.part.dataset
        for y in train.part.labels():
            targets.add(signed_targets(dataset, y))
        X, _ = train.sample(100, rng_for(seed, "ridge", "scale"))
        scale = float(np.mean([kernel.gram(x[None], x[None]) for x in X]))
        alpha = None if isinstance(self.alpha, str) else float(self.alpha)
        return RidgeFit(train, targets.mean, scale, alpha, self.validation, self.tolerance, seed, engine)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> RidgeFit:
        return self._fit(split.train, kernel, seed, engine)

    def measure(self, trial: Trial, reference: RidgeFit) -> Iterator[Measure]:
        fit, draw = replace(reference, watch=Stopwatch()), trial.plan(0)
        _ = draw.features  # drawn before the clock starts
        start = perf_counter()
        found = fit(draw, self.solver)
        fitted, classes = perf_counter(), trial.split.test.part.dataset.classes
        yield from (Measure(*one) for one in fit.scores(found.f, trial.split.test)[0].measures(classes))
        predicted = perf_counter()
        yield Measure("alpha", found.alpha)
        if len(found.losses):
            best = float(found.losses.min())
            yield Measure("validation_error" if classes else "validation_rmse", best)
            trial.show(GRIDS, np.stack([GRID, found.losses]), best)
        yield Measure("fit_seconds", fitted - start, "s")
        yield from (Measure(f"{phase}_seconds", fit.watch[phase], "s") for phase in PHASES if phase in fit.watch)
        if found.steps:
            yield Measure("iterations", found.steps)
        yield Measure("predict_seconds", predicted - fitted, "s")
