"""Landmarks by a pivoted Cholesky factor of the kernel matrix K of training rows.

With F, (k, n), the factor of k pivots, R = K − FᵀF is the residual.  The next pivot is row i with a probability of
R_ii / tr R, RPCholesky [Chen et al. 2025], or the row of the largest R_ii.  k random pivots leave a trace with

    E tr R ≤ (1 + ε) tr (K − K_r)      if   k ≥ r/ε + r log₊(1/(ε η)),   η = tr (K − K_r) / tr K                 (1)

[ibid., Theorem 2.3], K_r the best matrix of rank r and log₊ the logarithm where it is positive, else 0.

One pivot at a time reads all of F for every pivot.  Blocks read it once for many:

- Random pivots [Epperly et al. 2024]: draw a block of proposals by the R_ii of before the block, and accept
  proposal i in its turn with the probability R_ii now over R_ii then.  The accepted ones have the law of single pivots.
- Largest pivots: take the rows of the largest R_ii as candidates.  R_ii only falls, so the largest of the candidates
  is the largest of all as long as it exceeds what the other rows had before the block: the same pivots as one by one.

F takes 8 n k bytes, the rows in double precision 8 n d more.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.linalg import solve_triangular

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.kernels.base import Kernel
from rfbench.progress import bar

ROWS = 4096  # whose residual with all new pivots is in memory at once
ROUNDING = 1e-13  # of the largest k(x, x): no residual below it is a pivot


class Factor:
    """F, its pivots, and the diagonal of the residual."""

    def __init__(self, kernel: Kernel, X: Array, most: int) -> None:
        self.kernel, self.X = kernel, X.astype(np.float64, copy=False)
        self.F, self.pivots = np.empty((most, len(X))), list[int]()
        self.left = diagonal_of(kernel, self.X)
        self.floor = ROUNDING * self.left.max()

    @property
    def wanted(self) -> int:
        """How many pivots are missing; none where nothing of the kernel is left."""
        return (len(self.F) - len(self.pivots)) * bool(self.left.any())

    def extend(self, rows: Array, choose: Callable[[Array], Iterator[int]]) -> None:
        """Take pivots from some rows; `choose` sees their residual, which every pivot lowers."""
        F, X = self.F[: len(self.pivots)], self.X
        H = self.kernel.gram(X[rows], X[rows]) - F[:, rows].T @ F[:, rows]
        taken, columns = list[int](), list[Array]()
        for i in choose(H):
            if H[i, i] > self.floor:
                taken.append(i)
                columns.append(H[:, i] / np.sqrt(H[i, i]))
                H -= np.outer(columns[-1], columns[-1])
        if taken:
            self._append(rows[taken], np.stack(columns, 1)[taken])
        self.left[rows[H.diagonal() <= self.floor]] = 0  # also those that rounding alone has kept

    def _append(self, pivots: Array, L: Array) -> None:
        """The rows of F for new pivots, whose residual has the Cholesky factor L."""
        k, F, X = len(self.pivots), self.F, self.X
        for span in spans(len(X), ROWS):
            G = self.kernel.gram(X[pivots], X[span]) - F[:k, pivots].T @ F[:k, span]
            new = F[k : k + len(L), span] = solve_triangular(L, G, lower=True, check_finite=False)
            self.left[span] -= np.einsum("ij,ij->j", new, new)
        self.left[self.left <= self.floor] = 0
        self.pivots += pivots.tolist()


def diagonal_of(kernel: Kernel, X: Array) -> Array:
    """k(x, x) of every row."""
    return np.concatenate([kernel.gram(X[span], X[span]).diagonal() for span in spans(len(X), 64)])


def accepted(H: Array, u: Array) -> Iterator[int]:
    """The proposals that uniform numbers u accept, in their order."""
    before = H.diagonal().copy()
    return (i for i in range(len(H)) if H[i, i] > u[i] * before[i])


def largest(H: Array, others: float) -> Iterator[int]:
    """The first, and the largest of all while it exceeds what other rows may have."""
    yield int(H.diagonal().argmax())
    while H[i := int(H.diagonal().argmax()), i] > others:
        yield i


def random_pivots(kernel: Kernel, X: Array, m: int, rng: np.random.Generator, block: int) -> list[int]:
    """At most m random pivots, fewer where they leave nothing; `block` of them are proposed at once."""
    factor = Factor(kernel, X, m)
    with bar(m, "random pivots", "pivot") as shown:
        while size := min(block, factor.wanted):
            rows = rng.choice(len(X), size, p=factor.left / factor.left.sum())
            u = np.append(0, rng.random(size - 1))  # the first is always accepted
            factor.extend(rows, partial(accepted, u=u))
            shown.update(len(factor.pivots) - shown.n)
    return factor.pivots or [0]


def largest_pivots(kernel: Kernel, X: Array, m: int, block: int) -> list[int]:
    """At most m pivots, each of the largest residual; ties go to the first row."""
    factor = Factor(kernel, X, m)
    with bar(m, "largest pivots", "pivot") as shown:
        while size := min(block, factor.wanted):
            order = np.argsort(-factor.left, kind="stable")
            others = float(factor.left[order[size]]) if size < len(X) else 0.0
            factor.extend(order[:size], partial(largest, others=max(others, factor.floor)))
            shown.update(len(factor.pivots) - shown.n)
    return factor.pivots or [0]
