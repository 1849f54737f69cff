"""Gaussian process classification in closed form [Milios et al. 2018; Wacker 2022, B.3.4].

Class c of a row has the label y = 1 if it is its class, else 0, which becomes a number with its own noise:

    ỹ = log(y + α) − s²/2,      s² = log(1/(y + α) + 1)                                                     (1)

so each of the C regressions has two labels and two noises.  Labels are centred by the logarithm of the class prior
and by the mean of what is left, both added again to the prediction; σ² is the variance of the centred labels unless a
number is given.  The probabilities of the classes are those of

    E softmax(f),      f_c ~ N(μ_c, σ_c²)                                                                   (2)

by `samples` draws for every row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.gram import Blocks
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, Sketch
from rfbench.storage import cached
from rfbench.tasks.base import Measure, Trial
from rfbench.tasks.baseline import VALIDATION, baseline, baseline_name
from rfbench.tasks.gp.posterior import Groups, Model, Posterior
from rfbench.tasks.gp.process import GaussianProcess, Reference, exact_reference, new_rows
from rfbench.tasks.gp.statistics import collect
from rfbench.tasks.scores import ClassScores

GRID = 10.0 ** np.arange(-5, 1)  # of α
ROWS = 128  # whose draws of f fit into the cache


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
        require(self.samples >= 1, "task.samples", "at least 1", self.samples)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        objection = super().objection(sketch, recipe)
        if not objection and self.alpha == "auto":
            baseline_name(recipe.provisional(), "task.alpha")  # or a word on what to do
        return objection

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> Reference:
        counts = class_counts(split.train)
        X, y = split.train.sample(self.reference_rows, rng_for(seed, "gpc", "train"))
        if isinstance(self.alpha, str):
            features = baseline(kernel, X.shape[1], seed, X.dtype, "task.alpha")
            (chosen,) = cached(
                "alpha",
                (kernel, features.D, seed, X, y, counts, self.signal, self.samples),
                lambda: (self._best_alpha(features, split.train, counts, seed, engine),),
            )
            alpha = float(chosen)
        else:
            alpha = float(self.alpha)
        model, shift = dirichlet(counts, alpha, self.signal)
        subset = [partial(rows_of_class, X, y, c) for c in range(len(counts))]
        X_test, _ = split.test.sample(self.reference_rows, rng_for(seed, "gpc", "test"))
        return exact_reference(kernel, subset, X_test, model, shift, Measure("alpha", alpha), engine)

    def groups(self, train: Prepared, shift: Array) -> Groups:
        return [partial(blocks_of_class, train, c) for c in range(len(shift))]

    def score(self, posterior: Posterior, test: Prepared, reference: Reference, trial: Trial) -> Iterator[Measure]:
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

    def _best_alpha(self, features: FeatureMap, train: Prepared, counts: Array, seed: int, engine: Engine) -> Array:
        """The α of least MNLL on rows that were left out; the Gram matrices serve all of them."""
        rest, left_out = train.divided(VALIDATION, rng_for(seed, "gpc", "validation"))
        evidence = collect(features, self.groups(rest, counts), len(rest), engine, Stopwatch())
        losses = []
        for alpha in GRID:
            model, shift = dirichlet(counts, alpha, self.signal)
            posterior = evidence.posterior(model, engine, Stopwatch())
            losses.append(self._scores(posterior, left_out, shift, seed, engine).mnll)
        return GRID[np.argmin(losses)]


def class_counts(train: Prepared) -> Array:
    dataset = train.part.dataset
    if dataset.classes is None:
        raise InputError(f"task=gpc needs classes, and dataset '{dataset.name}' has numbers to predict; use task=gpr")
    return np.sum([np.bincount(y, minlength=dataset.classes) for y in train.part.labels()], axis=0)


def blocks_of_class(train: Prepared, label: int) -> Blocks:
    return ((X, np.ones(len(X))) for X, _ in train.blocks(label))


def rows_of_class(X: Array, y: Array, label: int) -> Blocks:
    return [(X[y == label], np.ones(np.sum(y == label)))]


def dirichlet(counts: Array, alpha: float, signal: float | str) -> tuple[Model, Array]:
    """Equation (1): precisions and centred labels of all classes, and what was taken from the labels."""
    y = np.eye(len(counts)) + alpha
    noise = np.log(1 / y + 1)
    labels = np.log(y) - noise / 2
    prior = counts / counts.sum()
    shift = np.log(np.maximum(counts, 1) / counts.sum())
    shift = shift + np.mean((labels - shift[:, None]) @ prior)  # the mean over rows, which have classes by the prior
    labels = labels - shift[:, None]
    variance = float(np.mean(labels**2 @ prior))
    return Model(1 / noise, labels, variance if isinstance(signal, str) else float(signal)), shift


def log_probabilities(mean: Array, variance: Array, samples: int, key: tuple[int, int], engine: Engine) -> Array:
    """Logarithms of (2), each row with draws of its own."""

    def block(rows: slice) -> Array:
        rng = rng_for(key[0], "gpc", "softmax", key[1] + rows.start)
        # Draws along the last axis: every operation, those over the classes too, runs along memory.
        f = rng.standard_normal((mean.shape[1], rows.stop - rows.start, samples), np.float32)
        f *= np.sqrt(variance[rows].T[..., None]).astype(np.float32)
        f += mean[rows].T[..., None].astype(np.float32)
        f -= f.max(0)
        f -= np.log(np.exp(f).sum(0))  # the logarithm of the softmax
        most = f.max(2, keepdims=True)
        return (most[..., 0] + np.log(np.exp(f - most).mean(2, dtype=np.float64))).T

    return np.concatenate(list(engine.map(block, spans(len(mean), ROWS))))
