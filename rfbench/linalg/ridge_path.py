"""Ridge regression for a path of penalties λ, by three solvers.

    S Z R + λ Z = T,      S (m × m) and R (r × r) positive                                             (1)

is, with S = QΛQᵀ and R = V diag(s) Vᵀ, a division: (QᵀZV)ᵢⱼ = (QᵀTV)ᵢⱼ / (Λᵢ sⱼ + λ).  All λ cost one diagonalisation.
With R = BᵀB it is the Stein equation of the decomposable kernel [Brault et al. 2016, 4.1]; with R = I it is the ridge
regression of each output alone, for which Cholesky factors, one for each λ, use all workers.
"""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from rfbench.arrays import Array, diagonal
from rfbench.engines import Engine
from rfbench.linalg.cg import conjugate_gradients
from rfbench.linalg.cholesky import factor_in_place, solve_factored
from rfbench.linalg.tiles import tiles
from rfbench.progress import bar
from rfbench.sketches import Coupling

TOLERANCE = 1e-7  # of the residual of conjugate gradients


def cholesky_path(S: Array, T: Array, penalties: Array, engine: Engine) -> Array:
    """(S + λI)⁻¹ T for each λ, from the upper triangle of S; NaN where λ is below rounding error."""
    A, found = np.empty_like(S), np.full((len(penalties), *T.shape), np.nan, T.dtype)

    def copy(ij: tuple[slice, slice]) -> None:
        A[ij] = S[ij]

    with bar(len(penalties), "penalties") as shown:
        for penalty, solution in zip(penalties, found, strict=True):
            engine.run(copy, tiles(len(S)))
            diagonal(A)[...] += penalty
            with suppress(np.linalg.LinAlgError):
                factor_in_place(A, engine)
                solution[...] = solve_factored(A, T)
            shown.update()
    return found


def eigen_path(S: Array, R: Array, T: Array, penalties: Array) -> Iterator[Array]:
    """Z of (1) for each λ."""
    if len(penalties) == 1:
        with suppress(np.linalg.LinAlgError):  # not positive, by rounding
            yield solve(S, R, T, penalties[0])
            return
    (L, Q), (s, V) = eigh(S, driver="evd"), np.linalg.eigh(R)
    U, scale = Q.T @ T @ V, np.outer(np.maximum(L, 0), np.maximum(s, 0))  # below zero only by rounding
    for penalty in penalties:
        yield Q @ (U / (scale + penalty)) @ V.T


def solve(S: Array, R: Array, T: Array, penalty: float) -> Array:
    """Z of (1) for one λ: a Cholesky factor, which costs far less, for each different eigenvalue of R."""
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


def cg_path(G: Array, M: Coupling, C: Array, penalties: Array) -> Iterator[Array]:
    """θ of (MᵀGM + λ) θ = Mᵀ(C) for each λ by conjugate gradients, D²p a step; each λ starts from the next larger."""
    theta, b = np.zeros((int(np.prod(M.shape)), 1)), M.adjoint(C).reshape(-1, 1)
    found = {}
    for penalty in sorted(penalties, reverse=True):

        def product(v: Array, penalty: float = penalty) -> Array:
            return M.adjoint(G @ M.forward(v.reshape(M.shape))).reshape(-1, 1) + penalty * v

        theta = conjugate_gradients(product, b, TOLERANCE, start=theta).x
        found[penalty] = theta.reshape(M.shape)
    yield from (found[penalty] for penalty in penalties)
