"""The B-spline kernel and its frequencies against a numerical Fourier transform."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import kstest

from rfbench.checks import InputError
from rfbench.kernels import make_kernel

U = np.linspace(0, 4000, 4_000_001)


def density(order, u):
    return np.sinc(u / np.pi) ** (2 * order + 2)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_the_kernel_is_the_fourier_transform_of_its_density(order):
    kernel, deltas = make_kernel("b_spline", 1, length_scale=0.7, order=order), np.array([0.0, 0.2, 0.9, 1.7, 2.6])
    p, omega = density(order, U), 2 * np.sqrt((2 * order + 2) / 12) / 0.7 * U
    wanted = [np.trapezoid(p * np.cos(omega * delta)) / np.trapezoid(p) for delta in deltas]
    np.testing.assert_allclose(kernel.gram(deltas[:, None], np.zeros((1, 1)))[:, 0], wanted, atol=3e-4)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_frequencies_have_that_density(order):
    kernel = make_kernel("b_spline", 1, length_scale=0.7, order=order)
    draws = kernel.frequencies((4, 5000), np.random.default_rng(order)).ravel()
    u = draws * 0.7 / (2 * np.sqrt((2 * order + 2) / 12))
    cdf = np.cumsum(density(order, U))
    cdf /= cdf[-1]
    assert kstest(np.abs(u), lambda v: np.interp(v, U, cdf)).pvalue > 0.001
    assert kstest(1.05 * np.abs(u), lambda v: np.interp(v, U, cdf)).pvalue < 0.001
    assert abs(np.mean(u > 0) - 0.5) < 4.5 * 0.5 / np.sqrt(len(u))


def test_it_approaches_the_gaussian_kernel_and_ends_at_a_distance(wine):
    gaussian = make_kernel("gaussian", 1, length_scale=0.5).gram(wine, wine)
    grams = [make_kernel("b_spline", 1, length_scale=0.5, order=order).gram(wine, wine) for order in range(6)]
    errors = [np.abs(K - gaussian).max() for K in grams]
    assert all(later < earlier for earlier, later in pairwise(errors))
    assert errors[-1] < 0.03
    x = np.array([[0.0], [2 / np.sqrt(1 / 3)]])  # cubic splines end at 2
    assert make_kernel("b_spline", 1, length_scale=1.0).gram(0.99 * x, x)[1, 0] > 0
    assert make_kernel("b_spline", 1, length_scale=1.0).gram(x[:1], 1.01 * x)[0, 1] == 0


def test_of_the_distance_it_is_not_a_kernel():
    """B_3(‖x − y‖) has a negative eigenvalue on a grid of the plane, the product has none."""
    grid = np.stack(np.meshgrid(*[np.arange(12) * 0.55] * 2), -1).reshape(-1, 2)
    kernel = make_kernel("b_spline", 1, length_scale=np.sqrt(1 / 3))
    distances = np.linalg.norm(grid[:, None] - grid, axis=2)
    radial = kernel.gram(distances.reshape(-1, 1), np.zeros((1, 1))).reshape(distances.shape)
    assert np.linalg.eigvalsh(radial).min() < -1e-4
    assert np.linalg.eigvalsh(kernel.gram(grid, grid)).min() > -1e-10


def test_an_order_out_of_range_is_refused():
    with pytest.raises(InputError, match="from 0 to 5"):
        make_kernel("b_spline", 1, order=6)
