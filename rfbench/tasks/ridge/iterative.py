"""Ridge regression by conjugate gradients: Φ is never held, nor a matrix of D² or n² numbers.

Of the normal equations (ΦᴴΦ + λI) W = ΦᴴY, or, where the kernel has no features, of (K + λI) A = Y.  Both matrices are
nearly of low rank, and some rows tell which: with B Bᴴ an estimate of the matrix without λ from `LANDMARKS` rows,
BBᴴ = U diag(s) Uᴴ,

    P⁻¹ = U diag((s_min + λ)/(s + λ)) Uᴴ + (I − UUᴴ)                                                    (1)

is the preconditioner [Frangella, Tropp, Udell 2023, Eq. 1.3].  Products are in the precision of the features, sums and
all vectors in double.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.linalg.gram import Blocks, wide
from rfbench.linalg.kept import Kept
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.progress import bar
from rfbench.sketches import FeatureMap, KernelRows
from rfbench.tasks.ridge.predictors import Expansion, Function, Linear

Operator = Callable[[Array], Array]
LANDMARKS = 4096
MOST = 500  # steps


class NoConvergenceError(ArithmeticError):
    """Said in a failed row."""


def normal_equations(
    features: FeatureMap,
    blocks: Callable[[], Blocks],
    shape: tuple[int, int],
    landmarks: Array,
    penalty: float,
    tolerance: float,
    engine: Engine,
    watch: Stopwatch,
) -> tuple[Function, int]:
    """x → Φ(x)ᵀW and the number of steps; the shape is that of all targets, n × p."""
    kept = Kept(features, blocks, shape[0], engine)
    with watch("features"):
        R = total(kept.first(lambda Phi, Y: Phi.conj().T @ Y.astype(Phi.dtype)), (features.D, shape[1]), wide(features))

    def product(V: Array) -> Array:
        V = V.astype(features.dtype)
        return total(kept.again(lambda Phi: Phi.conj().T @ (Phi @ V)), R.shape, R.dtype)

    B = engine.transform(features, landmarks, np.empty((len(landmarks), features.D), features.dtype)).conj().T
    B *= np.sqrt(shape[0] / len(landmarks))
    with watch("solve"):
        W, steps = conjugate_gradients(product, R, penalty, tolerance, preconditioner(B, penalty, engine))
    return Linear(features, W), steps


def kernel_equations(
    features: FeatureMap,
    blocks: Callable[[], Blocks],
    landmarks: Array,
    penalty: float,
    tolerance: float,
    engine: Engine,
    watch: Stopwatch,
) -> tuple[Function, int]:
    """x → Σ k(x, xᵢ)aᵢ and the number of steps."""
    X, Y = (np.concatenate(column) for column in zip(*blocks(), strict=True))
    kept = Kept(KernelRows(features, X), blocks, len(X), engine)
    with watch("gram"):
        for _ in kept.first(lambda K, Y: None):
            pass

    def product(V: Array) -> Array:
        V = V.astype(features.dtype)
        return np.concatenate(list(kept.again(lambda K: K @ V))).astype(np.float64)

    near = KernelRows(features, landmarks)
    K_mm = near(landmarks).astype(np.float64)
    K_mm[np.diag_indices_from(K_mm)] += 1e-6 * np.trace(K_mm) / len(K_mm)  # of rounding
    B = engine.transform(near, X, near.empty(len(X)))
    half = solve_triangular(cholesky(K_mm), np.eye(len(K_mm))).astype(B.dtype)
    for span in spans(len(X), 4096):
        B[span] = B[span] @ half
    with watch("solve"):
        A, steps = conjugate_gradients(product, Y, penalty, tolerance, preconditioner(B, penalty, engine))
    return Expansion(features, X, A), steps


def total(parts: Any, shape: tuple[int, ...], dtype: Any) -> Array:
    """The sum of arrays of one shape, in order."""
    found = np.zeros(shape, dtype)
    for part in parts:
        found += part
    return found


def preconditioner(B: Array, penalty: float, engine: Engine) -> Operator:
    """Equation (1); B, of shape (N, m), becomes U."""
    rows = list(spans(len(B), 4096))
    double = np.result_type(B, np.float64)  # since small eigenvalues beside large ones count

    def square(span: slice) -> Array:
        block = B[span].astype(double)
        return block.conj().T @ block

    s, V = eigh(total(engine.map(square, rows), (B.shape[1], B.shape[1]), double), overwrite_a=True, driver="evd")
    large = s > 1e-10 * s[-1]  # the rest is rounding
    s, V = s[large], (V[:, large] / np.sqrt(s[large])).astype(B.dtype)
    U = B[:, : len(s)]

    def rotate(span: slice) -> None:
        U[span] = B[span] @ V

    engine.run(rotate, rows)
    weights = ((s[0] + penalty) / (s + penalty) - 1)[:, None]

    def apply(r: Array) -> Array:
        small = r.astype(U.dtype)
        inside = weights * total(
            engine.map(lambda span: U[span].conj().T @ small[span], rows), (len(s), r.shape[1]), r.dtype
        )
        return r + np.concatenate(list(engine.map(lambda span: U[span] @ inside.astype(U.dtype), rows)))

    return apply


def conjugate_gradients(
    product: Operator, b: Array, penalty: float, tolerance: float, precondition: Operator
) -> tuple[Array, int]:
    """(H + λI)⁻¹ b up to a residual, over b; each column has its own steps, side by side; how many there were."""
    x, r = np.zeros_like(b), b.copy()
    z = precondition(r)
    p, rz, norm = z, inner(r, z), np.linalg.norm(b, axis=0)
    with bar(MOST, "conjugate gradients", " steps") as shown:
        for step in range(MOST):
            residual = np.max(np.linalg.norm(r, axis=0) / np.where(norm > 0, norm, 1))
            if residual <= tolerance:
                return x, step
            shown.set_postfix_str(f"residual {residual:.1g}, down to {tolerance:.0g}")
            Ap = product(p) + penalty * p
            a = rz / np.maximum(inner(p, Ap), np.finfo(float).tiny)
            x, r = x + a * p, r - a * Ap
            z = precondition(r)
            rz, last = inner(r, z), rz
            p = z + rz / np.maximum(last, np.finfo(float).tiny) * p
            shown.update()
    raise NoConvergenceError(
        f"conjugate gradients are at a residual of {residual:.1g} after {MOST} steps; use a larger task.alpha"
    )


def inner(a: Array, b: Array) -> Array:
    """⟨a, b⟩ of every column."""
    return np.einsum("ij,ij->j", a.conj(), b).real
