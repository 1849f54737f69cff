"""The variance of a kernel estimate: in closed form beside Monte Carlo, and relative to the real sketch of its family.

The curve `ratio_to_…` has 101 quantiles of Var(sketch)/Var(other) over all pairs of `rows` rows, where the other sketch
is the real one of the family or the one that `against` names: the empirical distribution functions of Wacker 2022,
Fig. 3.3, 4.1 and 4.2.

The variance of a matrix-valued estimate is the trace of its covariance E(K̂ − K)², whose spectral norm is measured too,
beside its bound by Brault et al. 2016, Proposition 3.1 (ibid., Fig. 6).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Split
from rfbench.engines import Engine, State
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, Sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.base import Measure, Task, Trial

DRAWS = 32  # added up at once
MOST_DRAWS = 10**7  # the deviation of a variance is then below a thousandth of it
ROUNDING = 1e-12  # of k(x, x) k(y, y)
ENTRIES = 1 << 20  # entries of the matrices k(x, y) in memory at once
LEVELS = np.arange(101) / 100  # of the quantiles


@dataclass(frozen=True)
class Variance(Task):
    """Closed form and Monte Carlo over `draws` on `pairs` pairs of test rows; ratios on all pairs of `rows` rows."""

    name = "variance"
    several_outputs = measurements = indefinite = spreads = shares_reference = True
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
        i, j = place.reshape(2, -1)
        errors = PairErrors(trial.plan(0), trial.kernel, X[rows], i, j)
        return self._spread(errors, by_blocks if trial.kernel.matrix_valued else by_entries, trial.engine)

    def _of_all_pairs(self, trial: Trial, sketch: Sketch, X: Array) -> Array:
        """E|k̂ − E k̂|² of another sketch for all pairs of rows."""
        plan = replace(trial.plan(0), sketch=sketch, names=("variance", self.against, trial.D, 0))
        return self._spread(AllErrors(plan, trial.kernel, X), by_entries, trial.engine)

    def _spread(self, errors: "Errors", square: Callable[[Array], Array], engine: Engine) -> Array:
        """E|k̂ − E k̂|² from the errors k̂ − k of all draws, whose squares are small where k̂ is near k."""
        start, draws = partial(ErrorSums, errors, square), Numbers(self.draws)
        found = engine.accumulate(start, draws, DRAWS, "draws", DRAWS)
        return (found.second - square(found.first) / self.draws) / (self.draws - 1)

    def _ratios(self, trial: Trial, variance: Array, other: Array, tiny: Array) -> Iterator[Measure]:
        """Over all pairs for which the other sketch has a variance."""
        there = np.triu(other > tiny, 1)
        if there.any():
            ratios = variance[there] / other[there]
            trial.curve(f"ratio_to_{self.against}", LEVELS, np.quantile(ratios, LEVELS))
            yield Measure(f"ratio_to_{self.against}_below_1", float(np.mean(ratios < 1)))


@dataclass(frozen=True)
class Numbers:
    """The numbers of draws, as the rows of a pass."""

    stop: int
    first: int = 0

    def __len__(self) -> int:
        return self.stop - self.first

    def blocks(self) -> list[tuple[Array, Array]]:
        numbers = np.arange(self.first, self.stop)
        return [(numbers, numbers)]

    def cut(self, size: int) -> Iterator["Numbers"]:
        return (Numbers(span.stop, span.start) for span in spans(self.stop, size, self.first))


@dataclass(frozen=True, eq=False)
class Errors(ABC):
    """k̂ − k of some pairs of rows for every draw."""

    plan: Draw  # the first draw
    kernel: Kernel
    X: Array

    @cached_property
    @abstractmethod
    def exact(self) -> Array:
        """k, computed once in each process."""

    @abstractmethod
    def estimate(self, features: FeatureMap) -> Array:
        """k̂."""

    def __call__(self, draw: int) -> Array:
        features = replace(self.plan, names=(*self.plan.names[:-1], draw))()
        return self.estimate(features) - self.exact

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "exact"}


@dataclass(frozen=True, eq=False)
class PairErrors(Errors):
    """Errors of row i with row j."""

    i: Array
    j: Array

    @cached_property
    def exact(self) -> Array:
        pairs = zip(self.X[self.i], self.X[self.j], strict=True)
        return np.array([self.kernel.gram(x[None], y[None]) for x, y in pairs])

    def estimate(self, features: FeatureMap) -> Array:
        Phi = features(self.X)
        return features.paired(Phi[self.i], Phi[self.j]).reshape(self.exact.shape)


class AllErrors(Errors):
    """Errors of all pairs of rows."""

    @cached_property
    def exact(self) -> Array:
        return self.kernel.gram(self.X, self.X)

    def estimate(self, features: FeatureMap) -> Array:
        Phi = features(self.X)
        return features.product(Phi, Phi)


class ErrorSums:
    """Σe and Σ|e|² over draws."""

    def __init__(self, errors: Errors, square: Callable[[Array], Array]) -> None:
        self.errors, self.square = errors, square
        self.first, self.second = np.zeros(errors.exact.shape, np.complex128), np.zeros(errors.exact.shape)

    def add(self, X: Array, y: Array, engine: Engine) -> None:
        for e in engine.map(self.errors, X.tolist()):
            self.first += e
            self.second += self.square(e)

    def merge(self, other: Self) -> None:
        self.first += other.first
        self.second += other.second

    def state(self) -> State:
        return {"first": self.first, "second": self.second}

    def load(self, state: State) -> None:
        self.first, self.second = np.array(state["first"]), np.array(state["second"])


def by_entries(e: Array) -> Array:
    return np.abs(e) ** 2


def by_blocks(e: Array) -> Array:
    """EEᵀ of real matrices, (…, p, p)."""
    return (e @ e.swapaxes(-1, -2)).real
