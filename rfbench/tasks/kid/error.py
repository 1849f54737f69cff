"""The variance of the unbiased squared MMD over the choice of the rows.

With φ̃ = φ − μ of each distribution, δ = μ_x − μ_y and C = E φ̃φ̃ᵀ, the estimate of mmd.py is ‖δ‖² plus uncorrelated
terms of mean zero, its Hoeffding decomposition as a U-statistic, so that for n and m rows

    Var = 4 δᵀC_xδ/n + 4 δᵀC_yδ/m + S,        S = 2 ‖C_x‖²/n(n−1) + 2 ‖C_y‖²/m(m−1) + 4 ⟨C_x, C_y⟩/nm           (1)

δᵀCδ is the variance of the witness f(x) = ⟨φ(x), δ⟩ over rows.  The difference of the two mean embeddings varies
around δ with covariance C_x/n + C_y/m: with it in place of δ, the first two terms of (1) are 2S too large.  The
witnesses of two draws of a sketch have independent errors, so that their covariance over rows is the variance of the
exact one.  The first two terms are not negative; cutting them at zero makes (1) a little too large where δ = 0.
"""

import numpy as np

from rfbench.arrays import Array
from rfbench.kernels import Kernel


def sampling_variance(kernel: Kernel, rows: tuple[Array, Array], witness: tuple[Array, Array], n: int, m: int) -> float:
    """Equation (1) for sets of n and m rows, from some rows of each and their witness, (draws, rows)."""
    (X, Y), (f_x, f_y) = rows, witness
    K_x, K_y, K_xy = (centred(kernel.gram(A, B)) for A, B in ((X, X), (Y, Y), (X, Y)))
    second = 2 * off_diagonal(K_x**2) / (n * (n - 1)) + 2 * off_diagonal(K_y**2) / (m * (m - 1))
    second += 4 * float(np.mean(K_xy**2)) / (n * m)
    first = 4 * off_diagonal(np.cov(f_x)) / n + 4 * off_diagonal(np.cov(f_y)) / m
    return max(first - 2 * second, 0.0) + second


def centred(K: Array) -> Array:
    """⟨φ̃(x), φ̃(y)⟩ of all pairs."""
    return K - K.mean(0) - K.mean(1)[:, None] + K.mean()


def off_diagonal(A: Array) -> float:
    """The mean of all entries off the diagonal."""
    return float(A.sum() - A.trace()) / (len(A) * (len(A) - 1))
