"""Gaussian process classification in closed form [Milios et al. 2018; Wacker 2022, B.3.4].

For class c a row has the label y = 1 if it belongs to it, else 0, which becomes a number with its own noise:

    ỹ = log(y + α) − s²/2,      s² = log(1/(y + α) + 1)                                                     (1)

so each of the C regressions has two labels and two noises.  Labels are centred by the logarithm of the class prior
and by the mean of the difference, both of which are added again to the prediction; σ² is the variance of the centred
labels unless a number is given.  The probabilities of the classes are

    E softmax(f),      f_c ~ N(μ_c, σ_c²)                                                                   (2)

estimated by `samples` draws for every row.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.cache import cached
from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.gram import Drawn
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.base import Measure, Trial
from rfbench.tasks.baseline import VALIDATION, baseline, baseline_name
from rfbench.tasks.gp.posterior import Model, Posterior, ProcessModel
from rfbench.tasks.gp.process import ExactProcess, GaussianProcess, exact_process
from rfbench.tasks.gp.statistics import Groups, collect
from rfbench.tasks.model import Fitted
from rfbench.tasks.rows import Held, OfClass, new_rows
from rfbench.tasks.scores import ClassScores

GRID = 10.0 ** np.arange(-5, 1)  # values of α
SOFTMAX_ROWS = 128  # their draws of f fit into the cache


@dataclass(frozen=True)
class GPC(GaussianProcess):
    """Error, likelihood, calibration and divergence from the exact processes, averaged over the classes."""

    name = "gpc"
    alpha: float | str = "auto"
    samples: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, word in (("alpha", "auto"), ("signal", "label_variance")):
            value = getattr(self, key)
            good = value == word or (not isinstance(value, str) and 0 < value < np.inf)
            require(good, f"task.{key}", f"{word} or a number above 0", value)
        require(1 <= self.samples <= 10**6, "task.samples", "from 1 to 1,000,000", self.samples)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        objection = super().objection(sketch, recipe)
        if not objection and self.alpha == "auto":
            baseline_name(recipe.provisional(), "task.alpha")  # or a word on what to do
        return objection

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> ExactProcess:
        counts = class_counts(split.train, self.name)
        if empty := np.flatnonzero(counts == 0).tolist():
            raise InputError(
                f"task=gpc needs training rows of every class, and {len(empty)} of {len(counts)} classes have none "
                f"among {len(split.train)} rows; use more train_rows"
            )
        X, y = split.train.sample(self.reference_rows, rng_for(seed, "gpc", "train"))
        if isinstance(self.alpha, str):
            draw = baseline(kernel, X.shape[1], seed, X.dtype, "task.alpha")
            (chosen,) = cached(
                "alpha",
                (split.train.part.dataset.identity, kernel, draw.D, seed, X, y, counts, self.signal, self.samples),
                lambda: (self._best_alpha(draw, split.train, counts, seed, engine),),
            )
            alpha = float(chosen)
        else:
            alpha = float(self.alpha)
        model, shift = dirichlet(counts, alpha, self.signal)
        subset = [Held(X[y == c], np.ones(np.sum(y == c))) for c in range(len(counts))]
        X_test, _ = split.test.sample(self.reference_rows, rng_for(seed, "gpc", "test"))
        return exact_process(kernel, subset, X_test, model, shift, Measure("alpha", alpha), engine)

    def groups(self, train: Prepared, shift: Array) -> Groups:
        return [OfClass(train, c, int(n)) for c, n in enumerate(class_counts(train, self.name))]

    def fitted(self, process: ProcessModel, reference: ExactProcess, seed: int) -> Fitted:
        return ClassificationModel(process.draw, process, reference.shift, self.samples, seed)

    def score(self, posterior: Posterior, test: Prepared, reference: ExactProcess, trial: Trial) -> Iterator[Measure]:
        scores = self._scores(posterior, test, reference.shift, trial.seed, trial.engine)
        yield Measure("error", scores.error)
        yield Measure("mnll", scores.mnll)
        yield Measure("calibration_error", scores.calibration_error)

    def _scores(self, posterior: Posterior, test: Prepared, shift: Array, seed: int, engine: Engine) -> ClassScores:
        scores = ClassScores()
        for X, y in new_rows(test):
            mean, variance = posterior(X, engine)
            scores.add(y, log_probabilities(mean + shift, variance, self.samples, (seed, scores.n), engine))
        return scores

    def _best_alpha(self, draw: Drawn, train: Prepared, counts: Array, seed: int, engine: Engine) -> Array:
        """The α with the least MNLL on held-out rows; the same statistics serve all of them."""
        rest, held_out = train.divided(VALIDATION, rng_for(seed, "gpc", "validation"))
        statistics = collect(draw, self.groups(rest, counts), engine)
        losses = []
        for alpha in GRID:
            model, shift = dirichlet(counts, alpha, self.signal)
            losses.append(self._scores(statistics.posterior(model, engine), held_out, shift, seed, engine).mnll)
        return GRID[np.argmin(losses)]


@dataclass(frozen=True, eq=False)
class ClassificationModel(Fitted):
    """A fitted classification as it is saved."""

    draw: Draw
    process: ProcessModel
    shift: Array
    samples: int
    seed: int

    def __call__(self, X: Array, first: int, engine: Engine) -> dict[str, Array]:
        mean, variance = self.process(X, engine)
        most, share = softmax(mean + self.shift, variance, self.samples, (self.seed, first), engine)
        return {"outputs": most + np.log(share), "probabilities": np.exp(most) * share}


def class_counts(train: Prepared, task: str) -> Array:
    """How many training rows each class has."""
    dataset = train.part.dataset
    if dataset.classes is None:
        raise InputError(
            f"task={task} needs classes, and dataset '{dataset.name}' has numbers to predict; use task=gpr"
        )
    return np.sum([np.bincount(y, minlength=dataset.classes) for y in train.part.labels()], axis=0)


def dirichlet(counts: Array, alpha: float, signal: float | str) -> tuple[Model, Array]:
    """Equation (1): precisions and centred labels of all classes, and the shift subtracted from the labels."""
    y = np.eye(len(counts)) + alpha
    noise = np.log(1 / y + 1)
    labels = np.log(y) - noise / 2
    prior = counts / counts.sum()
    shift = np.log(np.maximum(counts, 1) / counts.sum())
    shift = shift + np.mean((labels - shift[:, None]) @ prior)  # the mean over rows
    labels = labels - shift[:, None]
    variance = float(np.mean(labels**2 @ prior))
    return Model(1 / noise, labels, variance if isinstance(signal, str) else float(signal)), shift


def log_probabilities(mean: Array, variance: Array, samples: int, key: tuple[int, int], engine: Engine) -> Array:
    """Logarithms of (2)."""
    most, share = softmax(mean, variance, samples, key, engine)
    return most + np.log(share)


def softmax(mean: Array, variance: Array, samples: int, key: tuple[int, int], engine: Engine) -> tuple[Array, Array]:
    """(2) as the logarithm of the largest draw and the mean over this draw, each row with draws of its own.

    All exponentials are in single precision, which versions of NumPy round alike; those in double precision they do
    not, and a saved model would predict other bits.
    """

    def block(rows: slice) -> tuple[Array, Array]:
        rng = rng_for(key[0], "gpc", "softmax", key[1] + rows.start)
        # Draws lie along the last axis, so every operation, also one over the classes, runs along memory.
        f = rng.standard_normal((mean.shape[1], rows.stop - rows.start, samples), np.float32)
        f *= np.sqrt(variance[rows].T[..., None]).astype(np.float32)
        f += mean[rows].T[..., None].astype(np.float32)
        f -= f.max(0)
        f -= np.log(np.exp(f).sum(0))  # the logarithm of the softmax
        most = f.max(2, keepdims=True)
        return most[..., 0].T, np.exp(f - most).mean(2, dtype=np.float64).T

    most, share = zip(*engine.map(block, spans(len(mean), SOFTMAX_ROWS)), strict=True)
    return np.concatenate(most), np.concatenate(share)
