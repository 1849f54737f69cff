"""The variance of a kernel estimate: in closed form beside Monte Carlo, and relative to the real sketch of its family.

The curve `ratio_to_…` has 101 quantiles of Var(sketch)/Var(other) over all pairs of `rows` rows, where the other sketch
is the real one of the family or the one that `against` names: the empirical distribution functions of Wacker 2022,
Fig. 3.3, 4.1 and 4.2.

The variance of a matrix-valued estimate is the trace of its covariance E(K̂ − K)², whose spectral norm is measured too,
beside its bound by Brault et al. 2016, Proposition 3.1 (ibid., Fig. 6).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

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

DRAWS = 32  # draws per work item
MOST_DRAWS = 10**7  # the deviation of a variance is then below a thousandth of it
ROUNDING = 1e-12  # of k(x, x) k(y, y)
ENTRIES = 1 << 20  # entries of the matrices k(x, y) in memory at once
LEVELS = np.arange(101) / 100  # of the quantiles


@dataclass(frozen=True)
class Variance(Task):
    """Closed form and Monte Carlo over `draws` on `pairs` pairs of test rows; ratios on all pairs of `rows` rows."""

    name = "variance"
    several_outputs = measurements = indefinite = True
    draws: int = 1000
    pairs: int = 100
    rows: int = 1000
    against: str = "real"  # the real sketch of the family, or the name of another

    def __post_init__(self) -> None:
        good = self.draws == 0 or 2 <= self.draws <= MOST_DRAWS
        require(good, "task.draws", f"0 (no Monte Carlo), or from 2 to {MOST_DRAWS:,}", self.draws)
        require(self.pairs >= 1, "task.pairs", "at least 1", self.pairs)
        require(2 <= self.rows <= 5000, "task.rows", "from 2 to 5000", self.rows)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if not sketch.random:
            return "task=variance needs a random sketch, and this one is deterministic; use task=kernel_error"
        return super().objection(sketch, recipe)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> tuple[Array, Array, Array]:
        """(rows, the two rows of each pair, variances below which there is only rounding)."""
        X, _ = split.test.sample(self.rows, rng_for(seed, "variance", "rows"))
        if len(X) < 2:
            raise InputError("task=variance needs pairs of test rows, and there is only one row; use a larger dataset")
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
        if form and form.norm_bound:
            bounds = [form.norm_bound(X[[a]], X[[b]], trial.D) for a, b in zip(i, j, strict=True)]
            yield Measure("variance_norm_bound", float(np.mean(bounds)))
        if (surrogate := sketch.surrogate_variance(X, (i, j), trial.D)) is not None:
            yield Measure("variance_surrogate", surrogate)
        if self.draws:
            spread = self._monte_carlo(trial, X, i, j)
            empirical = np.trace(spread, axis1=1, axis2=2)
            yield Measure("variance_empirical", float(empirical.mean()))
            if trial.kernel.matrix_valued:
                norms = np.linalg.norm(spread, 2, axis=(1, 2))
                yield Measure("variance_norm_empirical", float(norms.mean()))
            if exact is not None and (there := (exact > tiny)[i, j]).any():
                yield Measure("empirical_over_closed_form", float(np.mean(empirical[there] / exact[i, j][there])))
        if exact is not None and trial.real_twin:
            if other := trial.real_twin.closed_form:
                yield from self._ratios(trial, exact, other.variance(X, X, trial.D), tiny)
            elif self.draws:
                yield from self._ratios(trial, exact, self._of_all_pairs(trial, trial.real_twin, X), tiny)

    def _monte_carlo(self, trial: Trial, X: Array, i: Array, j: Array) -> Array:
        """The covariance E(k̂ − E k̂)(k̂ − E k̂)ᵀ of each pair, whose trace is the variance; 1 × 1 for scalar kernels."""
        rows, place = np.unique(np.concatenate((i, j)), return_inverse=True)
        X, (i, j) = X[rows], place.reshape(2, -1)
        k = np.array([trial.kernel.gram(x[None], y[None]) for x, y in zip(X[i], X[j], strict=True)])

        def error(draw: int) -> Array:
            features = trial.draw(draw)
            Phi = features(X)
            return features.paired(Phi[i], Phi[j]).reshape(k.shape) - k

        return self._spread(error, k.shape, trial.engine, by_blocks if trial.kernel.matrix_valued else by_entries)

    def _of_all_pairs(self, trial: Trial, sketch: Sketch, X: Array) -> Array:
        """E|k̂ − E k̂|² of another sketch for all pairs of rows."""
        K = trial.kernel.gram(X, X)

        def error(draw: int) -> Array:
            names = ("variance", self.against, trial.D, draw)
            features = replace(trial.plan(draw), sketch=sketch, names=names)()
            Phi = features(X)
            return features.product(Phi, Phi) - K

        return self._spread(error, K.shape, trial.engine, by_entries)

    def _spread(
        self, error: Callable[[int], Array], shape: tuple[int, ...], engine: Engine, square: Callable[[Array], Array]
    ) -> Array:
        """E|k̂ − E k̂|² from the errors k̂ − k of all draws, whose squares are small where k̂ is near k."""

        def moments(draws: slice) -> tuple[Array, Array]:
            first, second = np.zeros(shape, np.complex128), np.zeros(shape)
            for k in range(draws.start, draws.stop):
                e = error(k)
                first += e
                second += square(e)
            return first, second

        first, second = np.zeros(shape, np.complex128), np.zeros(shape)
        for one, two in engine.map(moments, spans(self.draws, DRAWS), "blocks of draws", -(-self.draws // DRAWS)):
            first += one
            second += two
        return (second - square(first) / self.draws) / (self.draws - 1)

    def _ratios(self, trial: Trial, variance: Array, other: Array, tiny: Array) -> Iterator[Measure]:
        """Over all pairs for which the other sketch has a variance."""
        there = np.triu(other > tiny, 1)
        if there.any():
            ratios = variance[there] / other[there]
            trial.curve(f"ratio_to_{self.against}", LEVELS, np.quantile(ratios, LEVELS))
            yield Measure(f"ratio_to_{self.against}_below_1", float(np.mean(ratios < 1)))


def by_entries(e: Array) -> Array:
    return np.abs(e) ** 2


def by_blocks(e: Array) -> Array:
    """EEᵀ of real matrices, (…, p, p)."""
    return (e @ e.swapaxes(-1, -2)).real
