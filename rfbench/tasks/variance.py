"""The variance of a kernel estimate: in closed form beside Monte Carlo, and against the real sketch of its family.

The ratios over all pairs of `rows` rows, the real sketch of the family or another below, are stored as 101 quantiles:
the empirical distribution functions of Wacker 2022, Fig. 3.3, 4.1 and 4.2, and against TensorSketch, whose variance is
known by Monte Carlo only, Fig. 4.4 and 4.5.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.tasks.base import Measure, Task, Trial

DRAWS = 32  # draws to a work item
ROUNDING = 1e-12  # of k(x, x) k(y, y)
ENTRIES = 1 << 20  # of matrices k(x, y) held at once


@dataclass(frozen=True)
class Variance(Task):
    """Closed form and Monte Carlo over `draws` on `pairs` pairs of test rows; ratios on all pairs of `rows` rows."""

    name = "variance"
    measurements = True
    several_outputs = True
    draws: int = 1000
    pairs: int = 100
    rows: int = 1000
    against: str = "real"  # the real sketch of the family, or the name of another

    def __post_init__(self) -> None:
        require(self.draws == 0 or self.draws >= 2, "task.draws", "0 (no Monte Carlo) or at least 2", self.draws)
        require(self.pairs >= 1, "task.pairs", "at least 1", self.pairs)
        require(2 <= self.rows <= 5000, "task.rows", "from 2 to 5000", self.rows)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if not sketch.random:
            return "task=variance needs a random sketch, and this one has no features to draw. Use task=kernel_error"
        return super().objection(sketch, recipe)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> tuple[Array, Array, Array]:
        """(rows, two rows of each pair, variances that are nothing but rounding)."""
        X, _ = split.test.sample(self.rows, rng_for(seed, "variance", "rows"))
        if len(X) < 2:
            raise InputError("task=variance needs pairs of test rows, and there is one row. Use a larger data set")
        i, j = np.triu_indices(len(X), 1)
        most = max(ENTRIES // kernel.size(X.shape[1]) ** 2, 1)
        which = rng_for(seed, "variance", "pairs").choice(len(i), min(self.pairs, most, len(i)), replace=False)
        diagonal = np.array([np.trace(kernel.gram(x[None], x[None])) for x in X])
        return X, np.array([i[which], j[which]]), ROUNDING * np.outer(diagonal, diagonal)

    def measure(self, trial: Trial, reference: tuple[Array, Array, Array]) -> Iterator[Measure]:
        X, (i, j), tiny = reference
        sketch, form = trial.sketch, trial.sketch.closed_form
        exact = form.variance(X, X, trial.D) if form else None
        if exact is not None:
            yield Measure("variance_closed_form", float(exact[i, j].mean()))
        if (surrogate := sketch.surrogate_variance(X, (i, j), trial.D)) is not None:
            yield Measure("variance_surrogate", surrogate)
        if self.draws:
            empirical = self._monte_carlo(trial, X, i, j)
            yield Measure("variance_empirical", float(empirical.mean()))
            if exact is not None and (there := (exact > tiny)[i, j]).any():
                yield Measure("empirical_over_closed_form", float(np.mean(empirical[there] / exact[i, j][there])))
        if exact is not None and trial.real_twin:
            if other := trial.real_twin.closed_form:
                yield from ratios(self.against, exact, other.variance(X, X, trial.D), tiny)
            elif self.draws:
                yield from ratios(self.against, exact, self._of_all_pairs(trial, trial.real_twin, X), tiny)

    def _monte_carlo(self, trial: Trial, X: Array, i: Array, j: Array) -> Array:
        """E|k̂ − E k̂|² of each pair, from the draws."""
        rows, place = np.unique(np.concatenate((i, j)), return_inverse=True)
        X, (i, j) = X[rows], place.reshape(2, -1)
        centre = np.array([trial.kernel.gram(x[None], y[None]).ravel() for x, y in zip(X[i], X[j], strict=True)])

        def moments(draws: slice) -> tuple[Array, Array]:
            """Sums over draws of k̂ − k and of its square, which is small where k̂ is near."""
            first, second = np.zeros(centre.shape, np.complex128), np.zeros(centre.shape)
            for k in range(draws.start, draws.stop):
                features = trial.draw(k)
                Phi = features(X)
                error = features.paired(Phi[i], Phi[j]) - centre
                first += error
                second += np.abs(error) ** 2
            return first, second

        blocks = trial.engine.map(moments, spans(self.draws, DRAWS), "blocks of draws", -(-self.draws // DRAWS))
        first, second = map(sum, zip(*blocks, strict=True))
        return (second - np.abs(first) ** 2 / self.draws).sum(1) / (self.draws - 1)

    def _of_all_pairs(self, trial: Trial, sketch: Sketch, X: Array) -> Array:
        """E|k̂ − E k̂|² of another sketch by as many draws, a matrix; k̂ − k is small where k̂ is near."""
        K = trial.kernel.gram(X, X)

        def moments(draws: slice) -> tuple[Array, Array]:
            first, second = np.zeros(K.shape, np.complex128), np.zeros(K.shape)
            for k in range(draws.start, draws.stop):
                rng = rng_for(trial.seed, "variance", self.against, trial.D, k)
                features = sketch.sample(X.shape[1], trial.D, rng, X.dtype)
                Phi = features(X)
                error = features.product(Phi, Phi) - K
                first += error
                second += np.abs(error) ** 2
            return first, second

        first, second = np.zeros(K.shape, np.complex128), np.zeros(K.shape)
        count = -(-self.draws // DRAWS)
        for one, two in trial.engine.map(moments, spans(self.draws, DRAWS), f"blocks of {self.against}", count):
            first += one
            second += two
        return (second - np.abs(first) ** 2 / self.draws) / (self.draws - 1)


def ratios(name: str, variance: Array, other: Array, tiny: Array) -> Iterator[Measure]:
    """Over all pairs for which the other sketch has a variance."""
    there = np.triu(other > tiny, 1)
    if there.any():
        values = variance[there] / other[there]
        yield Measure(f"ratio_to_{name}_below_1", float(np.mean(values < 1)))
        for percent, value in enumerate(np.quantile(values, np.linspace(0, 1, 101))):
            yield Measure(f"ratio_to_{name}_q{percent:03d}", float(value))
