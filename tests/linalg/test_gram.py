"""Gram matrices of features: precision, blocks and folds."""

import pickle
from functools import partial

import numpy as np
import pytest
from support.gp import Given, features

from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.linalg.gram import FoldedGramSums, block_rows, gram_sums, kernel_matrix
from rfbench.sketches import make_sketch
from rfbench.sketches.draw import Draw
from rfbench.sketches.exact import IdentityMap
from rfbench.tasks.rows import Held


def test_singles_are_summed_in_double():
    """40 blocks of float32 features: the sums lose no more than a single block does."""
    rows = np.random.default_rng(0).standard_normal((40 * 512, 3)) + 1
    with Local(2).running() as engine:
        sums = gram_sums(Given(IdentityMap(3, np.float32)), Held(rows.astype(np.float32), rows[:, 0]), engine)
    exact = rows.astype(np.float32).astype(float)
    np.testing.assert_allclose(np.triu(sums.G), np.triu(exact.T @ exact), rtol=1e-6)
    np.testing.assert_allclose(sums.R, exact.T @ rows[:, 0], rtol=1e-12)
    assert sums.n == len(rows)
    assert sums.squares == pytest.approx(np.sum(rows[:, 0] ** 2))


def test_a_gram_matrix_of_few_features_has_no_negative_eigenvalue():
    """Single precision features of rows that are nearly alike, as those of the Naval data are."""
    X = 1 + 0.01 * np.random.default_rng(0).standard_normal((5000, 4)).astype(np.float32)
    drawn = make_sketch("rademacher", make_kernel("polynomial", 3)).sample(4, 64, np.random.default_rng(1))
    with Local(2).running() as engine:
        G = gram_sums(Given(drawn), Held(X, np.ones(len(X))), engine).G
    Phi = drawn(X)
    for matrix, least in ((G, -1e-13), (Phi.T @ Phi, -1e-10)):
        values = np.linalg.eigvalsh(matrix.astype(float), "U")
        assert (values[0] > least * values[-1]) == (matrix is G)


@pytest.mark.parametrize("D", [40, 600])
def test_workers_change_no_bit_and_blocks_only_rounding(D):
    X = np.random.default_rng(2).standard_normal((700, 6))
    rows, draw = Held(X, X[:, :2]), Given(features(D, "complex"))

    def sums(workers, size=None):
        with Local(workers).running() as engine:
            found = gram_sums(draw, rows, engine, size)
        return np.triu(found.G), found.R

    for one, four, small in zip(sums(1), sums(4), sums(2, 50), strict=True):
        np.testing.assert_array_equal(four, one)
        np.testing.assert_allclose(small, one, rtol=1e-10, atol=1e-9)


def test_row_i_belongs_to_fold_i_modulo_their_number():
    X = np.random.default_rng(0).standard_normal((47, 6))
    draw = Given(features(9, "real"))
    Phi = draw.features(X)
    size = 3 * 4  # four blocks, the last one shorter
    with Local(2).running() as engine:
        found = engine.accumulate(partial(FoldedGramSums, draw, 3), Held(X, X[:, :2]), size).folds
    for fold, sums in enumerate(found):
        mine = np.arange(47) % 3 == fold
        np.testing.assert_allclose(np.triu(sums.G), np.triu(Phi[mine].T @ Phi[mine]))
        np.testing.assert_allclose(sums.R, Phi[mine].T @ X[mine, :2])
        assert sums.n == mine.sum()
    assert all(block_rows(D, folds) % folds == 0 for D in (1, 100, 10**7) for folds in (1, 3, 5))


@pytest.mark.parametrize("first", [0, 1])
def test_merging_with_an_empty_pass_changes_nothing(first):
    X = np.random.default_rng(0).standard_normal((20, 6))
    with Local(1).running() as engine:
        parts = [gram_sums(Given(features(9, "real")), Held(X[:k], X[:k, :2]), engine) for k in (0, 20)]
    sums, other = parts[first], parts[1 - first]
    sums.merge(other)
    np.testing.assert_allclose(sums.R, features(9, "real")(X).T @ X[:, :2])
    assert sums.n == 20


def test_blocks_of_paired_rows_give_the_same_kernel_matrix():
    phi, X = features(150, "complex"), np.random.default_rng(0).standard_normal((90, 6))
    with Local(2).running() as engine:
        full, parts = kernel_matrix(phi, X, engine), kernel_matrix(phi, X, engine, size=20)
    np.testing.assert_allclose(np.triu(parts), np.triu(full), rtol=1e-12)
    np.testing.assert_allclose(np.triu(full), np.triu(phi(X) @ phi(X).conj().T), rtol=1e-12)


def test_a_pickled_draw_leaves_its_map_behind():
    draw = Draw(make_sketch("gaussian", make_kernel("polynomial", 3)), 500, 2000, 0, ("sketch",), "float32")
    before = pickle.dumps(draw)
    assert draw.features is draw.features
    assert pickle.dumps(draw) == before
    assert len(before) < 2000
    X = np.random.default_rng(0).standard_normal((3, 500), np.float32)
    np.testing.assert_array_equal(pickle.loads(before).features(X), draw.features(X))
