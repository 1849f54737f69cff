"""Posteriors of C Gaussian processes that share rows and features, real or complex.

Rows come in groups.  A row of group g has the label T_cg y for output c, with noise of variance 1/W_cg.  If there are
no more features than rows (primal), with k = σ² ⟨Φ, Φ⟩ and Φ_g the features of a group,

    μ_c(x) = Φ(x)ᵀ A_c⁻¹ Σ_g W_cg T_cg Φ_gᴴ y_g,   σ_c²(x) = Φ(x)ᵀ A_c⁻¹ Φ(x)*,   A_c = I/σ² + Σ_g W_cg Φ_gᴴ Φ_g    (1)

and if there are more (dual), or the kernel has no features, with t and w the labels and precisions of all rows,

    μ_c(x) = k̂(x)ᵀ B_c⁻¹ t_c,   σ_c²(x) = σ² (k̂(x, x) − k̂(x)ᵀ B_c⁻¹ k̂(x)*),   B_c = ΦΦᴴ + diag(1/σ²w_c)           (2)

[Wacker 2022, Eq. B.14 to B.20; the real part of complex means, B.16].  Regression has one group and one output.  In
classification group g is class g and W_cg has two values in a row, w₁ where g = c and w₀ elsewhere, so that

    A_c = I/σ² + w₀ G + (w₁ − w₀) G_c,      G = Σ_g G_g,      G_g = Φ_gᴴ Φ_g,                                        (3)

and the Gram matrices of all outputs cost as much as that of one.  Only one of the C matrices of each kind is in use at
a time; the others are kept as triangles, in a file if they are large.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.linalg.cholesky import Norms, factor, solve_factored
from rfbench.linalg.gram import cross_matrix
from rfbench.linalg.spill import Triangles
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import TILE
from rfbench.progress import bar
from rfbench.sketches import FeatureMap
from rfbench.sketches.draw import Draw


@dataclass(frozen=True, eq=False)
class Model:
    """Precisions W and labels T, (C, groups), and σ²."""

    W: Array
    T: Array
    signal: float


@dataclass(frozen=True, eq=False)
class SolvedSystems:
    """C linear systems: their solutions and their Cholesky factors."""

    solutions: Array  # (C, size)
    factors: Triangles
    jitter: float
    explained: Array  # right-hand side times solution, (C,)
    log_determinants: Array  # (C,)

    def __call__(self, V: Array, engine: Engine) -> tuple[Array, Array]:
        """vᵀ times every solution and vᵀ A_c⁻¹ v*, for every row v of V."""
        mean, quadratic = np.empty((2, len(V), len(self.solutions)))

        def project(span: slice) -> None:
            mean[span] = (V[span] @ self.solutions.T).real

        engine.run(project, spans(len(V), TILE))
        for c in range(len(self.solutions)):
            norms = Norms(self.factors.get(c))

            def measure(span: slice, c: int = c, norms: Norms = norms) -> None:
                quadratic[span, c] = norms(V[span])

            engine.run(measure, spans(len(V), TILE))
        return mean, quadratic


def solve_systems(
    fill: Callable[[int], Array], right: Array, dtype: Any, engine: Engine, watch: Stopwatch
) -> SolvedSystems:
    """Solve the systems whose matrices `fill` returns one after the other; keep their factors as `dtype`."""
    solutions, jitter = np.empty_like(right), 0.0
    explained, log_determinants = np.empty((2, len(right)))
    factors = Triangles(len(right), right.shape[1], dtype)
    with bar(len(right), "systems") as shown:
        for c, b in enumerate(right):
            with watch("factor"):
                U, added = factor(partial(fill, c), engine)
                solutions[c], jitter = solve_factored(U, b), max(jitter, added)
                explained[c] = np.vdot(b, solutions[c]).real
                log_determinants[c] = 2 * np.log(U.diagonal().real, dtype=np.float64).sum()
            with watch("keep"):
                factors.put(c, U, engine)
            shown.update()
    return SolvedSystems(solutions, factors, jitter, explained, log_determinants)


class Posterior(ABC):
    """Mean and variance of the C processes at new rows."""

    jitter: float

    @abstractmethod
    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        """(n, C) each."""


class FeaturePosterior(Posterior):
    """Equation (1)."""

    def __init__(self, features: FeatureMap, systems: SolvedSystems) -> None:
        self.features, self.systems, self.jitter = features, systems, systems.jitter

    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        return self.systems(engine.transform(self.features, X, self.features.empty(len(X))), engine)

    def negative_log_marginal(self, squares: float, n: int, signal: float, noise: float) -> float:
        """−log p(y) of n labels with yᵀy = squares, real features, by the matrix inversion lemma."""
        found, D = self.systems, self.features.D
        fit = squares / noise - found.explained[0]
        return 0.5 * float(fit + found.log_determinants[0] + D * np.log(signal) + n * np.log(2 * np.pi * noise))


class KernelPosterior(Posterior):
    """Equation (2)."""

    def __init__(self, features: FeatureMap, X: Array, signal: float, systems: SolvedSystems) -> None:
        self.features, self.X, self.signal = features, X, signal
        self.systems, self.jitter = systems, systems.jitter

    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        K, diagonal = cross_matrix(self.features, X, self.X, engine)
        mean, removed = self.systems(K, engine)
        return mean, self.signal * np.maximum(diagonal[:, None] - removed, 0)  # below zero only by rounding


@dataclass(frozen=True, eq=False)
class ProcessModel:
    """A posterior as it is saved; X: the training rows of equation (2)."""

    draw: Draw
    systems: SolvedSystems
    signal: float
    X: Array | None

    @classmethod
    def of(cls, posterior: Posterior, draw: Draw) -> "ProcessModel":
        if isinstance(posterior, KernelPosterior):
            return cls(draw, posterior.systems, posterior.signal, posterior.X)
        assert isinstance(posterior, FeaturePosterior)
        return cls(draw, posterior.systems, 1.0, None)

    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        features, systems = self.draw.features, self.systems
        if self.X is None:
            return FeaturePosterior(features, systems)(X, engine)
        return KernelPosterior(features, self.X, self.signal, systems)(X, engine)


class ExpertPosterior(Posterior):
    """The expert of its cluster predicts a row [Wacker 2022, Algorithm 7]."""

    def __init__(self, nearest: Callable[[Array], Array], experts: list[Posterior]) -> None:
        self.nearest, self.experts, self.jitter = nearest, experts, max(expert.jitter for expert in experts)

    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        cluster = self.nearest(X)
        parts = {c: np.array(self.experts[c](X[cluster == c], engine)) for c in np.unique(cluster)}
        found = np.empty((2, len(X), next(iter(parts.values())).shape[2]))
        for c, part in parts.items():
            found[:, cluster == c] = part
        return found[0], found[1]
