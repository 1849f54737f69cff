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

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.linalg.cholesky import Norms, factor, solve_factored
from rfbench.linalg.gram import Blocks
from rfbench.linalg.shelf import Shelf
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import TILE
from rfbench.progress import bar

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
    def __call__(self, X: Array, engine: Engine) -> tuple[Array, Array]:
        """(n, C) each."""


class Evidence(ABC):
    """All that is kept of the training rows: enough for the posterior of any model."""

    @abstractmethod
    def posterior(self, model: Model, engine: Engine, watch: Stopwatch) -> Posterior: ...


@dataclass(frozen=True, eq=False)
class Factored:
    """C systems, solved: their solutions and their Cholesky factors."""

    solutions: Array  # (C, size)
    factors: Shelf
    jitter: float

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


def solve_all(fill: Callable[[int], Array], right: Array, dtype: Any, engine: Engine, watch: Stopwatch) -> Factored:
    """Systems whose matrices `fill` makes one after the other; their factors are kept in the precision given."""
    solutions, jitter = np.empty_like(right), 0.0
    factors = Shelf(len(right), right.shape[1], dtype)
    with bar(len(right), "systems") as shown:
        for c, b in enumerate(right):
            with watch("factor"):
                U, added = factor(partial(fill, c), engine)
                solutions[c], jitter = solve_factored(U, b), max(jitter, added)
            with watch("keep"):
                factors.put(c, U, engine)
            shown.update()
    return Factored(solutions, factors, jitter)
