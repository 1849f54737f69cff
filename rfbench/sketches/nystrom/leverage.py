"""Landmarks by recursive ridge leverage scores  [Musco and Musco 2017, Algorithm 3].

The score of row i is l_i(λ) = (K (K + λI)⁻¹)_ii.  From some rows S with weights w, sampled with the probabilities w⁻²,
it is estimated, never much too small, by

    (k(x, x) − k(x, S) (K_SS + λ w⁻²)⁻¹ k(S, x)) / λ                                                             (1)

The recursion begins with so many random rows as landmarks are wanted, m.  They give the scores of twice as many rows,
log m times these are the probabilities of the next sample, and so on.  λ is the sum of the eigenvalues of the weighted
sample beyond the first r, over r = m/(4 log m).  The scores of all rows draw m of them without replacement.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from rfbench.arrays import Array, diagonal
from rfbench.blocks import spans
from rfbench.kernels.base import Kernel
from rfbench.progress import bar
from rfbench.sketches.nystrom.pivots import diagonal_of

ROWS = 4096  # whose kernel with the sample is in memory at once
LEAST = 1e-6  # λ over the mean of k(x, x) where the sample has nothing beyond its first eigenvalues


def scores(kernel: Kernel, X: Array, S: Array, w: Array, rank: int) -> Array:
    """Equation (1) for every row, at most 1, with the λ that keeps `rank` eigenvalues."""
    K = kernel.gram(S, S) * np.outer(w, w)
    rest = np.linalg.eigvalsh(K)[:-rank].sum() / rank
    ridge = max(rest, LEAST * np.trace(K) / len(K)) or 1.0  # a kernel that is zero has no scale
    diagonal(K)[:] += ridge
    factor, found = cho_factor(K, lower=True), diagonal_of(kernel, X)
    for span in spans(len(X), ROWS):
        k = w[:, None] * kernel.gram(S, X[span])
        found[span] -= np.einsum("ij,ij->j", k, cho_solve(factor, k))
    return np.clip(found / ridge, 0, 1)


def by_leverage(kernel: Kernel, X: Array, m: int, rng: np.random.Generator) -> Array:
    """m rows; fewer where fewer have a score."""
    X = X[rng.permutation(len(X))].astype(np.float64, copy=False)
    sizes = [len(X)]
    while sizes[-1] > m:
        sizes.append(-(-sizes[-1] // 2))
    more = np.log(max(m, 3))  # rows of a sample for each unit of the sum of scores
    rank = int(np.ceil(m / (4 * more)))
    S, w = X[: sizes[-1]], np.ones(sizes[-1])
    with bar(len(sizes) - 1, "leverage scores", "level") as shown:
        for n in sizes[-2:0:-1]:
            p = np.minimum(more * scores(kernel, X[:n], S, w, rank), 1)
            if (taken := rng.random(n) < p).any():
                S, w = X[:n][taken], p[taken] ** -0.5
            shown.update()
        p = scores(kernel, X, S, w, rank)
        shown.update()
    there = np.count_nonzero(p)
    if there <= m:
        return X[p > 0] if there else X[:m]
    return X[rng.choice(len(X), m, replace=False, p=p / p.sum())]
