"""What mean-split and anchored sketches learn from training rows: split, centroids, allocation."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.cluster import KMeans

from rfbench.kernels import make_kernel
from rfbench.sketches.anchored.allocation import allocate, shares
from rfbench.sketches.anchored.anchors import Anchors
from rfbench.sketches.anchored.centroids import _left, optimized
from rfbench.sketches.anchored.split import fit
from rfbench.sketches.centroids import k_means, uniform

KERNELS = [
    make_kernel("polynomial", 4, gamma=0.7, bias=0.2),
    make_kernel("polynomial", 3, bias=0.0),
    make_kernel("exponential", 1, length_scale=0.7),
    make_kernel("gaussian", 1, length_scale=0.9),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{kernel.power or ''}")
def test_the_degrees_of_a_split_add_up_to_the_kernel(kernel, digits):
    split = fit(kernel, digits)
    A, B = split.lifted(digits[:20]), split.lifted(-digits[20:50])
    np.testing.assert_allclose(sum(A.grams(B)), kernel.gram(digits[:20], -digits[20:50]), rtol=1e-5)
    np.testing.assert_allclose(sum(A.norms()), np.diag(kernel.gram(digits[:20], digits[:20])), rtol=1e-6)


def test_a_series_ends_where_the_rest_is_below_rounding(digits):
    kernel = make_kernel("exponential", 1, length_scale=0.5)
    split = fit(kernel, digits)  # rows of length 1: t = 4
    whole = np.exp(4.0)
    assert abs(whole - split.a.sum()) < 2**-23 * whole
    assert abs(whole - split.a[:-1].sum()) > 2**-24 * whole


def test_rows_without_a_mean_have_a_direction_all_the_same():
    X = np.array([[1.0, 2.0], [-1.0, -2.0]])
    split = fit(KERNELS[0], X)
    np.testing.assert_allclose(np.linalg.norm(split.u), 1)
    np.testing.assert_allclose(sum(split.lifted(X).grams(split.lifted(X))), KERNELS[0].gram(X, X))


def test_explicit_features_have_their_energy_in_the_first(digits):
    split = fit(make_kernel("polynomial", 6), digits)
    for e in split.lifted(digits).e[:-1]:
        energy = (e**2).sum(0)
        assert energy[0] > 0.99 * energy.sum()


def test_k_means_is_that_of_scikit_learn(digits):
    rng = np.random.default_rng(0)
    start = uniform(None, digits, 8, np.random.default_rng(0))
    expected = KMeans(8, init=start, n_init=1, max_iter=10, tol=0, algorithm="lloyd").fit(digits).cluster_centers_
    np.testing.assert_allclose(k_means(None, digits, 8, rng), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{kernel.power or ''}")
def test_the_gradient_is_that_of_differences(kernel, digits):
    split, start = fit(kernel, digits), uniform(None, digits, 3, np.random.default_rng(0)).ravel()

    def value(z):
        return _left(split, digits, z.reshape(3, 64))[0]

    def gradient(z):
        return _left(split, digits, z.reshape(3, 64))[1]

    assert check_grad(value, gradient, start) < 1e-4 * np.linalg.norm(gradient(start))


def test_optimized_anchors_leave_less_than_k_means_and_these_less_than_rows(digits):
    split = fit(KERNELS[0], digits[60:])

    def left(choice):
        anchors = Anchors.around(split, choice(split, digits[60:], 20, np.random.default_rng(0)))
        return sum(t.sum() for t in anchors.norms(digits[:60], split.lifted(digits[:60])))

    assert left(optimized) < left(k_means) < left(uniform)


@pytest.mark.parametrize("unit", [1, 2])
@pytest.mark.parametrize("total", [12, 13, 50, 51, 4001])
def test_an_allocation_has_the_total_and_follows_the_shares(total, unit):
    share = np.array([0.2, 0.5, 0.25, 0.05, 0.0])
    counts = np.array(allocate(share, total, unit, 512, 0.0))
    assert counts.sum() == total
    assert counts[0] >= 1
    assert (counts[1:] >= unit).all()
    assert (counts[1:] % unit == 0).all()
    if total == 4001:
        wide = allocate(share, total, unit, 64, 1.0)
        assert wide[0] in (12 * 64 - 1, 12 * 64)  # a fifth of all, in full turns
        assert counts[0] in (511, 512)
        np.testing.assert_allclose(counts[1:4] / counts[1:].sum(), share[1:4] / 0.8, atol=0.002)


def test_safety_mixes_the_shares_of_rows_without_a_mean(digits):
    split = fit(make_kernel("polynomial", 3), digits)
    t = np.array([6.0, 3.0, 1.0])
    np.testing.assert_allclose(shares(split, t, digits, 0), t / 10)
    np.testing.assert_allclose(shares(split, t, digits, 1), np.array([3, 3, 1]) / 7)  # C(3, j) on the sphere
    np.testing.assert_allclose(shares(split, t, digits, 0.1), 0.9 * t / 10 + 0.1 * np.array([3, 3, 1]) / 7)
