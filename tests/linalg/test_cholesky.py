"""Cholesky factors by tiles against LAPACK."""

import numpy as np
import pytest

from rfbench.engines import Local
from rfbench.linalg.cholesky import Norms, factor, solve_factored
from rfbench.linalg.spill import panels


@pytest.mark.parametrize("n", [1, 511, 512, 513, 1300])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_the_factor_is_that_of_lapack(n, kind):
    rng = np.random.default_rng(n)
    V = rng.standard_normal((n + 5, n)) + (1j * rng.standard_normal((n + 5, n)) if kind == "complex" else 0)
    A, b = V.conj().T @ V + 0.1 * np.eye(n), V[0]
    with Local(3).running() as engine:
        U, jitter = factor(lambda: np.triu(A), engine)
    assert jitter == 0
    np.testing.assert_allclose(np.triu(U), np.linalg.cholesky(A).conj().T, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(solve_factored(U, b), np.linalg.solve(A, b), rtol=1e-6, atol=1e-9)
    wanted = np.einsum("ij,ij->i", V[:3], np.linalg.solve(A, V[:3].conj().T).T).real
    np.testing.assert_allclose(Norms(panels(U))(V[:3]), wanted, rtol=1e-6)


def test_the_error_for_an_indefinite_matrix_gives_its_condition_number():
    words = r"cannot factorise a 2 × 2 matrix: its condition number is 10\b"
    with pytest.raises(np.linalg.LinAlgError, match=words), Local(1).running() as engine:
        factor(lambda: np.diag([1.0, -0.1]), engine)


def test_jitter_is_the_least_that_helps():
    v = np.random.default_rng(0).standard_normal((50, 2))
    with Local(1).running() as engine:
        assert factor(lambda: np.eye(3), engine)[1] == 0
        assert 0 < factor(lambda: v @ v.T - 1e-11 * np.eye(50), engine)[1] < 1e-7
