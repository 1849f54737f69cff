"""Cholesky factors of large matrices, by tiles on all workers.

    A = UᴴU,      UᵢᵢᴴUᵢᵢ = Aᵢᵢ − Σ_{k<i} UₖᵢᴴUₖᵢ,      Uᵢⱼ = Uᵢᵢ⁻ᴴ (Aᵢⱼ − Σ_{k<i} UₖᵢᴴUₖⱼ)                       (1)

row of tiles by row of tiles, each written once.  Every call of BLAS has one thread, so workers change no bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from rfbench.blocks import spans
from rfbench.engines import Local
from rfbench.tasks.tiles import TILE

Array = NDArray[Any]
JITTERS = (0.0, 1e-12, 1e-10, 1e-8)  # of the mean of the diagonal


def factor(fill: Callable[[], Array], engine: Local) -> tuple[Array, float]:
    """(U, what had to be added to the diagonal) of the matrix whose upper triangle `fill` makes, in its place."""
    for jitter in JITTERS:
        A = fill()
        diagonal = A.reshape(-1)[:: len(A) + 1]
        added = jitter * float(np.mean(diagonal.real))
        diagonal += added
        try:
            factor_in_place(A, engine)
        except np.linalg.LinAlgError:
            continue
        return A, added
    ends = np.abs(eigvalsh(fill(), lower=False))[[0, -1]]
    condition = ends.max() / max(ends.min(), np.finfo(float).tiny)
    raise np.linalg.LinAlgError(
        f"a matrix of {len(A)} rows cannot be factorised, its condition number is {condition:.2g}"
    )


def factor_in_place(A: Array, engine: Local) -> None:
    """Equation (1) in the upper triangle of A; what is below it stays."""
    for start, stop in spans(len(A), TILE):
        i, above = slice(start, stop), A[:start, start:stop].conj().T
        columns = [slice(left, min(left + TILE, len(A))) for left in range(start, len(A), TILE)]

        def reduce(j: slice, i: slice = i, above: Array = above) -> None:
            A[i, j] -= above @ A[: i.start, j]

        def solve(j: slice, i: slice = i) -> None:
            A[i, j] = solve_triangular(A[i, i], A[i, j], trans="C", check_finite=False)

        engine.run(reduce, columns)
        A[i, i] = cholesky(A[i, i])
        engine.run(solve, columns[1:])


def solve_factored(U: Array, b: Array) -> Array:
    """A⁻¹ b."""
    half = solve_triangular(U, b.conj(), trans="T", check_finite=False).conj()
    return solve_triangular(U, half, check_finite=False)


def norms(U: Array, V: Array) -> Array:
    """vᵀ A⁻¹ v* of every row v of V: no difference of large numbers."""
    W = solve_triangular(U, V.T, trans="T", check_finite=False)  # of a row-major U this makes no copy
    return np.einsum("ij,ij->j", W, W.conj(), dtype=np.result_type(W, np.float64)).real
