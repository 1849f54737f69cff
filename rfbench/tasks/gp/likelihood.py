"""Hyperparameters of the largest marginal likelihood.

    log p(y) = −½ yᵀC⁻¹y − ½ log|C| − n/2 log 2π,      C = σ²K + σₙ²I                                    (1)
    ∂ log p / ∂θ = ½ tr((C⁻¹yyᵀC⁻¹ − C⁻¹) ∂C/∂θ)                                                         (2)

[Rasmussen & Williams 2006, Eq. 5.8 and 5.9], θ the logarithms of length scale, σ² and σₙ².
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

from rfbench.arrays import Array
from rfbench.kernels.base import median_distance
from rfbench.kernels.exponential import Scaled

STARTS = (1.0, 0.1)  # times the median distance: likelihoods of short and of long length scales have their own maxima
RANGE = np.log(1e6)  # how far a hyperparameter may move from its start, up or down


class Hyperparameters(NamedTuple):
    length_scale: float
    signal: float
    noise: float


Given = tuple[float | None, float | None, float | None]  # None: maximised over


def maximize(kernel: Scaled, X: Array, y: Array, given: Given) -> Hyperparameters:
    """All hyperparameters: those given, and the others of largest likelihood, for centred labels."""
    median, variance = median_distance(X), float(np.mean(y**2))
    free = [place for place, value in enumerate(given) if value is None]
    best = np.inf, np.zeros(3)
    for scale in STARTS if given[0] is None else STARTS[:1]:
        guess = (scale * median, variance, 0.1 * variance)
        theta = np.log([g if value is None else value for g, value in zip(guess, given, strict=True)])
        found = descend(lambda theta: negative_log_marginal(kernel, X, y, theta), theta, free)
        best = min(best, found, key=lambda one: one[0])
    return Hyperparameters(*np.exp(best[1]).tolist())


def descend(loss: Callable[[Array], tuple[float, Array]], theta: Array, free: Sequence[int]) -> tuple[float, Array]:
    """A minimum of the loss over the free entries of θ, from the values they have, and where it is."""
    theta = theta.copy()

    def part(changed: Array) -> tuple[float, Array]:
        theta[free] = changed
        value, gradient = loss(theta)
        return value, gradient[free]

    bounds = [(start - RANGE, start + RANGE) for start in theta[free]]
    found = minimize(part, theta[free], jac=True, method="L-BFGS-B", bounds=bounds)
    theta[free] = found.x
    return float(found.fun), theta


def negative_log_marginal(kernel: Scaled, X: Array, y: Array, theta: Array) -> tuple[float, Array]:
    """Equations (1) and (2) at θ, both negated."""
    l, signal, noise = np.exp(theta).tolist()
    K, slope = replace(kernel, length_scale=l).gram_and_slope(X)
    C = signal * K
    C[np.diag_indices_from(C)] += noise
    try:
        U = cholesky(C, check_finite=False)
    except np.linalg.LinAlgError:
        return 1e25, np.zeros(3)  # the line search backtracks
    inverse = dpotri(U)[0]
    inverse = np.triu(inverse) + np.triu(inverse, 1).T
    alpha = inverse @ y
    value = 0.5 * y @ alpha + np.log(U.diagonal()).sum() + 0.5 * len(y) * np.log(2 * np.pi)
    inverse -= np.outer(alpha, alpha)
    gradient = np.array([signal * np.vdot(inverse, slope), signal * np.vdot(inverse, K), noise * np.trace(inverse)])
    return float(value), 0.5 * gradient
