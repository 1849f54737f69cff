"""Ridge regression of several outputs with operator-valued features or kernels  [Brault et al. 2016, 4.1 and D.1].

    min_θ Σ ‖P_x θ − y‖² + λ‖θ‖²,      λ = α κ n                                                       (1)

with n rows and κ the mean of the diagonal of K(x, x), so that α has no unit.  If there are fewer unknowns than outputs
of rows, (1) is solved from sums over rows (primal), else, or where the kernel has no features, from the Gram matrix
(dual).  α has the least squared error on folds that are held out in turn.  Since ‖Y − ΦW‖² = Σ‖y‖² − 2⟨ΦᵀY, W⟩ +
⟨W, ΦᵀΦW⟩, the sums give that error without a second pass.  A Gram matrix that is too large to be diagonalised for every
fold is thinned for it, since α, unlike λ, does not grow with the rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.engines import Engine
from rfbench.kernels import Kernel
from rfbench.kernels.decomposable import Decomposable
from rfbench.linalg.gram import Drawn, FoldedGramSums, GramSums, block_rows
from rfbench.linalg.ridge_path import cg_path, eigen_path
from rfbench.linalg.tiles import MOST_DIAGONALISED, MOST_FOLD_ENTRIES, MOST_GRAM_ROWS, mirror
from rfbench.progress import bar
from rfbench.sketches import Coupling, FeatureMap, Kron
from rfbench.tasks.ridge.predictors import FeaturePredictor, KernelPredictor, Predictor
from rfbench.tasks.ridge.stochastic import descend
from rfbench.tasks.rows import Targets, gathered

GRID = 10.0 ** np.arange(-12, 0.5, 0.5)  # values of α
FittedField = tuple[Predictor, float]  # f and α


@dataclass(frozen=True, eq=False)
class FoldedProblem:
    """Primal: from the sums of every fold, whose matrices have both triangles."""

    M: Coupling
    folds: list[GramSums]
    scale: float  # κ
    iterative: bool

    def weights(self, alphas: Array, held_out: int | None = None) -> Iterator[Array]:
        """M(θ), (D, p), for each α."""
        kept, M = [one for fold, one in enumerate(self.folds) if fold != held_out], self.M
        G, C = reduce(np.add, (one.G for one in kept)), reduce(np.add, (one.R for one in kept))
        penalties = alphas * self.scale * sum(one.n for one in kept)
        if self.iterative:
            yield from map(M.forward, cg_path(G, M, C, penalties))
        elif isinstance(M, Kron):
            yield from map(M.forward, eigen_path(G, M.B.T @ M.B, C @ M.B, penalties))
        else:  # θ column by column
            T = M.adjoint(C).T.reshape(-1, 1)
            for Z in eigen_path(normal_matrix(G, M), np.eye(1), T, penalties):
                yield M.forward(Z.reshape(-1, M.shape[0]).T.reshape(M.shape))

    def losses(self, alphas: Array) -> Array:
        """Squared errors on folds held out in turn, for each α."""
        return over_folds(len(self.folds), lambda fold: self._errors(alphas, fold))

    def _errors(self, alphas: Array, fold: int) -> list[float]:
        out = self.folds[fold]
        return [
            out.squares - 2 * float(np.vdot(out.R, W)) + float(np.vdot(W, out.G @ W))
            for W in self.weights(alphas, fold)
        ]


def normal_matrix(G: Array, M: Coupling) -> Array:
    """MᵀGM: G_ij ⟨B(ω_i)e_a, B(ω_j)e_b⟩ in a block for each a and b."""
    columns = M.columns()
    return np.block([[G * (a @ b.T) for b in columns] for a in columns])


@dataclass(frozen=True, eq=False)
class GramProblem:
    """Dual: K Z R + λ Z = Y, with K of the rows and R of the outputs, or K in blocks and R = 1."""

    K: Array
    R: Array
    Y: Array  # (n, p)
    folds: int
    scale: float  # κ

    def coefficients(self, alphas: Array) -> Iterator[Array]:
        """(n, p) for each α."""
        Z = eigen_path(self.K, self.R, self._columns, alphas * self.scale * len(self.Y))
        return (one.reshape(self.Y.shape) for one in Z)

    @property
    def _columns(self) -> Array:
        return self.Y.reshape(len(self.K), -1)

    def thinned(self, most: int) -> "GramProblem":
        """The problem of every m-th row, with a matrix of at most `most` rows."""
        rows, q = np.arange(0, len(self.Y), -(-len(self.K) // most)), len(self.K) // len(self.Y)
        entries = (q * rows[:, None] + np.arange(q)).ravel()
        return replace(self, K=self.K[np.ix_(entries, entries)], Y=self.Y[rows])

    def losses(self, alphas: Array) -> Array:
        """Squared errors on folds held out in turn, for each α."""
        return over_folds(self.folds, lambda fold: self._errors(alphas, fold))

    def _errors(self, alphas: Array, fold: int) -> list[float]:
        rows = np.arange(len(self.K)) // (len(self.K) // len(self.Y))
        out = rows % self.folds == fold
        n = len(np.unique(rows[~out]))
        K, T = self.K[np.ix_(~out, ~out)], self._columns[~out]
        cross, wanted = self.K[np.ix_(out, ~out)], self._columns[out]
        fitted = eigen_path(K, self.R, T, alphas * self.scale * n)
        return [float(np.sum((wanted - cross @ Z @ self.R) ** 2)) for Z in fitted]


def over_folds(folds: int, errors: Callable[[int], list[float]]) -> Array:
    """The errors of all folds, summed for each α."""
    with bar(folds, "folds") as shown:
        found = []
        for fold in range(folds):
            found.append(errors(fold))
            shown.update()
    return np.sum(found, axis=0)


def exact_gram(kernel: Kernel, p: int) -> tuple[Callable[[Array, Array], Array], Array]:
    """The Gram matrix K of `GramProblem` for the exact kernel, as a function, and R."""
    if isinstance(kernel, Decomposable):
        return kernel.gaussian.gram, kernel.A
    return kernel.gram, np.eye(p if kernel.size(p) == 1 else 1)


@dataclass(frozen=True, eq=False)
class OperatorFit:
    """The options of a task, the rows with their targets, and κ."""

    rows: Targets
    scale: float  # κ
    engine: Engine
    alpha: float | None  # None: by cross-validation
    folds: int
    solver: str
    epochs: int

    @property
    def p(self) -> int:
        return len(self.rows.shift)

    def gram_rows(self, kernel: Kernel) -> int:
        """The rows of the Gram matrix that the exact kernel needs."""
        return len(self.rows) * self.p // len(exact_gram(kernel, self.p)[1])

    def exact(self, kernel: Kernel) -> FittedField:
        """Fit the exact kernel."""
        n, (gram, R) = len(self.rows), exact_gram(kernel, self.p)
        if (size := self.gram_rows(kernel)) > MOST_GRAM_ROWS:
            raise InputError(
                f"the exact kernel of {n:,} rows needs a {size:,} × {size:,} matrix; the limit is {MOST_GRAM_ROWS:,}. "
                f"Use another sketch or train_rows={MOST_GRAM_ROWS * n // size}"
            )
        X, Y = gathered(self.rows)
        problem = GramProblem(gram(X, X), R, Y, self.folds, self.scale)
        alpha = self._choose(problem, GRID)
        coefficients = next(problem.coefficients(np.array([alpha])))
        return KernelPredictor(gram, X, coefficients.reshape(-1, len(R)) @ R, self.p), alpha

    def features(self, draw: Drawn, rng: np.random.Generator) -> FittedField:
        """Fit the features of a sketch; with a scalar kernel each output is learned alone."""
        features = draw.features
        M = features.coupling or Kron(features.D, np.eye(self.p))
        each = 1 if isinstance(M, Kron) else self.p  # one system of a decomposable kernel serves all outputs
        unknowns = features.D if each == 1 else int(np.prod(M.shape))
        if self.solver == "sgd":
            assert self.alpha is not None
            W = descend(features, M, self.rows, self.alpha * self.scale, self.epochs, rng)
            return FeaturePredictor(features, W, double=True), self.alpha
        if self.solver != "cg" and len(self.rows) * each < unknowns:
            return self._by_rows(features, M)
        iterative = self.solver == "cg" or (self.solver == "auto" and unknowns > MOST_DIAGONALISED)
        problem = FoldedProblem(M, self.sums(draw), self.scale, iterative)
        alpha = self._choose(problem, GRID[::2] if iterative else GRID)
        return FeaturePredictor(features, next(problem.weights(np.array([alpha]))), double=True), alpha

    def sums(self, draw: Drawn) -> list[GramSums]:
        """One pass over the rows: the sums of every fold."""
        D = draw.features.D
        if (most := int((MOST_FOLD_ENTRIES / (self.folds + 1)) ** 0.5)) < D:
            raise InputError(
                f"{D:,} features need {self.folds} matrices of {D:,} × {D:,}; the limit is {most:,}. "
                f"Use features={most} or task.solver=sgd task.alpha=1e-6"
            )
        start = partial(FoldedGramSums, draw, self.folds)
        found = self.engine.accumulate(start, self.rows, block_rows(D, self.folds), "training rows").folds
        for one in found:
            mirror(one.G)
        return found

    def _by_rows(self, features: FeatureMap, M: Coupling) -> FittedField:
        X, Y = gathered(self.rows)
        Phi = features(X).astype(np.float64)
        K, R = (Phi @ Phi.T, M.B @ M.B.T) if isinstance(M, Kron) else (M.gram(Phi, Phi), np.eye(1))
        problem = GramProblem(K, R, Y, self.folds, self.scale)
        alpha = self._choose(problem, GRID)
        coefficients = next(problem.coefficients(np.array([alpha])))
        return FeaturePredictor(features, M.forward(M.adjoint(Phi.T @ coefficients)), double=True), alpha

    def _choose(self, problem: FoldedProblem | GramProblem, grid: Array) -> float:
        """The α given, or the one with the least error on held-out folds."""
        if self.alpha is not None:
            return self.alpha
        if isinstance(problem, GramProblem):
            problem = problem.thinned(MOST_DIAGONALISED)
        return float(grid[np.argmin(problem.losses(grid))])
