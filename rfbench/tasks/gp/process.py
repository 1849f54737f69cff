"""What Gaussian process regression and classification share: features in place of the kernel.

Errors and likelihoods are those of all test rows.  The divergence from the exact process compares both fitted to the
same `reference_rows` training rows, at as many test rows; the kernel error uses these test rows too.  The
regularisation is chosen once for a dataset, kernel and seed, whatever the sketch [Wacker 2022, 5.4.1].
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.cache import cached
from rfbench.checks import require
from rfbench.datasets.prepare import Prepared
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.gram import kernel_matrix_bytes
from rfbench.linalg.spill import MEMORY
from rfbench.linalg.tiles import MOST_ROWS
from rfbench.results.pictures import POSTERIORS
from rfbench.sketches import FeatureMap, Sketch, make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.base import Measure, Size, Task, Trial, of_one_output
from rfbench.tasks.gp.posterior import Model, Posterior, ProcessModel
from rfbench.tasks.gp.statistics import Groups, collect
from rfbench.tasks.kernel_error import deviation, exact_matrix
from rfbench.tasks.model import Fitted, no_model
from rfbench.tasks.rows import PREDICTED_ROWS
from rfbench.tasks.scores import kl

PHASES = ("features", "gram", "factor")  # of fitting, timed apart


@dataclass(frozen=True, eq=False)
class ExactProcess:
    """The exact process fitted to a subset of the training rows, and the numbers that all sketches share."""

    subset: Groups
    X_test: Array
    K_test: Array
    model: Model
    shift: Array  # subtracted from the labels of each output
    chosen: Measure  # the regularisation
    mean: Array  # of f at the test rows, without the shift
    variance: Array


@dataclass(frozen=True)
class GaussianProcess(Task):
    """Signal is σ² of the kernel, in units of labels²."""

    measurements = predicts_rows = spreads = shares_reference = True
    signal: float | str = "label_variance"
    reference_rows: int = 5000
    save: bool = False

    def __post_init__(self) -> None:
        rows = self.reference_rows
        require(2 <= rows <= MOST_ROWS, "task.reference_rows", f"from 2 to {MOST_ROWS}", rows)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        unsuited = of_one_output(self.name, recipe) or super().objection(sketch, recipe)
        return unsuited or (no_model(sketch) if self.save else None)

    def memory(self, size: Size) -> int:
        """Two matrices and a factor, of features or of rows; or those of the exact process."""
        by_rows, subset = not size.explicit or size.n < size.D, min(self.reference_rows, size.n)
        side, precision = (size.n, size.wide) if by_rows else (size.D, size.itemsize)
        factor = min(side * side * precision // 2, MEMORY)
        sums = kernel_matrix_bytes(side, size.D, size.wide) if by_rows else side * side * size.wide
        return max(sums + side * side * size.wide + factor, 20 * subset * subset)

    @abstractmethod
    def groups(self, train: Prepared, shift: Array) -> Groups:
        """The training rows in groups, with the labels that the model sees."""

    @abstractmethod
    def score(self, posterior: Posterior, test: Prepared, reference: ExactProcess, trial: Trial) -> Iterator[Measure]:
        """The measures of all test rows."""

    @abstractmethod
    def fitted(self, process: ProcessModel, reference: ExactProcess, seed: int) -> Fitted:
        """The model as it is saved."""

    def measure(self, trial: Trial, reference: ExactProcess) -> Iterator[Measure]:
        draw, train, engine = trial.drawn(), trial.split.train, trial.engine
        features, groups = draw.features, self.groups(train, reference.shift)
        start = perf_counter()
        statistics = collect(draw, groups, engine)
        posterior = statistics.posterior(reference.model, engine)
        fitted = perf_counter()
        yield from list(self.score(posterior, trial.split.test, reference, trial))
        predicted = perf_counter()
        if self.save:
            trial.keep_model(self.fitted(ProcessModel.of(posterior, draw), reference, trial.seed))
        yield reference.chosen

        jitter = posterior.jitter
        if len(train) > sum(map(len, reference.subset)):
            posterior = collect(draw, reference.subset, engine).posterior(reference.model, engine)
        yield divergence(posterior, trial, reference)
        if not features.recentred:  # the kernel of a test row and any other is exact
            yield from kernel_errors(features, reference, engine)
        if features.experts:
            yield Measure("clusters", len(features.experts))
        if jitter := max(jitter, posterior.jitter):
            yield Measure("jitter", jitter)
        yield Measure("fit_seconds", fitted - start, "s")
        for phase in () if features.recentred else PHASES:  # there fitting is a part of predicting
            yield Measure(f"{phase}_seconds", statistics.watch[phase], "s")
        yield Measure("predict_seconds", predicted - fitted, "s")


def divergence(posterior: Posterior, trial: Trial, reference: ExactProcess) -> Measure:
    """The mean divergence from the exact process; of one output on a line or a plane it is shown too."""
    mean, variance = predictions(posterior, reference.X_test, trial.engine)
    found = float(kl(mean, variance, reference.mean, reference.variance).mean())
    if reference.X_test.shape[1] <= 2 and len(reference.shift) == 1:
        columns = [reference.X_test, reference.mean, reference.variance, mean, variance]
        trial.show(POSTERIORS, np.hstack(columns).astype(np.float32), found)
    reason = "infinite: the variance at a test row is 0, for instance because its features vanish"
    return Measure("kl", found, message=reason if found == np.inf else "")


def kernel_errors(features: FeatureMap, reference: ExactProcess, engine: Engine) -> Iterator[Measure]:
    """The error of the kernel matrix of the test rows, its real part and, of complex features, both parts."""
    error, imaginary, _ = deviation(features, reference.X_test, reference.K_test, engine)
    squared, scale = np.vdot(error, error), np.linalg.norm(reference.K_test)
    yield Measure("rel_frobenius", float(np.sqrt(squared) / scale))
    if imaginary is not None:
        squared += np.vdot(imaginary, imaginary)
        yield Measure("rel_frobenius_complex", float(np.sqrt(squared) / scale))


def exact_process(
    kernel: Kernel, subset: Groups, X_test: Array, model: Model, shift: Array, chosen: Measure, engine: Engine
) -> ExactProcess:
    """Fit the exact process, or read it from the cache."""
    rows = [array for group in subset for block in group.blocks() for array in block]

    def fit() -> tuple[Array, Array]:
        draw = Draw(make_sketch("exact", kernel), X_test.shape[1], 0, 0, (), "float64")
        return predictions(collect(draw, subset, engine).posterior(model, engine), X_test, engine)

    mean, variance = cached("exact", (kernel, model.W, model.T, model.signal, X_test, *rows), fit)
    return ExactProcess(subset, X_test, exact_matrix(kernel, X_test, engine), model, shift, chosen, mean, variance)


def predictions(posterior: Posterior, X: Array, engine: Engine) -> tuple[Array, Array]:
    """Mean and variance, (n, C) each, of any number of rows."""
    found = [posterior(X[span], engine) for span in spans(len(X), PREDICTED_ROWS)]
    mean, variance = (np.concatenate(part) for part in zip(*found, strict=True))
    return mean, variance
