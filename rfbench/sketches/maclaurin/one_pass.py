"""The statistics of allocation.py from the scale of the rows alone: one pass, no kernel of a pair.

Wacker 2022, 7, asks for it.  Of n rows x = ‖x‖ u it takes the quantiles of ‖x‖ and the first two moments of the cosine
c = ⟨u, u'⟩ of two different rows, which are sums over single rows:

    (n² − n) E c = ‖Σ u‖² − n,        (n² − n) E c² = ‖Σ u uᵀ‖² − n                                                (1)

Equation (2) of allocation.py is then the mean over pairs of stand-ins: lengths at these quantiles, cosines at the nodes
of Gauss and Hermite for the normal law with these moments, and entries of nearly equal size, in the directions
(1, 1, 1, ..) and (1, −1, 1, ..).
"""

from collections.abc import Mapping

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from rfbench.arrays import Array, squared_norms
from rfbench.kernels.base import DotProductKernel
from rfbench.sketches.maclaurin.allocation import Curve, Term, means

LENGTHS = 8
NODES, WEIGHTS = hermegauss(16)


def from_scale(kernel: DotProductKernel, terms: Mapping[int, Term], X: Array) -> tuple[list[Curve], Array]:
    """vₙ for every degree n, and b_p for p equal to every degree."""
    lengths, cosines = scale(X.astype(np.float64))
    A, B = stand_ins(lengths, cosines, X.shape[1])
    weights = np.sqrt(np.tile(WEIGHTS / WEIGHTS.sum(), LENGTHS))  # they count squared
    return means(kernel, terms, [(A, B, weights)], LENGTHS**2)


def scale(X: Array) -> tuple[Array, Array]:
    """Quantiles of the lengths, and cosines at the nodes."""
    norms = np.sqrt(squared_norms(X))
    U = X[norms > 0] / norms[norms > 0, None]
    n = len(U)
    pairs = max(n * (n - 1), 1)
    moments = U.T @ U if n > X.shape[1] else U @ U.T  # both have the same norm
    mean = (np.sum(U.sum(0) ** 2) - n) / pairs
    variance = max((np.vdot(moments, moments) - n) / pairs - mean**2, 0)
    lengths = np.quantile(norms, (np.arange(LENGTHS) + 0.5) / LENGTHS)
    return lengths, np.clip(mean + np.sqrt(variance) * NODES, -1, 1)


def stand_ins(lengths: Array, cosines: Array, d: int) -> tuple[Array, Array]:
    """Rows A of all lengths and B of all lengths and cosines with those of A."""
    first, second = np.full(d, d**-0.5), np.resize([1.0, -1.0], d)
    second -= second.mean()
    second /= max(np.linalg.norm(second), 1e-300)  # one column has no second direction
    directions = np.outer(cosines, first) + np.outer(np.sqrt(1 - cosines**2), second)
    return np.outer(lengths, first), np.einsum("i,jk->ijk", lengths, directions).reshape(-1, d)
