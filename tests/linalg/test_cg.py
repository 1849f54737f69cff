"""Conjugate gradients against a dense solution."""

import numpy as np
import pytest

from rfbench.engines import Local
from rfbench.linalg.cg import LowRankPreconditioner, conjugate_gradients


def problem(kind, n=80):
    """(H of rapidly falling eigenvalues, b with a column of zeros)."""
    rng = np.random.default_rng(0)  # of its own: the numbers of a test do not depend on those before it
    V = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if kind == "complex" else 0)
    Q, _ = np.linalg.qr(V)
    b = rng.standard_normal((n, 3)) @ np.diag([1, 0, 5]) + 0 * V[:, :3]
    return Q * 10.0 ** -np.linspace(0, 8, n) @ Q.conj().T, b


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_every_column_is_solved(kind):
    H, b = problem(kind)
    A = H + 1e-2 * np.eye(80)
    x, steps, residual = conjugate_gradients(lambda p: A @ p, b, 1e-10)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), atol=1e-7)
    assert residual <= 1e-10
    assert steps > 5
    again = conjugate_gradients(lambda p: A @ p, b, 1e-8, start=x)
    assert again.steps == 0


def test_the_limit_is_kept_and_the_residual_is_that_of_the_answer():
    H, b = problem("real")
    A = H + 1e-4 * np.eye(80)
    x, steps, residual = conjugate_gradients(lambda p: A @ p, b, 1e-12, limit=7)
    assert steps == 7
    wanted = np.linalg.norm(b - A @ x, axis=0)[[0, 2]] / np.linalg.norm(b, axis=0)[[0, 2]]
    assert residual == pytest.approx(wanted.max(), rel=1e-6)


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_the_preconditioner_is_its_formula_and_saves_steps(kind):
    H, b = problem(kind)
    values, Q = np.linalg.eigh(H)
    B = Q[:, -40:] * np.sqrt(values[-40:])
    U, s, penalty = Q[:, -40:], values[-40:], 1e-3
    wanted = U * ((s[0] + penalty) / (s + penalty)) @ U.conj().T + np.eye(80) - U @ U.conj().T
    with Local(2).running() as engine:
        precondition = LowRankPreconditioner(B.copy(), penalty, engine)
        np.testing.assert_allclose(precondition(b), wanted @ b, atol=1e-8)
        A = H + penalty * np.eye(80)
        plain, fast = (
            conjugate_gradients(lambda p: A @ p, b, 1e-8, precondition=one) for one in (lambda r: r, precondition)
        )
    error = np.linalg.norm(fast.x - np.linalg.solve(A, b), axis=0)
    assert (error <= 1e-8 * np.linalg.norm(b, axis=0) / penalty + 1e-9).all()  # the residual over the least eigenvalue
    assert fast.steps < plain.steps / 2
