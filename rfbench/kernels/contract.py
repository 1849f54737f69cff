"""What every kernel promises, as checks that a kernel passes or fails with a reason."""

from collections.abc import Callable

import numpy as np

from rfbench.arrays import Array, inner
from rfbench.kernels.base import DotProductKernel, Kernel

DEGREES = 60  # of a Maclaurin series

Check = Callable[[Kernel, Array], str | None]  # rows of length 1; what is wrong, or None


def values_are_doubles(kernel: Kernel, X: Array) -> str | None:
    """gram of n and m rows is (n p, m p), in float64, for rows of either precision."""
    p = kernel.size(X.shape[1])
    for dtype in (np.float32, np.float64):
        K = kernel.gram(X[:5].astype(dtype), X[5:8].astype(dtype))
        if K.dtype != np.float64 or K.shape != (5 * p, 3 * p):
            return f"gram of 5 and 3 rows is {K.dtype} {K.shape}, not float64 {(5 * p, 3 * p)}"
    return None


def matrix_is_symmetric_and_positive(kernel: Kernel, X: Array) -> str | None:
    """k(x, y) = k(y, x)ᵀ, and no eigenvalue of a matrix of rows is below zero."""
    K = kernel.gram(X, X)
    if not np.allclose(K, K.T, rtol=1e-9):
        return f"the matrix of rows is not symmetric: it differs from its transpose by {np.abs(K - K.T).max():.3g}"
    values = np.linalg.eigvalsh(K)
    if values[0] < -1e-9 * values[-1]:
        return f"the matrix of rows has the eigenvalue {values[0]:.3g}, and the largest is {values[-1]:.3g}"
    return None


def pairs_are_apart(kernel: Kernel, X: Array) -> str | None:
    """The value of a pair does not depend on the other rows, and rows are not changed."""
    before, p = X.copy(), kernel.size(X.shape[1])
    K = kernel.gram(X, X)
    if not np.array_equal(X, before):
        return "gram changes its rows; write to a copy"
    if not np.allclose(kernel.gram(X[2:3], X[4:5]), K[2 * p : 3 * p, 4 * p : 5 * p], rtol=1e-9):
        return "the value of a pair depends on the other rows"
    return None


def series_is_the_kernel(kernel: Kernel, X: Array) -> str | None:
    """g(x) g(y) Σ aₙ ⟨x, y⟩ⁿ = k(x, y) with no aₙ below zero, for a dot product kernel."""
    if not isinstance(kernel, DotProductKernel):
        return None
    n = np.arange(DEGREES)
    a = kernel.coefficients(n)
    if (a < 0).any():
        return f"coefficient {int(np.argmax(a < 0))} of its series is negative"
    g, t = kernel.radial(X), inner(X, X)
    series = np.outer(g, g) * (t[..., None] ** n @ a)
    wrong = float(np.abs(series - kernel.gram(X, X)).max())
    return f"its series is off by {wrong:.3g}" if wrong > 1e-6 * np.abs(series).max() else None


def kernel_is_a_value(kernel: Kernel, X: Array) -> str | None:
    """The kernel can be hashed."""
    hash(kernel)
    return None


CHECKS: tuple[Check, ...] = (
    values_are_doubles,
    matrix_is_symmetric_and_positive,
    pairs_are_apart,
    series_is_the_kernel,
    kernel_is_a_value,
)
