"""Ridge regression for several penalties against a dense solution for each."""

import numpy as np
import pytest

from rfbench.engines import Local
from rfbench.linalg.ridge_path import cg_path, cholesky_path, eigen_path
from rfbench.sketches.couplings import Kron

RNG = np.random.default_rng(0)
V, T = RNG.standard_normal((2, 60, 40)), RNG.standard_normal((40, 3))
S = V[0].T @ V[0]
PENALTIES = np.array([0.1, 10.0, 1.0])  # in no order


def test_cholesky_factors_give_each_penalty_alone():
    with Local(2).running() as engine:
        found = cholesky_path(np.triu(S), T, PENALTIES, engine)
    np.testing.assert_allclose(found, [np.linalg.solve(S + penalty * np.eye(40), T) for penalty in PENALTIES])


def test_a_penalty_below_rounding_error_is_nan_and_the_others_are_not():
    singular = np.outer(T[:, 0], T[:, 0]) - 1e-9 * np.eye(40)
    with Local(1).running() as engine:
        found = cholesky_path(singular, T, np.array([1e-12, 1.0]), engine)
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], np.linalg.solve(singular + np.eye(40), T))


@pytest.mark.parametrize("rank", [3, 2])
@pytest.mark.parametrize("penalties", [PENALTIES, PENALTIES[:1]])  # by eigenvalues, and by Cholesky factors
def test_the_stein_equation_is_solved(rank, penalties):
    B = RNG.standard_normal((3, rank))
    R = B @ B.T
    for penalty, Z in zip(penalties, eigen_path(S, R, T, penalties), strict=True):
        np.testing.assert_allclose(S @ Z @ R + penalty * Z, T, atol=1e-8)


def test_conjugate_gradients_follow_the_path_in_the_order_asked_for():
    B = RNG.standard_normal((3, 2))
    M = Kron(40, B)
    for penalty, theta in zip(PENALTIES, cg_path(S, M, T, PENALTIES), strict=True):
        np.testing.assert_allclose(S @ theta @ B.T @ B + penalty * theta, T @ B, atol=1e-4)
