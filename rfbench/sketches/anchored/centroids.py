"""Anchors of training rows: k-means, rows themselves, or the points that leave the least of the kernel.

`optimized` begins with k-means and minimises the trace that the points Z leave on training rows,
Σ k(x, x) − g(x)ᵀ K_ZZ⁻¹ g(x), by L-BFGS.  With A = K_ZZ⁻¹ K_ZX, its gradient by Z is

    −2 (A ∘ f'(Z Xᵀ)) X + 2 (A Aᵀ ∘ f'(Z Zᵀ)) Z                                                                  (1)
"""

from collections.abc import Callable

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from rfbench.arrays import Array
from rfbench.sketches.anchored.split import Split
from rfbench.sketches.centroids import k_means, uniform

STEPS = 25  # of L-BFGS
SOME = 4000  # rows of the trace that it minimises
JITTER = 1e-6  # of the largest k(z, z)


def optimized(split: Split, X: Array, m: int, rng: np.random.Generator) -> Array:
    """Equation (1) from k-means."""
    from scipy.optimize import minimize

    start = k_means(split, X, m, rng)
    X = X[rng.permutation(len(X))[:SOME]]
    options = {"maxiter": STEPS}
    found = minimize(
        lambda z: _left(split, X, z.reshape(start.shape)), start.ravel(), jac=True, method="L-BFGS-B", options=options
    )
    return found.x.reshape(start.shape).astype(X.dtype)


def _left(split: Split, X: Array, Z: Array) -> tuple[float, Array]:
    """Minus the trace that Z and the zero row explain, per row, and its gradient; g(z) would not change it."""
    a, slope = split.a, polyder(split.a)
    Z = np.concatenate((np.zeros((1, Z.shape[1])), Z))
    ZX, ZZ = (Z.astype(X.dtype) @ X.T).astype(np.float64), Z @ Z.T
    G, K = polyval(ZX, a) * split.kernel.radial(X), polyval(ZZ, a)
    K[np.diag_indices(len(K))] += JITTER * K.max()
    A = np.linalg.solve(K, G)
    of_X = (A * polyval(ZX, slope) * split.kernel.radial(X)).astype(X.dtype) @ X
    gradient = -2 * of_X + 2 * (A @ A.T * polyval(ZZ, slope)) @ Z
    return -float(np.vdot(A, G)) / len(X), gradient[1:].ravel() / len(X)


CENTROIDS: dict[str, Callable[[Split, Array, int, np.random.Generator], Array]] = {
    "k_means": k_means,
    "uniform": uniform,
    "optimized": optimized,
}
