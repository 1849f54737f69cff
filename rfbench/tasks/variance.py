"""The variance of a kernel estimate: in closed form beside Monte Carlo, and against the real sketch of its family.

The ratios of closed forms over all pairs of `rows` rows, real sketch below, are stored as 101 quantiles: the
empirical distribution functions of Wacker 2022, Fig. 3.3, 4.1 and 4.2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Split
from rfbench.engines import Local
from rfbench.kernels import Kernel
from rfbench.seeds import rng_for
from rfbench.sketches import ClosedForm, Sketch
from rfbench.sketches.exact import Exact, Identity
from rfbench.tasks.base import Measure, Task, Trial

Array = NDArray[Any]
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

    def __post_init__(self) -> None:
        require(self.draws == 0 or self.draws >= 2, "task.draws", "0 (no Monte Carlo) or at least 2", self.draws)
        require(self.pairs >= 1, "task.pairs", "at least 1", self.pairs)
        require(2 <= self.rows <= 5000, "task.rows", "from 2 to 5000", self.rows)

    def objection(self, sketch: Sketch, kernel: Kernel) -> str | None:
        if isinstance(sketch, Exact | Identity):
            return "task=variance needs a random sketch, and this one has no features to draw. Use task=kernel_error"
        return super().objection(sketch, kernel)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Local) -> tuple[Array, Array, Array]:
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
        sketch = trial.sketch
        exact = sketch.variance(X, X, trial.D) if isinstance(sketch, ClosedForm) else None
        if exact is not None:
            yield Measure("variance_closed_form", float(exact[i, j].mean()))
        if self.draws:
            empirical = self._monte_carlo(trial, X, i, j)
            yield Measure("variance_empirical", float(empirical.mean()))
            if exact is not None and (there := (exact > tiny)[i, j]).any():
                ratios = empirical[there] / exact[i, j][there]
                yield Measure("empirical_over_closed_form", float(ratios.mean()))
        if exact is not None and isinstance(trial.real_twin, ClosedForm):
            yield from ratios_to_real(exact, trial.real_twin.variance(X, X, trial.D), tiny)

    def _monte_carlo(self, trial: Trial, X: Array, i: Array, j: Array) -> Array:
        """E|k̂ − E k̂|² of each pair, from the draws."""
        rows, place = np.unique(np.concatenate((i, j)), return_inverse=True)
        X, (i, j) = X[rows], place.reshape(2, -1)
        centre = np.array([trial.kernel.gram(x[None], y[None]).ravel() for x, y in zip(X[i], X[j], strict=True)])

        def moments(span: tuple[int, int]) -> tuple[Array, Array]:
            """Sums over draws of k̂ − k and of its square, which is small where k̂ is near."""
            first, second = np.zeros(centre.shape, np.complex128), np.zeros(centre.shape)
            for k in range(*span):
                features = trial.draw(k)
                Phi = features(X)
                error = features.paired(Phi[i], Phi[j]) - centre
                first += error
                second += np.abs(error) ** 2
            return first, second

        blocks = trial.engine.map(moments, spans(self.draws, DRAWS), "blocks of draws", -(-self.draws // DRAWS))
        first, second = map(sum, zip(*blocks, strict=True))
        return (second - np.abs(first) ** 2 / self.draws).sum(1) / (self.draws - 1)


def ratios_to_real(variance: Array, real: Array, tiny: Array) -> Iterator[Measure]:
    """Over all pairs for which the real sketch has a variance."""
    there = np.triu(real > tiny, 1)
    if there.any():
        ratios = variance[there] / real[there]
        yield Measure("ratio_to_real_below_1", float(np.mean(ratios < 1)))
        for percent, value in enumerate(np.quantile(ratios, np.linspace(0, 1, 101))):
            yield Measure(f"ratio_to_real_q{percent:03d}", float(value))
