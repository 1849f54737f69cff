"""Stochastic variational classification: features are computed anew for every minibatch [Wacker 2022, 4.3, Fig. 4.7].

It shows the price of features where they are the bottleneck: test error against training time, epoch by epoch.  γ and ν
of (γ⟨x, y⟩ + ν)ᵖ are learned with the weights, through the features.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import cast

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import require
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.kernels.polynomial import AffinePower
from rfbench.progress import bar
from rfbench.seeds import rng_for
from rfbench.sketches import AffineMap, Sketch
from rfbench.tasks.base import Measure, Task, Trial
from rfbench.tasks.gp.classification import class_counts, log_probabilities
from rfbench.tasks.gp.variational import Adam, Weights, affine_map, bound_gradient, likelihood, start
from rfbench.tasks.rows import new_rows
from rfbench.tasks.scores import ClassScores

MOST = 100_000  # epochs, rows of a minibatch, or draws
STEP_ROWS = 250  # of a minibatch, computed at once by one worker


@dataclass(frozen=True)
class GPCSVI(Task):
    """Adam on minibatches of `batch` rows with `draws` draws of f for each row."""

    name = "gpc_svi"
    epochs: int = 20
    batch: int = 1000
    rate: float = 1e-3
    draws: int = 50
    samples: int = 1000  # of the class probabilities of a test row

    def __post_init__(self) -> None:
        for key in ("epochs", "batch", "draws", "samples"):
            require(getattr(self, key) >= 1, f"task.{key}", "at least 1", getattr(self, key))
            require(getattr(self, key) <= MOST, f"task.{key}", f"at most {MOST:,}", getattr(self, key))
        require(0 < self.rate <= 1, "task.rate", "above 0 and at most 1", self.rate)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        kernel = recipe.provisional()
        bias = kernel.affine[2] if isinstance(kernel, AffinePower) else 0
        if not (bias and sketch.factored):
            return (
                "task=gpc_svi learns γ and ν of the polynomial kernel: it needs kernel.bias above 0 and a product "
                "sketch or TensorSketch, such as sketch=ctr_tensorsrht or sketch=tensorsketch"
            )
        if sketch.is_complex:
            return "task=gpc_svi learns with real features; use the ctr_ form of this sketch"
        return super().objection(sketch, recipe)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> int:
        """The number of classes."""
        return len(class_counts(split.train, self.name))

    def measure(self, trial: Trial, reference: int) -> Iterator[Measure]:
        train, features = trial.split.train, cast(AffineMap, trial.draw(0))  # see objection
        weights = start(features.D, reference, features.gamma, features.bias, features.dtype)
        ascent, seconds = Adam(self.rate), 0.0
        history: list[tuple[int, float, float]] = []
        total = self.epochs * -(-len(train) // self.batch)
        with bar(total, "steps") as shown:
            for epoch in range(1, self.epochs + 1):
                begin = perf_counter()
                for step, (X, y) in enumerate(self._batches(train, trial.seed, epoch)):
                    ascent.step(weights, self._gradient(trial, features, weights, X, y, (epoch, step)))
                    shown.update()
                seconds += perf_counter() - begin
                if not all(np.isfinite(array).all() for array in weights.arrays()):
                    raise ArithmeticError(f"the weights diverged in epoch {epoch}; use a smaller task.rate")
                scores = self._scores(affine_map(features, weights), weights, trial)
                history.append((epoch, scores.error, seconds))
        epochs, errors, times = np.array(history).T
        trial.curve("error", epochs, errors)
        trial.curve("seconds", epochs, times)
        yield Measure("error", scores.error)
        yield Measure("mnll", scores.mnll)
        yield Measure("calibration_error", scores.calibration_error)
        for name, value in zip(("gamma", "bias"), np.exp(weights.kernel).tolist(), strict=True):
            yield Measure(name, value)
        yield Measure("fit_seconds", seconds, "s")

    def _batches(self, train: Prepared, seed: int, epoch: int) -> Iterator[tuple[Array, Array]]:
        order = rng_for(seed, "gpc_svi", "order", epoch).permutation(len(train))
        return (train.take(np.sort(order[span])) for span in spans(len(order), self.batch))

    def _gradient(
        self, trial: Trial, features: AffineMap, weights: Weights, X: Array, y: Array, key: tuple[int, int]
    ) -> Weights:
        """The gradient of the bound from one minibatch; the key names its draws."""
        now, degree = affine_map(features, weights), trial.kernel.power
        assert degree is not None

        def part(span: slice) -> Weights:
            rng = rng_for(trial.seed, "gpc_svi", "draws", *key, span.start)
            noise = rng.standard_normal((self.draws, span.stop - span.start, weights.m.shape[1]), X.dtype)
            return likelihood(now, degree, weights, X[span], y[span], noise)

        parts = list(trial.engine.map(part, spans(len(X), STEP_ROWS)))
        return bound_gradient(parts, weights, len(trial.split.train) / len(X))

    def _scores(self, features: AffineMap, weights: Weights, trial: Trial) -> ClassScores:
        scores, s2 = ClassScores(), np.exp(2 * weights.log_s)
        for X, y in new_rows(trial.split.test):
            Phi = trial.engine.transform(features, X, features.empty(len(X)))
            moments = Phi @ weights.m, np.square(Phi, out=Phi) @ s2
            scores.add(y, log_probabilities(*moments, self.samples, (trial.seed, scores.n), trial.engine))
        return scores
