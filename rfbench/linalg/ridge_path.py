"""Ridge regression for a path of penalties.

    S Z R + λ Z = T,      S (m × m) and R (r × r) positive                                             (1)

is, with S = QΛQᵀ and R = V diag(s) Vᵀ, a division: (QᵀZV)ᵢⱼ = (QᵀTV)ᵢⱼ / (Λᵢ sⱼ + λ).  All λ cost one diagonalisation.
With R = BᵀB it is the Stein equation of the decomposable kernel [Brault et al. 2016, 4.1].
"""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse.linalg import LinearOperator, cg

from rfbench.arrays import Array
from rfbench.sketches import Coupling

ITERATIONS = 500  # of conjugate gradients, for each λ
TOLERANCE = 1e-7


def path(S: Array, R: Array, T: Array, penalties: Array) -> Iterator[Array]:
    """Z of (1) for each λ."""
    if len(penalties) == 1:
        with suppress(np.linalg.LinAlgError):  # not positive, by rounding
            yield solve(S, R, T, penalties[0])
            return
    (L, Q), (s, V) = eigh(S, driver="evd"), np.linalg.eigh(R)
    U, scale = Q.T @ T @ V, np.outer(np.maximum(L, 0), np.maximum(s, 0))  # below zero it is rounding
    for penalty in penalties:
        yield Q @ (U / (scale + penalty)) @ V.T


def solve(S: Array, R: Array, T: Array, penalty: float) -> Array:
    """Z of (1) for one λ: a Cholesky factor, far less than a diagonalisation, for each different eigenvalue of R."""
    s, V = np.linalg.eigh(R)
    values, which = np.unique(np.abs(np.round(s / s[-1], 10)), return_inverse=True)
    U = T @ V
    for j, value in enumerate(values * s[-1]):
        if not value:
            U[:, which == j] /= penalty
            continue
        A = S * value
        A[np.diag_indices_from(A)] += penalty
        U[:, which == j] = cho_solve(cho_factor(A, overwrite_a=True), U[:, which == j])
    return U @ V.T


def conjugate_gradients(G: Array, M: Coupling, C: Array, penalties: Array) -> Iterator[Array]:
    """θ of (MᵀGM + λ) θ = Mᵀ(C) for each λ, from the largest on, each from the one before: D²p to a step."""
    theta, b = np.zeros(int(np.prod(M.shape))), M.adjoint(C).ravel()
    found = {}
    for penalty in sorted(penalties, reverse=True):

        def product(v: Array, penalty: float = penalty) -> Array:
            return M.adjoint(G @ M.forward(v.reshape(M.shape))).ravel() + penalty * v

        A = LinearOperator((len(b), len(b)), product, dtype=np.float64)
        theta, _ = cg(A, b, theta, rtol=TOLERANCE, maxiter=ITERATIONS)
        found[penalty] = theta.reshape(M.shape)
    yield from (found[penalty] for penalty in penalties)
