"""Conjugate gradients for (H + λI) x = b, and a preconditioner for H that is nearly of low rank.

With BBᴴ = U diag(s) Uᴴ an estimate of H,

    P⁻¹ = U diag((s_min + λ)/(s + λ)) Uᴴ + (I − UUᴴ)                                                    (1)

[Frangella, Tropp, Udell 2023, Eq. 1.3].
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.progress import bar

Operator = Callable[[Array], Array]
ITERATIONS = 500  # limit
PRECONDITIONER_ROWS = 4096  # of U multiplied at once
TINY = np.finfo(float).tiny


class Solution(NamedTuple):
    x: Array
    steps: int
    residual: float  # the largest of all columns, over the norm of b


def conjugate_gradients(
    product: Operator,
    b: Array,
    tolerance: float,
    *,
    precondition: Operator = lambda r: r,
    start: Array | None = None,
    limit: int = ITERATIONS,
) -> Solution:
    """Solve for every column of b, each with its own step lengths, until all residuals are within the tolerance."""
    x = np.zeros_like(b) if start is None else start
    r = b.copy() if start is None else b - product(x)
    norm = np.maximum(np.linalg.norm(b, axis=0), TINY)
    z = p = precondition(r)
    rz = inner_products(r, z)
    with bar(limit, "conjugate gradients", " steps") as shown:
        for step in range(limit + 1):
            residual = float(np.max(np.linalg.norm(r, axis=0) / norm))
            if residual <= tolerance or step == limit or not np.isfinite(residual):
                break
            shown.set_postfix_str(f"residual {residual:.1g}, tolerance {tolerance:.0g}")
            Ap = product(p)
            a = rz / np.maximum(inner_products(p, Ap), TINY)
            x, r = x + a * p, r - a * Ap
            z = precondition(r)
            rz, last = inner_products(r, z), rz
            p = z + rz / np.maximum(last, TINY) * p
            shown.update()
    return Solution(x, step, residual)


def inner_products(a: Array, b: Array) -> Array:
    """⟨a, b⟩ of every column."""
    return np.einsum("ij,ij->j", a.conj(), b).real


class LowRankPreconditioner:
    """Equation (1) for a penalty λ; U overwrites B, (N, m)."""

    def __init__(self, B: Array, penalty: float, engine: Engine) -> None:
        self.engine, self.rows = engine, list(spans(len(B), PRECONDITIONER_ROWS))
        double = np.result_type(B, np.float64)  # small eigenvalues beside large ones matter

        def square(rows: slice) -> Array:
            block = B[rows].astype(double)
            return block.conj().T @ block

        s, V = eigh(total(engine.map(square, self.rows), (B.shape[1],) * 2, double), overwrite_a=True, driver="evd")
        large = s > 1e-10 * s[-1]  # the rest is rounding
        s, V = s[large], (V[:, large] / np.sqrt(s[large])).astype(B.dtype)
        self.U, self.weights = B[:, : len(s)], ((s[0] + penalty) / (s + penalty) - 1)[:, None]

        def rotate(rows: slice) -> None:
            self.U[rows] = B[rows] @ V

        engine.run(rotate, self.rows)

    def __call__(self, r: Array) -> Array:
        """P⁻¹ r."""
        U, single = self.U, r.astype(self.U.dtype)
        parts = self.engine.map(lambda rows: U[rows].conj().T @ single[rows], self.rows)
        inside = (self.weights * total(parts, (U.shape[1], r.shape[1]), r.dtype)).astype(U.dtype)
        return r + np.concatenate(list(self.engine.map(lambda rows: U[rows] @ inside, self.rows)))


def total(parts: Iterable[Array], shape: tuple[int, ...], dtype: Any) -> Array:
    """The sum of arrays of one shape, in order."""
    found = np.zeros(shape, dtype)
    for part in parts:
        found += part
    return found
