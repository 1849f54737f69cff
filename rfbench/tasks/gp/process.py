"""What Gaussian process regression and classification share: features in the place of the kernel.

Errors and likelihoods are of all rows.  The divergence from the exact process is of both fitted to the same
`reference_rows` training rows, at as many test rows, which are those of the kernel error too.  The regularisation is
chosen once for a data set, kernel and seed, whatever the sketch [Wacker 2022, 5.4.1].
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import regrouped, spans
from rfbench.checks import require
from rfbench.datasets.prepare import Prepared
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import MOST_ROWS
from rfbench.progress import bar, with_progress
from rfbench.results.pictures import POSTERIORS
from rfbench.sketches import ExactMap, Sketch
from rfbench.storage import cached
from rfbench.tasks.base import Measure, Task, Trial, of_one_output
from rfbench.tasks.gp.posterior import Groups, Model, Posterior
from rfbench.tasks.gp.statistics import collect
from rfbench.tasks.kernel_error import deviation, exact_matrix
from rfbench.tasks.scores import kl

AT_ONCE = 4096  # test rows
PARTS = ("features", "gram", "factor")  # of the time of fitting


@dataclass(frozen=True, eq=False)
class Reference:
    """The exact process on a subset of rows, and the numbers that all sketches share."""

    subset: Groups
    n: int  # rows of the subset
    X_test: Array
    K_test: Array
    model: Model
    shift: Array  # what was taken from the labels of each output
    chosen: Measure  # the regularisation
    mean: Array  # of f, at the test rows, without the shift
    variance: Array


@dataclass(frozen=True)
class GaussianProcess(Task):
    """Signal is σ² of the kernel, in the units of labels²."""

    measurements = True
    signal: float | str = "label_variance"
    reference_rows: int = 5000

    def __post_init__(self) -> None:
        rows = self.reference_rows
        require(2 <= rows <= MOST_ROWS, "task.reference_rows", f"from 2 to {MOST_ROWS}", rows)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        return of_one_output(self.name, recipe) or super().objection(sketch, recipe)

    @abstractmethod
    def groups(self, train: Prepared, shift: Array) -> Groups:
        """The training rows as the model sees them."""

    @abstractmethod
    def score(self, posterior: Posterior, test: Prepared, reference: Reference, trial: Trial) -> Iterator[Measure]:
        """The measures of all test rows."""

    def measure(self, trial: Trial, reference: Reference) -> Iterator[Measure]:
        ref, train, engine, features, watch = reference, trial.split.train, trial.engine, trial.draw(0), Stopwatch()
        start = perf_counter()
        groups = self.groups(train, ref.shift)
        posterior = collect(features, groups, len(train), engine, watch).posterior(ref.model, engine, watch)
        fitted = perf_counter()
        yield from list(self.score(posterior, trial.split.test, ref, trial))
        predicted = perf_counter()
        yield ref.chosen

        jitter, unwatched = posterior.jitter, Stopwatch()
        if len(train) > ref.n:
            posterior = collect(features, ref.subset, ref.n, engine, unwatched).posterior(ref.model, engine, unwatched)
        found = predictions(posterior, ref.X_test, engine)
        divergence = float(kl(*found, ref.mean, ref.variance).mean())
        reason = "infinite: the variance at a test row is 0, as if its features vanish" if divergence == np.inf else ""
        yield Measure("kl", divergence, message=reason)
        if ref.X_test.shape[1] <= 2 and len(ref.shift) == 1:
            shown = np.hstack([ref.X_test, ref.mean, ref.variance, *found]).astype(np.float32)
            trial.show(POSTERIORS, shown, divergence)
        error, imaginary, _ = deviation(features, ref.X_test, ref.K_test, engine)
        squared, scale = np.vdot(error, error), np.linalg.norm(ref.K_test)
        yield Measure("rel_frobenius", float(np.sqrt(squared) / scale))
        if imaginary is not None:
            squared += np.vdot(imaginary, imaginary)
            yield Measure("rel_frobenius_complex", float(np.sqrt(squared) / scale))
        if features.experts:
            yield Measure("clusters", len(features.experts))
        if jitter := max(jitter, posterior.jitter):
            yield Measure("jitter", jitter)
        yield Measure("fit_seconds", fitted - start, "s")
        for part in PARTS:
            yield Measure(f"{part}_seconds", watch[part], "s")
        yield Measure("predict_seconds", predicted - fitted, "s")


def exact_reference(
    kernel: Kernel, subset: Groups, X_test: Array, model: Model, shift: Array, chosen: Measure, engine: Engine
) -> Reference:
    """Fit the exact process, unless this machine has done so before."""
    rows = [block for group in subset for block in group()]
    n = sum(len(X) for X, _ in rows)
    depends_on = (kernel, model.W, model.T, model.signal, X_test, *(array for block in rows for array in block))

    def make() -> tuple[Array, Array]:
        watch = Stopwatch()
        evidence = collect(ExactMap(kernel, X_test.shape[1], np.float64), subset, n, engine, watch)
        return predictions(evidence.posterior(model, engine, watch), X_test, engine)

    mean, variance = cached("exact", depends_on, make)
    return Reference(subset, n, X_test, exact_matrix(kernel, X_test, engine), model, shift, chosen, mean, variance)


def predictions(posterior: Posterior, X: Array, engine: Engine) -> tuple[Array, Array]:
    """Mean and variance, (n, C) each, of any number of rows."""
    found = [posterior(X[span], engine) for span in spans(len(X), AT_ONCE)]
    mean, variance = (np.concatenate(part) for part in zip(*found, strict=True))
    return mean, variance


def new_rows(part: Prepared) -> Iterator[tuple[Array, Array]]:
    """(X, y) of all rows to predict, AT_ONCE in a block, with a bar."""
    with bar(len(part), "new rows", " rows") as shown:
        yield from with_progress(regrouped(part.blocks(), AT_ONCE), shown)
