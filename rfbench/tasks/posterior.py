"""Posteriors of C Gaussian processes that share rows and features, real or complex, from one pass over the rows.

Rows come in groups.  A row of group g has the label T_cg y for output c, with noise of variance 1/W_cg.  Where there
are no more features than rows (primal), with k = σ² ⟨Φ, Φ⟩ and Φ_g the features of a group,

    μ_c(x) = Φ(x)ᵀ A_c⁻¹ Σ_g W_cg T_cg Φ_gᴴ y_g,   σ_c²(x) = Φ(x)ᵀ A_c⁻¹ Φ(x)*,   A_c = I/σ² + Σ_g W_cg Φ_gᴴ Φ_g    (1)

and where there are more (dual), or the kernel has no features, with t and w the labels and precisions of all rows,

    μ_c(x) = k̂(x)ᵀ B_c⁻¹ t_c,   σ_c²(x) = σ² (k̂(x, x) − k̂(x)ᵀ B_c⁻¹ k̂(x)*),   B_c = ΦΦᴴ + diag(1/σ²w_c)           (2)

[Wacker 2022, Eq. B.14 to B.20; of complex means the real part, B.16].  Regression has one group and one output.  In
classification group g is class g and W_cg has two values in a row, w₁ where g = c and w₀ elsewhere, so that

    A_c = I/σ² + w₀ G + (w₁ − w₀) G_c,      G = Σ_g G_g,      G_g = Φ_gᴴ Φ_g,                                        (3)

and the Gram matrices of all outputs cost as much as that of one.  Of the C matrices of each kind one is in use at a
time; the others are on a shelf, which is a file if they are large.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.engines import Local
from rfbench.sketches import FeatureMap
from rfbench.sketches.exact import ExactMap
from rfbench.sketches.localized_maclaurin import LocalizedMap
from rfbench.tasks.cholesky import Norms, factor, solve_factored
from rfbench.tasks.gram import Blocks, add_gram, cross_matrix, kernel_matrix, wide
from rfbench.tasks.shelf import Shelf
from rfbench.tasks.stopwatch import Stopwatch
from rfbench.tasks.tiles import MOST_ROWS, TILE, tiles

Array = NDArray[Any]
Groups = Sequence[Callable[[], Blocks]]


@dataclass(frozen=True, eq=False)
class Model:
    """What is known of labels: W and T, (C, groups), and σ²."""

    W: Array
    T: Array
    signal: float


class Posterior(ABC):
    """Mean and variance of the C processes at new rows."""

    jitter: float

    @abstractmethod
    def __call__(self, X: Array, engine: Local) -> tuple[Array, Array]:
        """(n, C) each."""


class Evidence(ABC):
    """All that is kept of the training rows: enough for the posterior of any model."""

    @abstractmethod
    def posterior(self, model: Model, engine: Local, watch: Stopwatch) -> Posterior: ...


def collect(features: FeatureMap, groups: Groups, n: int, engine: Local, watch: Stopwatch) -> Evidence:
    """One pass over n rows; one for each cluster of a localized sketch."""
    if isinstance(features, LocalizedMap):
        return LocalEvidence(features, [collect(part, groups, n, engine, watch) for part in features.maps])
    by_rows = isinstance(features, ExactMap) or n < features.D
    if (size := n if by_rows else features.D) > MOST_ROWS:
        raise InputError(
            f"a Gaussian process with {features.D} features of {n} rows needs a matrix of {size} rows, and {MOST_ROWS} "
            "are the most; use fewer features, or not sketch=exact"
        )
    return (DualEvidence if by_rows else PrimalEvidence)(features, groups, engine, watch)


@dataclass(frozen=True, eq=False)
class Factored:
    """C systems, solved: their solutions and their Cholesky factors."""

    solutions: Array  # (C, size)
    factors: Shelf
    jitter: float

    def __call__(self, V: Array, engine: Local) -> tuple[Array, Array]:
        """vᵀ times every solution and vᵀ A_c⁻¹ v*, for every row v of V."""
        mean, quadratic = np.empty((2, len(V), len(self.solutions)))

        def project(span: tuple[int, int]) -> None:
            mean[slice(*span)] = (V[slice(*span)] @ self.solutions.T).real

        engine.run(project, spans(len(V), TILE))
        for c in range(len(self.solutions)):
            norms = Norms(self.factors.get(c))

            def measure(span: tuple[int, int], c: int = c, norms: Norms = norms) -> None:
                quadratic[slice(*span), c] = norms(V[slice(*span)])

            engine.run(measure, spans(len(V), TILE))
        return mean, quadratic


def solve_all(fill: Callable[[int], Array], right: Array, dtype: Any, engine: Local, watch: Stopwatch) -> Factored:
    """Systems whose matrices `fill` makes one after the other; their factors are kept in the precision given."""
    solutions, jitter = np.empty_like(right), 0.0
    factors = Shelf(len(right), right.shape[1], dtype)
    for c, b in enumerate(right):
        with watch("factor"):
            U, added = factor(partial(fill, c), engine)
            solutions[c], jitter = solve_factored(U, b), max(jitter, added)
        with watch("keep"):
            factors.put(c, U)
    return Factored(solutions, factors, jitter)


class PrimalEvidence(Evidence):
    """G, G_g and Φ_gᴴ y_g."""

    def __init__(self, features: FeatureMap, groups: Groups, engine: Local, watch: Stopwatch) -> None:
        self.features = features
        self.parts = Shelf(len(groups), features.D, features.dtype)
        self.r = np.zeros((len(groups), features.D), wide(features))
        self.G, part = (np.zeros((features.D, features.D), wide(features)) for _ in range(2))

        def move(ij: tuple[slice, slice]) -> None:
            self.G[ij] += part[ij]
            part[ij] = 0

        for g, blocks in enumerate(groups):
            self.r[g] = add_gram(part, features, blocks(), engine, watch)
            with watch("keep"):
                self.parts.put(g, part)
                engine.run(move, tiles(len(part)))

    def posterior(self, model: Model, engine: Local, watch: Stopwatch) -> "Primal":
        W, A = model.W, np.empty_like(self.G)

        def fill(c: int) -> Array:
            """Equation (3).  With one group there is no other: w₀ = w₁."""
            part, w0 = self.parts.get(c), W[c, c - 1]

            def add(ij: tuple[slice, slice]) -> None:
                A[ij] = self.G[ij] * w0
                A[ij] += part[ij] * (W[c, c] - w0)

            engine.run(add, tiles(len(A)))
            A.reshape(-1)[:: len(A) + 1] += 1 / model.signal
            return A

        return Primal(self.features, solve_all(fill, W * model.T @ self.r, self.features.dtype, engine, watch))


class Primal(Posterior):
    """Equation (1)."""

    def __init__(self, features: FeatureMap, factored: Factored) -> None:
        self.features, self.factored, self.jitter = features, factored, factored.jitter

    def __call__(self, X: Array, engine: Local) -> tuple[Array, Array]:
        return self.factored(engine.transform(self.features, X, self.features.empty(len(X))), engine)


class DualEvidence(Evidence):
    """All rows, and K̂ of them."""

    def __init__(self, features: FeatureMap, groups: Groups, engine: Local, watch: Stopwatch) -> None:
        found = [(X, y, g) for g, blocks in enumerate(groups) for X, y in blocks()]
        self.features, self.X = features, np.concatenate([X for X, *_ in found])
        self.y = np.concatenate([y for _, y, _ in found]).astype(np.float64)
        self.group = np.repeat([g for *_, g in found], [len(X) for X, *_ in found])
        with watch("gram"):
            self.K = kernel_matrix(features, self.X, engine)

    def posterior(self, model: Model, engine: Local, watch: Stopwatch) -> "Dual":
        B, noise = np.empty_like(self.K), 1 / (model.signal * model.W[:, self.group])

        def fill(c: int) -> Array:
            np.copyto(B, self.K)
            B.reshape(-1)[:: len(B) + 1] += noise[c]
            return B

        labels = (model.T[:, self.group] * self.y).astype(self.K.dtype)
        return Dual(self.features, self.X, model.signal, solve_all(fill, labels, self.K.dtype, engine, watch))


class Dual(Posterior):
    """Equation (2)."""

    def __init__(self, features: FeatureMap, X: Array, signal: float, factored: Factored) -> None:
        self.features, self.X, self.signal, self.factored = features, X, signal, factored
        self.jitter = factored.jitter

    def __call__(self, X: Array, engine: Local) -> tuple[Array, Array]:
        K, diagonal = cross_matrix(self.features, X, self.X, engine)
        mean, removed = self.factored(K, engine)
        return mean, self.signal * np.maximum(diagonal[:, None] - removed, 0)  # below zero only by rounding


@dataclass(frozen=True, eq=False)
class LocalEvidence(Evidence):
    """The evidence of every cluster of a localized sketch [Wacker 2022, Algorithm 7]."""

    features: LocalizedMap
    parts: list[Evidence]

    def posterior(self, model: Model, engine: Local, watch: Stopwatch) -> "LocalPosterior":
        return LocalPosterior(self.features, [part.posterior(model, engine, watch) for part in self.parts])


class LocalPosterior(Posterior):
    """A row is predicted by its cluster."""

    def __init__(self, features: LocalizedMap, parts: list[Posterior]) -> None:
        self.features, self.parts, self.jitter = features, parts, max(part.jitter for part in parts)

    def __call__(self, X: Array, engine: Local) -> tuple[Array, Array]:
        cluster = self.features.nearest(X)
        found: Any = None
        for c in np.unique(cluster):
            rows = cluster == c
            part = np.array(self.parts[c](X[rows], engine))
            found = np.empty((2, len(X), part.shape[2])) if found is None else found
            found[:, rows] = part
        return found[0], found[1]
