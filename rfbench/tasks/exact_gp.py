"""The exact Gaussian process on a subset of rows, and the noise that suits it.

K = QΛQᵀ serves every σₙ² = λσ² of a grid [Rasmussen & Williams 2006, Eq. 2.25, 2.26]:

    μ = K₊Q (Λ + λI)⁻¹ Qᵀy,      σ² diag(K₊₊ − K₊Q (Λ + λI)⁻¹ QᵀK₊ᵀ)                                   (1)

The noise of least MNLL on a tenth of the rows is taken (Wacker 2022, 5.4.1, "maximizes" there).  The thesis lets a
baseline sketch choose; here the exact kernel does, so that the choice favours no sketch.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from rfbench.kernels import Kernel
from rfbench.tasks.scores import negative_log_likelihood

Array = NDArray[Any]
GRID = 2.0 ** np.arange(-15, 16)  # of the noise variance, over the variance of the labels
VALIDATION = 0.1


def choose_noise(kernel: Kernel, X: Array, y: Array, signal: float, grid: Array, rng: np.random.Generator) -> float:
    """The noise variance of the grid with the least MNLL on rows that were left out."""
    order = rng.permutation(len(X))
    left_out, kept = np.split(order, [max(round(VALIDATION * len(X)), 1)])
    posteriors = posteriors_of_grid(kernel, X[kept], y[kept], X[left_out], signal, grid)
    losses = [
        negative_log_likelihood(y[left_out], mean, variance + noise).mean()
        for noise, (mean, variance) in zip(grid, posteriors, strict=True)
    ]
    return float(grid[np.argmin(losses)])


def posteriors_of_grid(
    kernel: Kernel, X: Array, y: Array, X_new: Array, signal: float, grid: Array
) -> Iterator[tuple[Array, Array]]:
    """Equation (1): mean and variance of f at new rows, for each noise."""
    eigenvalues, Q = eigh(kernel.gram(X, X), overwrite_a=True, driver="evd")
    KQ, Qy = kernel.gram(X_new, X) @ Q, Q.T @ y
    diagonal = np.array([kernel.gram(x, x)[0, 0] for x in X_new[:, None]])
    for noise in grid:
        weights = 1 / (np.maximum(eigenvalues, 0) + noise / signal)
        yield KQ @ (weights * Qy), signal * np.maximum(diagonal - KQ**2 @ weights, 0)
