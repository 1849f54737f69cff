"""Training rows → a function of several outputs: which of the ways to solve a ridge regression, and with which α."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.datasets.prepare import Prepared
from rfbench.engines import Engine
from rfbench.kernels import Kernel
from rfbench.sketches import Coupling, FeatureMap, Kron
from rfbench.tasks.ridge.operator import Dual, Primal, exact, expansion
from rfbench.tasks.ridge.stochastic import descend
from rfbench.tasks.ridge.sums import sums

Fitted = tuple[Callable[[Array], Array], float]  # x → f(x), and α
GRID = 10.0 ** np.arange(-12, 0.5, 0.5)  # of α
MOST_DIRECT = 4000  # unknowns of a matrix that is diagonalised
MOST_ROWS = 10_000  # of a Gram matrix
MOST_NUMBERS = 3e8  # of ΦᵀΦ of all folds and their sum
AT_ONCE = 1 << 22  # numbers of Φ of new rows


@dataclass(frozen=True, eq=False)
class Fit:
    """The options of a task, with the rows and what was learned of them."""

    train: Prepared
    shift: Array  # the mean of the targets
    scale: float  # κ
    engine: Engine
    alpha: float | None  # none: by cross-validation
    folds: int
    solver: str
    epochs: int

    def gram_rows(self, kernel: Kernel) -> int:
        """Of the Gram matrix that the exact kernel needs."""
        return len(self.train) * len(self.shift) // len(exact(kernel, len(self.shift))[1])

    def exact(self, kernel: Kernel) -> Fitted:
        """Without features."""
        n, (gram, R) = len(self.train), exact(kernel, len(self.shift))
        if (rows := self.gram_rows(kernel)) > MOST_ROWS:
            raise InputError(
                f"the exact kernel of {n} rows needs a matrix of {rows} rows, and {MOST_ROWS} are the most; "
                f"use a sketch, or train_rows={MOST_ROWS * n // rows}"
            )
        X, Y = self._rows()
        problem = Dual(gram(X, X), R, Y, self.folds, self.scale)
        alpha = self._choose(problem, GRID)
        return expansion(kernel, X, next(problem.coefficients(np.array([alpha]))), self.engine), alpha

    def features(self, features: FeatureMap, rng: np.random.Generator) -> Fitted:
        """With those of a sketch; of a scalar kernel each output is on its own."""
        p = len(self.shift)
        M = features.coupling or Kron(features.D, np.eye(p))
        each = 1 if isinstance(M, Kron) else p  # one system of a decomposable kernel serves all outputs
        unknowns = features.D if each == 1 else int(np.prod(M.shape))
        if self.solver == "sgd":
            assert self.alpha is not None
            W = descend(features, M, self._centred, self.alpha * self.scale, self.epochs, rng)
            return self._linear(features, W), self.alpha
        if self.solver != "cg" and len(self.train) * each < unknowns:
            return self._dual(features, M)
        if (most := int((MOST_NUMBERS / (self.folds + 1)) ** 0.5)) < features.D:
            raise InputError(
                f"{features.D} features need {self.folds} matrices of as many rows, and {most} are the most; "
                f"use features={most}, or task.solver=sgd task.alpha=1e-6"
            )
        iterative = self.solver == "cg" or (self.solver == "auto" and unknowns > MOST_DIRECT)
        found = sums(features, self._centred(), (len(self.train), p), self.folds, self.engine)
        problem = Primal(M, found, self.scale, iterative)
        alpha = self._choose(problem, GRID[::2] if iterative else GRID)
        return self._linear(features, next(problem.weights(np.array([alpha])))), alpha

    def _dual(self, features: FeatureMap, M: Coupling) -> Fitted:
        X, Y = self._rows()
        Phi = features(X).astype(np.float64)
        K, R = (Phi @ Phi.T, M.B @ M.B.T) if isinstance(M, Kron) else (M.gram(Phi, Phi), np.eye(1))
        problem = Dual(K, R, Y, self.folds, self.scale)
        alpha = self._choose(problem, GRID)
        coefficients = next(problem.coefficients(np.array([alpha])))
        return self._linear(features, M.forward(M.adjoint(Phi.T @ coefficients))), alpha

    def _choose(self, problem: Primal | Dual, grid: Array) -> float:
        if self.alpha is not None:
            return self.alpha
        if isinstance(problem, Dual):
            problem = problem.thinned(MOST_DIRECT)
        return float(grid[np.argmin(problem.losses(grid))])

    def _centred(self) -> Iterator[tuple[Array, Array]]:
        """(X, targets − shift), block by block."""
        dataset = self.train.part.dataset
        return ((X, dataset.targets(y) - self.shift) for X, y in self.train.blocks())

    def _rows(self) -> tuple[Array, Array]:
        X, Y = (np.concatenate(column) for column in zip(*self._centred(), strict=True))
        return X, Y

    def _linear(self, features: FeatureMap, W: Array) -> Callable[[Array], Array]:
        """x → Wᵀφ(x)."""

        def predict(X: Array) -> Array:
            parts = spans(len(X), max(AT_ONCE // features.D, 1))
            return np.concatenate(list(self.engine.map(lambda span: features(X[span]) @ W, parts)))

        return predict
