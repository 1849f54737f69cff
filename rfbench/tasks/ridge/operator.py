"""Ridge regression of several outputs with operator-valued features or kernels  [Brault et al. 2016, 4.1 and D.1].

    min_θ Σ ‖P_x θ − y‖² + λ‖θ‖²,      λ = α κ n                                                       (1)

with n rows and κ the mean of the diagonal of K(x, x), so that α has no unit.  Where there are fewer unknowns than
outputs of rows (1) is solved from sums over rows (primal), else, or where the kernel has no features, from the Gram
matrix (dual).  α is that of the least squared error on folds that are left out in turn; a Gram matrix that is too large
to be diagonalised for every fold is thinned for it, since α, unlike λ, does not grow with the rows.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.kernels import Kernel
from rfbench.kernels.decomposable import Decomposable
from rfbench.linalg.ridge_path import conjugate_gradients, path
from rfbench.sketches import Coupling, Kron
from rfbench.tasks.ridge.sums import Sums

AT_ONCE = 1 << 22  # entries of a Gram matrix between new and training rows


@dataclass(frozen=True, eq=False)
class Primal:
    """From sums over rows."""

    M: Coupling
    folds: list[Sums]
    scale: float  # κ
    iterative: bool

    def weights(self, alphas: Array, left_out: int | None = None) -> Iterator[Array]:
        """M(θ), (D, p), for each α."""
        kept, M = [one for fold, one in enumerate(self.folds) if fold != left_out], self.M
        G, C, n = sum(one.G for one in kept), sum(one.C for one in kept), sum(one.n for one in kept)
        penalties = alphas * self.scale * n
        if self.iterative:
            yield from map(M.forward, conjugate_gradients(np.asarray(G), M, np.asarray(C), penalties))
        elif isinstance(M, Kron):
            yield from map(M.forward, path(np.asarray(G), M.B.T @ M.B, C @ M.B, penalties))
        else:  # θ column by column
            T = M.adjoint(np.asarray(C)).T.reshape(-1, 1)
            for Z in path(normal_matrix(np.asarray(G), M), np.eye(1), T, penalties):
                yield M.forward(Z.reshape(-1, M.shape[0]).T.reshape(M.shape))

    def losses(self, alphas: Array) -> Array:
        """Squared errors on folds left out in turn, for each α."""
        folds = in_turn(len(self.folds))
        return np.sum([[self.folds[fold].loss(W) for W in self.weights(alphas, fold)] for fold in folds], axis=0)


def normal_matrix(G: Array, M: Coupling) -> Array:
    """MᵀGM: G_ij ⟨B(ω_i)e_a, B(ω_j)e_b⟩ in a block for each a and b."""
    columns = M.columns()
    return np.block([[G * (a @ b.T) for b in columns] for a in columns])


@dataclass(frozen=True, eq=False)
class Dual:
    """K Z R + λ Z = Y: from the Gram matrix, of rows with R between outputs, or in blocks with R = 1."""

    K: Array
    R: Array
    Y: Array  # (n, p)
    folds: int
    scale: float  # κ

    def coefficients(self, alphas: Array) -> Iterator[Array]:
        """(n, p) for each α."""
        Z = path(self.K, self.R, self._columns, alphas * self.scale * len(self.Y))
        return (one.reshape(self.Y.shape) for one in Z)

    @property
    def _columns(self) -> Array:
        return self.Y.reshape(len(self.K), -1)

    def thinned(self, most: int) -> "Dual":
        """The problem of every so many rows, with a matrix of at most that size."""
        rows, q = np.arange(0, len(self.Y), -(-len(self.K) // most)), len(self.K) // len(self.Y)
        entries = (q * rows[:, None] + np.arange(q)).ravel()
        return replace(self, K=self.K[np.ix_(entries, entries)], Y=self.Y[rows])

    def losses(self, alphas: Array) -> Array:
        total, rows = np.zeros(len(alphas)), np.arange(len(self.K)) // (len(self.K) // len(self.Y))
        for fold in in_turn(self.folds):
            out = rows % self.folds == fold
            n = len(np.unique(rows[~out]))
            K, T = self.K[np.ix_(~out, ~out)], self._columns[~out]
            cross, wanted = self.K[np.ix_(out, ~out)], self._columns[out]
            fitted = path(K, self.R, T, alphas * self.scale * n)
            total += [float(np.sum((wanted - cross @ Z @ self.R) ** 2)) for Z in fitted]
        return total


def in_turn(folds: int) -> Iterable[int]:
    """Numbers of folds, with a bar if it takes long."""
    from tqdm import tqdm

    return tqdm(range(folds), "folds", delay=2, disable=None, leave=False)


def exact(kernel: Kernel, p: int) -> tuple[Callable[[Array, Array], Array], Array]:
    """The Gram matrix of `Dual` without features, and R."""
    if isinstance(kernel, Decomposable):
        return kernel.gaussian.gram, kernel.A
    return kernel.gram, np.eye(p if kernel.size(p) == 1 else 1)


def expansion(kernel: Kernel, X: Array, alpha: Array, engine: Engine) -> Callable[[Array], Array]:
    """Σ K(x, xᵢ) αᵢ."""
    gram, R = exact(kernel, alpha.shape[1])
    Z = alpha.reshape(-1, len(R)) @ R

    def predict(new: Array) -> Array:
        spans_ = spans(len(new), max(AT_ONCE // alpha.size, 1))
        parts = engine.map(lambda span: gram(new[span], X) @ Z, spans_)
        return np.concatenate([part.reshape(-1, alpha.shape[1]) for part in parts])

    return predict
