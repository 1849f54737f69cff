"""Pivots of a Cholesky factor against loops over the definition, and their law."""

import numpy as np
import pytest
from scipy.stats import chi2

from rfbench.kernels import make_kernel
from rfbench.sketches.nystrom import pivots as module
from rfbench.sketches.nystrom.pivots import largest_pivots, random_pivots

GAUSSIAN = make_kernel("gaussian", 1, length_scale=1.0)
CUBIC = make_kernel("polynomial", 3)


def eliminated(R, i):
    """The dense residual after pivot i."""
    return R - np.outer(R[:, i], R[i]) / R[i, i]


def dense_random_pivots(K, k, rng, block):
    """The same random numbers as random_pivots takes, on the whole matrix."""
    R, pivots = K.copy(), []
    while len(pivots) < k:
        size = min(block, k - len(pivots))
        before = np.maximum(np.diag(R), 0)
        proposals = rng.choice(len(K), size, p=before / before.sum())
        u = np.append(0, rng.random(size - 1))
        for i, threshold in zip(proposals, u, strict=True):
            if R[i, i] > max(threshold * before[i], 1e-12):
                R = eliminated(R, i)
                pivots.append(i)
    return pivots


@pytest.mark.parametrize("kernel", [GAUSSIAN, CUBIC], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("block", [1, 7, 64])
def test_random_pivots_are_those_of_the_dense_matrix(kernel, block, digits):
    expected = dense_random_pivots(kernel.gram(digits, digits), 40, np.random.default_rng(0), block)
    assert random_pivots(kernel, digits, 40, np.random.default_rng(0), block) == expected
    assert len(set(expected)) == 40


@pytest.mark.parametrize("kernel", [GAUSSIAN, CUBIC], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("block", [1, 5, 64, 1000])
def test_greedy_pivots_are_the_largest_of_the_dense_residual(kernel, block, digits):
    X = digits * np.random.default_rng(0).uniform(0.5, 1, (len(digits), 1))
    R, expected = kernel.gram(X, X), []
    for _ in range(40):
        expected.append(int(np.diag(R).argmax()))
        R = eliminated(R, expected[-1])
    assert largest_pivots(kernel, X, 40, block) == expected


POINTS = np.array([[0.0], [0.05], [0.1], [1.0], [1.1], [3.0]])  # near and far, so that most proposals are refused
DRAWS = 1000


def law(K, k):
    """The exact probability of every sequence of k pivots."""
    found = {(): (1.0, K)}
    for _ in range(k):
        found = {
            (*pivots, i): (p * R[i, i] / np.trace(R), eliminated(R, i))
            for pivots, (p, R) in found.items()
            for i in range(len(K))
            if R[i, i] > 1e-9
        }
    return {pivots: p for pivots, (p, _) in found.items()}


def p_value(draw):
    """Of Pearson's test of the first three pivots; rare sequences count together."""
    expected = law(GAUSSIAN.gram(POINTS, POINTS), 3)
    names = list(expected)
    counts = np.zeros(len(names))
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        counts[names.index(tuple(draw(rng)))] += 1
    p = np.array([expected[name] for name in names])
    rare = p * DRAWS < 5
    p, counts = (np.append(v[~rare], v[rare].sum()) for v in (p, counts))
    return chi2.sf(np.sum((counts - DRAWS * p) ** 2 / (DRAWS * p)), len(p) - 1)


@pytest.mark.medium
@pytest.mark.parametrize("block", [1, 3])
def test_blocks_have_the_law_of_single_pivots(block):
    assert p_value(lambda rng: random_pivots(GAUSSIAN, POINTS, 3, rng, block)) > 1e-3


@pytest.mark.medium
def test_without_rejection_they_have_not(monkeypatch):
    """Negative control: all proposals are accepted that are not a pivot already."""
    monkeypatch.setattr(module, "accepted", lambda H, u: iter(range(len(H))))
    assert p_value(lambda rng: random_pivots(GAUSSIAN, POINTS, 3, rng, 3)) < 1e-9


def residual_trace(X, k, seed, block):
    pivots = random_pivots(GAUSSIAN, X, k, np.random.default_rng(seed), block)
    K = GAUSSIAN.gram(X, X)
    return np.trace(K) - np.trace(K[:, pivots] @ np.linalg.pinv(K[np.ix_(pivots, pivots)], hermitian=True) @ K[pivots])


@pytest.mark.medium
@pytest.mark.parametrize("block", [1, 16])
def test_the_mean_residual_trace_is_within_its_bound(block):
    """E tr R ≤ (1 + ε) tr (K − K_r) for k = r/ε + r log(1/εη) pivots; r of them exceed it."""
    rng, r, epsilon = np.random.default_rng(0), 4, 0.5
    X = 5 * np.repeat(np.eye(4), (100, 60, 30, 10), axis=0) + 0.2 * rng.standard_normal((200, 4))
    K = GAUSSIAN.gram(X, X)
    tail = np.linalg.eigvalsh(K)[:-r].sum()
    k = int(np.ceil(r / epsilon + r * np.log(np.trace(K) / (epsilon * tail))))
    enough, few = ([residual_trace(X, size, seed, block) for seed in range(50)] for size in (k, r))
    assert np.mean(enough) + 3 * np.std(enough) / np.sqrt(50) < (1 + epsilon) * tail
    assert np.mean(few) - 3 * np.std(few) / np.sqrt(50) > (1 + epsilon) * tail


def seeded_pivots(kernel, X, m, block):
    return random_pivots(kernel, X, m, np.random.default_rng(0), block)


@pytest.mark.parametrize("choose", [largest_pivots, seeded_pivots])
@pytest.mark.parametrize("block", [1, 8])
def test_pivots_end_where_nothing_is_left(choose, block, wine):
    X = np.concatenate((wine[:5], wine[:5]))
    assert len({i % 5 for i in choose(GAUSSIAN, X, 10, block)}) == len(choose(GAUSSIAN, X, 10, block)) == 5
    homogeneous = make_kernel("polynomial", 2, bias=0.0)
    assert choose(homogeneous, np.zeros((4, 3)), 3, block) == [0]
