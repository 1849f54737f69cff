"""The allocation of features to degrees against all allocations there are, and against double loops."""

import itertools

import numpy as np
import pytest
from support.oracles import truncated

from rfbench.kernels import make_kernel
from rfbench.sketches.maclaurin.allocation import Curve, Term, allocate, largest, statistics
from rfbench.sketches.maclaurin.series import term

BLOCKS = ("tensorsrht", "stacked_tensorsrht", "complex_stacked_tensorsrht", "ctr_stacked_tensorsrht", "ctr_tensorsrht")
BASES = (*BLOCKS, "rademacher", "ctr_gaussian", "complex_rademacher")


def brute_force(curves, biases, total, least):
    """The smallest objective of all ways to write total as a sum of parts that each degree can have."""
    best = np.inf
    for p in range(least, len(curves) + 1):
        sizes = [range(c.term.unit, total + 1, c.term.unit) for c in curves[:p]]
        for D in itertools.product(*sizes):
            if sum(D) == total:
                best = min(best, objective(curves, biases, D))
    return best


def objective(curves, biases, D):
    return sum(float(c(np.array(n))) for c, n in zip(curves, D, strict=False)) + biases[len(D) - 1]


def random_curves(rng, p, unit, block):
    """Convex ones of very different heights, with full Hadamard blocks better or worse than independent features."""
    V = 10.0 ** rng.uniform(-3, 0, p)
    W = V * rng.uniform(0, 1.5, p) if block > 1 else V
    return [Curve(v, w, Term(None, None, unit if n else 1, block)) for n, (v, w) in enumerate(zip(V, W, strict=True))]


@pytest.mark.parametrize(("unit", "block"), [(1, 1), (1, 4), (2, 1), (2, 2)])
@pytest.mark.parametrize("total", [5, 6, 13, 14])
@pytest.mark.parametrize("seed", range(6))
def test_allocation_is_the_best_of_all(unit, block, total, seed):
    rng = np.random.default_rng(seed)
    curves, biases = random_curves(rng, 4, unit, block), np.sort(10.0 ** rng.uniform(-3, 0, 4))[::-1]
    D = allocate(curves, biases, total, 2)
    assert sum(D) == total
    assert all(n > 0 and n % c.term.unit == 0 for n, c in zip(D, curves, strict=False))
    np.testing.assert_allclose(objective(curves, biases, D), brute_force(curves, biases, total, 2))


def test_a_hundred_thousand_features_are_spread_by_the_square_root_rule():
    """The continuous optimum of Σ V/D is D ∝ √V."""
    V = np.array([4.0, 1.0, 0.25, 0.01])
    D = allocate([Curve(v, v, Term(None, None, 1, 1)) for v in V], np.array([9.0, 9.0, 9.0, 0.0]), 100_000, 2)
    assert sum(D) == 100_000
    np.testing.assert_allclose(D, 100_000 * np.sqrt(V) / np.sqrt(V).sum(), atol=2)


def test_without_any_variance_every_degree_has_one_feature_and_the_first_the_rest():
    """Rademacher features of one column [Wacker 2022, 5.3.3]."""
    curves = [Curve(0.0, 0.0, Term(None, None, 1, 1))] * 5
    assert allocate(curves, np.array([5.0, 4.0, 3.0, 2.0, 1.0]), 8, 2) == (4, 1, 1, 1, 1)


def test_ties_are_shared_out_completely():
    gains = np.array([[3.0, 2.0, 2.0, 1.0], [2.0, 2.0, 0.0, 0.0]])
    assert [largest(gains, count).tolist() for count in range(5)] == [[0, 0], [1, 0], [2, 0], [3, 0], [3, 1]]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_curves_are_convex_fall_and_are_exact_where_they_can_be(base, kernel, wine, digits):
    kernel = make_kernel(kernel, 6)
    for X in (wine, digits[:20]):
        terms = {n: term(base, n, X.shape[1]) for n in range(1, 6)}
        a = kernel.coefficients(np.array(list(terms)))
        gg = np.outer(kernel.radial(X), kernel.radial(X)) ** 2
        above = np.triu_indices(len(X), 1)
        for a_n, curve in zip(a, statistics(kernel, terms, X)[0], strict=True):
            _, form, unit, h, _ = curve.term
            v = curve(unit * np.arange(1.0, 4 * h + 20))
            assert (np.diff(v) <= 1e-12 * v[0]).all()
            assert (np.diff(v, 2) >= -1e-12 * v[0]).all()
            sizes = [h, 2 * h, 4 * h] if "stacked" in base or h == 1 else [h]
            if curve.W <= curve.V:
                sizes += [1, h // 2 + 1]
            for r in sizes:
                exact = (a_n**2 * gg * form.variance(X, X, unit * r))[above].mean()
                np.testing.assert_allclose(curve(np.array(unit * r)), exact, rtol=1e-9, atol=1e-12 * v[0])


def test_statistics_are_means_over_pairs(digits):
    """More rows than a block, and the bias of equation (2) by a double loop."""
    X, kernel = digits[:150], make_kernel("gaussian", 3)
    curves, biases = statistics(kernel, {n: term("rademacher", n) for n in (1, 2, 3)}, X)
    V, b = np.zeros(3), np.zeros(3)
    for i, x in enumerate(X):
        for y in X[i + 1 :]:
            g2 = np.exp(-(x @ x + y @ y) / 2)
            rest = np.exp(-((x - y) @ (x - y)) / 2) - g2
            for n, a in enumerate((1, 1 / 2, 1 / 6)):
                t, S = x @ y, (x**2) @ (y**2)
                m = (x @ x) * (y @ y) + 2 * (t**2 - S)
                V[n] += (a * g2) ** 2 * (m ** (n + 1) - t ** (2 * n + 2))
                rest -= a * g2 * t ** (n + 1)
                b[n] += rest**2
    pairs = 150 * 149 / 2
    np.testing.assert_allclose([c.V for c in curves], V / pairs)
    np.testing.assert_allclose(biases, b / pairs)


def test_with_the_diagonal_it_is_the_mean_over_the_matrix(digits):
    """k(x, x), which is the farthest from its series, counts with the others."""
    X, kernel = digits[:150], make_kernel("gaussian", 3)
    terms = {n: term("gaussian", n) for n in (1, 2)}
    curves, biases = statistics(kernel, terms, X, diagonal=True)
    gg = np.outer(kernel.radial(X), kernel.radial(X))
    V = [np.mean((a * gg) ** 2 * terms[n].form.variance(X, X, 1)) for n, a in ((1, 1), (2, 1 / 2))]
    b = [np.mean((kernel.gram(X, X) - truncated(kernel, range(n + 1), X)) ** 2) for n in terms]
    np.testing.assert_allclose([c.V for c in curves], V)
    np.testing.assert_allclose(biases, b)
    assert (biases > 1.02 * statistics(kernel, terms, X)[1]).all()


def test_blocks_of_columns_change_nothing(digits, monkeypatch):
    terms = {n: term("rademacher", n) for n in (1, 2)}
    for diagonal in (False, True):
        found = []
        for columns in (4096, 140):
            monkeypatch.setattr("rfbench.sketches.maclaurin.allocation.COLUMNS", columns)
            curves, biases = statistics(make_kernel("gaussian", 3), terms, digits, diagonal)
            found.append([*(c.V for c in curves), *biases])
        np.testing.assert_allclose(*found, rtol=1e-12)
