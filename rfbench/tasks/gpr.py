"""Gaussian process regression with features in place of the kernel [Wacker 2022, 1.2, 5.4.1 and B.3].

Labels are centred on the training rows; k = σ² k₀ with σ² their variance unless a number is given.  The error and
the likelihood are of all rows; the divergence from the exact process is of both fitted to the same `reference_rows`
training rows, at as many test rows.  The noise is chosen once for a data set, kernel and seed, whatever the sketch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Columns, Prepared, Split
from rfbench.engines import Local
from rfbench.kernels import Kernel
from rfbench.seeds import rng_for
from rfbench.sketches.exact import ExactMap
from rfbench.tasks.base import Measure, Task, Trial
from rfbench.tasks.exact_gp import GRID, choose_noise
from rfbench.tasks.scores import Scores, kl
from rfbench.tasks.solve import Dual, Primal, fit, sliced
from rfbench.tasks.tiles import MOST_ROWS

Array = NDArray[Any]
AT_ONCE = 4096  # test rows


@dataclass(frozen=True, eq=False)
class Reference:
    """The exact process on a subset, and the numbers that all sketches share."""

    X: Array
    y: Array  # centred
    X_test: Array
    mean: Array  # of f, centred, at the test rows
    variance: Array
    shift: float  # the mean of the training labels
    signal: float
    noise: float


@dataclass(frozen=True)
class GPR(Task):
    """Error, likelihood and divergence from the exact process; noise and signal are variances in units of labels²."""

    name = "gpr"
    noise: float | str = "auto"
    signal: float | str = "label_variance"
    reference_rows: int = 2000

    def __post_init__(self) -> None:
        for key, word in (("noise", "auto"), ("signal", "label_variance")):
            value = getattr(self, key)
            good = value == word or (not isinstance(value, str) and 0 < value < np.inf)
            require(good, f"task.{key}", f"{word} or a number above 0", value)
        require(
            2 <= self.reference_rows <= MOST_ROWS, "task.reference_rows", f"from 2 to {MOST_ROWS}", self.reference_rows
        )

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Local) -> Reference:
        dataset = split.train.part.dataset
        if dataset.classes is not None:
            raise InputError(
                f"task=gpr needs numbers to predict, and dataset '{dataset.name}' has classes; use dataset=diabetes"
            )
        X, y, labels = survey(split.train, self.reference_rows, rng_for(seed, "gpr", "train"))
        shift, variance = float(labels.mean), float(labels.squares / labels.n)
        if not 0 < variance < np.inf:
            raise InputError(f"task=gpr needs labels that differ and are finite; those of '{dataset.name}' are not")
        signal = variance if isinstance(self.signal, str) else float(self.signal)
        y = y - shift
        if isinstance(self.noise, str):
            noise = choose_noise(kernel, X, y, signal, variance * GRID, rng_for(seed, "gpr", "validation"))
        else:
            noise = float(self.noise)
        X_test = split.test.sample(self.reference_rows, rng_for(seed, "gpr", "test"))
        exact = fit(ExactMap(kernel, X.shape[1], np.float64), [(X, y)], len(X), signal, noise, engine)
        return Reference(X, y, X_test, *exact(X_test, engine), shift, signal, noise)

    def measure(self, trial: Trial, reference: Reference) -> Iterator[Measure]:
        ref, train, engine, features = reference, trial.split.train, trial.engine, trial.draw(0)
        start = perf_counter()
        centred = ((X, y - ref.shift) for X, y in train.blocks())
        posterior = fit(features, centred, len(train), ref.signal, ref.noise, engine)
        fitted = perf_counter()
        scores = predict(posterior, trial.split.test, ref, engine)
        predicted = perf_counter()
        jitter = posterior.factor.jitter
        if len(train) > len(ref.X):
            posterior = fit(features, [(ref.X, ref.y)], len(ref.X), ref.signal, ref.noise, engine)
        divergence = kl(*posterior(ref.X_test, engine), ref.mean, ref.variance)

        yield Measure("rmse", np.sqrt(scores.mse))
        yield Measure("nmse", scores.nmse)
        yield Measure("mnll", scores.mnll)
        yield Measure("kl", float(divergence.mean()))
        yield Measure("noise_variance", ref.noise)
        if jitter := max(jitter, posterior.factor.jitter):
            yield Measure("jitter", jitter)
        yield Measure("fit_seconds", fitted - start, "s")
        yield Measure("predict_seconds", predicted - fitted, "s")


def predict(posterior: Primal | Dual, test: Prepared, reference: Reference, engine: Local) -> Scores:
    scores = Scores()
    for X, y in sliced(test.blocks(), AT_ONCE):
        mean, variance = posterior(X, engine)
        scores.add(y, mean + reference.shift, variance + reference.noise)
    return scores


def survey(part: Prepared, count: int, rng: np.random.Generator) -> tuple[Array, Array, Columns]:
    """At most `count` rows with their labels, drawn without replacement, and the moments of all labels: one pass."""
    which = np.sort(rng.choice(len(part), min(count, len(part)), replace=False))
    labels, rows, seen = Columns(), [], 0
    for X, y in part.blocks():
        labels.add(y)
        low, high = np.searchsorted(which, (seen, seen + len(X)))
        rows.append((X[which[low:high] - seen], y[which[low:high] - seen]))
        seen += len(X)
    X, y = (np.concatenate(column) for column in zip(*rows, strict=True))
    return X, y, labels
