"""Nyström factors against their formulas and against the best approximation of their rank."""

import numpy as np
import pytest
from support.gp import features

from rfbench.engines import Local
from rfbench.linalg.nystrom import from_landmarks, randomized, shifted_factor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 6))


def spectrum(kind, rank=40, rows=X):
    """(norm of H − BBᴴ, eigenvalues of H from the largest on)."""
    phi = features(150, kind)
    with Local(2).running() as engine:
        B = randomized(phi, rows, rank, np.random.default_rng(1), engine)
    H = phi(rows).conj().T @ phi(rows)
    return np.linalg.norm(H - B @ B.conj().T, 2), np.linalg.eigvalsh(H)[::-1], B


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_the_randomized_factor_is_nearly_the_best_of_its_rank(kind):
    error, values, B = spectrum(kind)
    assert B.shape == (150, 40)
    assert values[40] * 0.99 < error < 4 * values[20]  # [Frangella, Tropp, Udell 2023, 2.2.3], and no rank does better


def test_it_is_exact_where_the_rank_suffices():
    error, values, _ = spectrum("real", 150)
    assert error < 1e-9 * values[0]
    error, values, _ = spectrum("real", 60, X[:50])  # H has the rank 50: a shift makes a factor of it
    assert error < 1e-9 * values[0]


def test_landmarks_reproduce_their_columns():
    A = RNG.standard_normal((90, 30))
    K = A @ A.T
    with Local(2).running() as engine:
        B = from_landmarks(K[:, :20].copy(), K[:20, :20].copy(), engine)
    np.testing.assert_allclose((B @ B.T)[:, :20], K[:, :20], atol=1e-3 * np.abs(K).max())


def test_the_shift_is_the_first_that_gives_a_factor():
    A = np.diag([1.0, -0.5e-3])
    L, shift = shifted_factor(A, np.eye(2), 1e-5)
    assert shift == pytest.approx(1e-3)
    np.testing.assert_allclose(L @ L.T, A + shift * np.eye(2))
