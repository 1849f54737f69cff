"""Ridge regression by Cholesky factors [Ohana et al. 2019, D.3].

    primal  W = (ΦᴴΦ + λI)⁻¹ ΦᴴY        dual  A = (K + λI)⁻¹ Y,      λ = α κ n                            (1)

with n rows and κ the mean of k(x, x), so that α has no unit.  Rows that are left out while α is chosen are added
afterwards: no feature is computed twice for it.
"""

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Any

import numpy as np

from rfbench.arrays import Array, diagonal
from rfbench.engines import Engine
from rfbench.linalg.cholesky import factor_in_place, solve_factored
from rfbench.linalg.gram import Blocks, add_gram, kernel_matrix, wide
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import tiles
from rfbench.progress import bar
from rfbench.sketches import FeatureMap
from rfbench.tasks.ridge.predictors import Function, Linear, combination


class System(ABC):
    """The equations of some rows."""

    def __init__(self, features: FeatureMap, scale: float, engine: Engine, watch: Stopwatch) -> None:
        self.features, self.scale, self.engine, self.watch = features, scale, engine, watch

    @abstractmethod
    def complete(self) -> None:
        """Add the rows left out."""

    @abstractmethod
    def solve(self, alphas: Array) -> Function:
        """The functions for every α, their outputs side by side."""

    def solutions(self, M: Array, B: Array, alphas: Array, n: int) -> Array:
        """(M + λI)⁻¹ B for every α, side by side, of an upper triangle M; not numbers where λ is lost in rounding."""
        A, found = np.empty_like(M), np.full((len(alphas), *B.shape), np.nan, B.dtype)

        def copy(ij: tuple[slice, slice]) -> None:
            A[ij] = M[ij]

        with self.watch("factor"), bar(len(alphas), "penalties") as shown:
            for alpha, solution in zip(alphas, found, strict=True):
                self.engine.run(copy, tiles(len(M)))
                diagonal(A)[...] += alpha * self.scale * n
                with suppress(np.linalg.LinAlgError):
                    factor_in_place(A, self.engine)
                    solution[...] = solve_factored(A, B)
                shown.update()
        if np.isnan(found[-1]).any() and len(alphas) == 1:
            raise ArithmeticError(
                f"alpha={alphas[0]:g} is lost in rounding; use a larger task.alpha, task.solver=dual or dtype=float64"
            )
        return np.hstack(list(found))


class Primal(System):
    """ΦᴴΦ and ΦᴴY: memory for D² numbers, however many the rows."""

    def __init__(self, features: FeatureMap, rest: Blocks, left_out: Blocks, *more: Any) -> None:
        super().__init__(features, *more)
        self.left_out, self.n = left_out, 0
        self.G = np.zeros((features.D, features.D), wide(features))
        self.R: Any = 0.0
        self._add(rest)

    def _add(self, blocks: Blocks) -> None:
        self.R = self.R + add_gram(self.G, self.features, self._counted(blocks), self.engine, self.watch)

    def _counted(self, blocks: Blocks) -> Blocks:
        for X, Y in blocks:
            self.n += len(X)
            yield X, Y

    def complete(self) -> None:
        self._add(self.left_out)

    def solve(self, alphas: Array) -> Function:
        return Linear(self.features, self.solutions(self.G, self.R, alphas, self.n))


class Dual(System):
    """K of all rows, of which those left out are the last."""

    def __init__(self, features: FeatureMap, rest: Blocks, left_out: Blocks, *more: Any) -> None:
        super().__init__(features, *more)
        first = list(rest)
        self.n = sum(len(X) for X, _ in first)
        self.X, self.Y = (np.concatenate(column) for column in zip(*first, *left_out, strict=True))
        with self.watch("gram"):
            self.K = kernel_matrix(features, self.X, self.engine)

    def complete(self) -> None:
        self.n = len(self.X)

    def solve(self, alphas: Array) -> Function:
        n = self.n
        A = self.solutions(self.K[:n, :n], self.Y[:n].astype(self.K.dtype), alphas, n)
        return combination(self.features, self.X[:n], A, self.engine)
