"""Cholesky factors of large matrices, by tiles on all workers.

    A = UᴴU,      UᵢᵢᴴUᵢᵢ = Aᵢᵢ − Σ_{k<i} UₖᵢᴴUₖᵢ,      Uᵢⱼ = Uᵢᵢ⁻ᴴ (Aᵢⱼ − Σ_{k<i} UₖᵢᴴUₖⱼ)                       (1)

row of tiles by row of tiles, each written once.  Every call of BLAS has one thread, so workers change no bit.  SciPy's
solvers hold Python's lock and NumPy's products do not: systems with a diagonal tile are solved by its inverse.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from rfbench.arrays import Array, diagonal
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.linalg.spill import Panels
from rfbench.linalg.tiles import TILE

JITTERS = (0.0, 1e-12, 1e-10, 1e-8)  # over the mean of the diagonal


def factor(fill: Callable[[], Array], engine: Engine) -> tuple[Array, float]:
    """(U, what was added to the diagonal) of the matrix whose upper triangle `fill` returns; U overwrites it."""
    for jitter in JITTERS:
        A = fill()
        entries = diagonal(A)
        added = jitter * float(np.mean(entries.real))
        entries += added
        try:
            factor_in_place(A, engine)
        except np.linalg.LinAlgError:
            continue
        return A, added
    ends = np.abs(eigvalsh(fill(), lower=False))[[0, -1]]
    condition = ends.max() / max(ends.min(), np.finfo(float).tiny)
    raise np.linalg.LinAlgError(
        f"cannot factorise a {len(A):,} × {len(A):,} matrix: its condition number is {condition:.2g}"
    )


def factor_in_place(A: Array, engine: Engine) -> None:
    """Equation (1) in the upper triangle of A; the lower one is not touched."""
    for i in spans(len(A), TILE):
        above, columns = A[: i.start, i].conj().T, list(spans(len(A), TILE, i.start))

        def reduce(j: slice, i: slice = i, above: Array = above) -> None:
            A[i, j] -= above @ A[: i.start, j]

        engine.run(reduce, columns)
        A[i, i] = cholesky(A[i, i])
        left = inverse(A[i, i]).conj().T

        def solve(j: slice, i: slice = i, left: Array = left) -> None:
            A[i, j] = left @ A[i, j]

        engine.run(solve, columns[1:])


def solve_factored(U: Array, b: Array) -> Array:
    """A⁻¹ b."""
    half = solve_triangular(U, b.conj(), trans="T", check_finite=False).conj()
    return solve_triangular(U, half, check_finite=False)


def inverse(U: Array) -> Array:
    """U⁻¹ of one tile."""
    return solve_triangular(U, np.eye(len(U), dtype=U.dtype), check_finite=False)


class Norms:
    """v → vᵀ A⁻¹ v* = ‖w‖² with wU = vᵀ: no difference of large numbers."""

    def __init__(self, U: Panels) -> None:
        self.panels = [(j, panel[: j.start], inverse(panel[j.start :])) for j, panel in U]

    def __call__(self, V: Array) -> Array:
        """The norm of every row of V."""
        W = np.empty_like(V, order="C")
        for j, above, inverted in self.panels:
            W[:, j] = (V[:, j] - W[:, : j.start] @ above) @ inverted
        return np.einsum("ij,ij->i", W, W.conj(), dtype=np.result_type(W, np.float64)).real
