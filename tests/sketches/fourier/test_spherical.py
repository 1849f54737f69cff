"""Spherical random features: the fit, its cache, and convergence to the fitted kernel, not the polynomial one."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad, nnls
from scipy.special import gamma, jv
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.fourier import spherical_fit
from rfbench.sketches.fourier.spherical_fit import cosines, fitted

KERNEL = make_kernel("polynomial_sphere", 3, a=2.0)
TAU = np.linspace(0, 2, 101)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 16, 64])
def test_cosines_are_the_bessel_function(d):
    x = np.linspace(0.5, 60, 50)
    expected = gamma(d / 2) * (2 / x) ** (d / 2 - 1) * jv(d / 2 - 1, x)
    np.testing.assert_allclose(cosines(d, x), expected, atol=1e-12)


def test_cosines_are_stable_in_many_dimensions():
    """Where the Bessel form is 0 · ∞; the series Σ (−x²/4)ᵏ / (k! (d/2)ₖ) does not alternate badly for x² < d."""
    for d in (128, 1024, 100_000):
        x, k = np.linspace(0, np.sqrt(d), 20), np.arange(1, 60)
        series = 1 + np.cumprod(-(x[:, None] ** 2) / 4 / (k * (d / 2 + k - 1)), axis=1).sum(1)
        np.testing.assert_allclose(cosines(d, x), series, atol=1e-13)


def test_gradient_is_the_derivative():
    d, p, a = 8, 3, 2.0
    r, tau = spherical_fit._grid(d, p, a, 200), np.linspace(0, 2, 50)
    args = d, r, cosines(d, np.outer(tau, r)), (1 - tau**2 / a**2) ** p
    v = np.concatenate(([0.7, -0.3, 0.9], np.log([0.6, 0.8, 1.1])))
    loss, gradient = (lambda v, i=i: spherical_fit._loss(v, *args)[i] for i in (0, 1))
    assert check_grad(loss, gradient, v) < 1e-6 * np.linalg.norm(gradient(v))


@pytest.mark.parametrize(
    ("d", "p", "a"), [(13, 3, 2.0), (16, 20, 4.0), (64, 10, 2.0), pytest.param(784, 3, 2.0, marks=pytest.mark.medium)]
)
def test_fit_is_near_the_best_of_all_densities(d, p, a):
    """Non-negative least squares over every density on the grid: a convex problem, so a bound."""
    r = spherical_fit._grid(d, p, a, 256)
    k = (1 - TAU**2 / a**2) ** p
    A = np.vstack((cosines(d, np.outer(TAU, r)), np.full(len(r), 1e3)))
    best = nnls(A, np.append(k, 1e3))[1] / np.sqrt(len(TAU))
    ours = np.sqrt(np.mean((fitted(d, p, a, 10).kernel(TAU) - k) ** 2))
    assert ours < 1.1 * best + 1e-4


def test_floors_of_the_bias():
    """The mean and largest error of k̂ at d = 1024, a = 2, as known from other fits."""
    for p, mean, largest in ((3, 0.027, 0.050), (20, 0.0021, 0.0070)):
        error = abs(fitted(1024, p, 2.0, 10).kernel(TAU) - (1 - TAU**2 / 4) ** p)
        assert error.mean() < 1.02 * mean
        assert error.max() < 1.02 * largest


def test_radii_have_the_fitted_density():
    radial = fitted(13, 3, 2.0, 10)
    r = np.sort(radial.quantile(np.random.default_rng(0).random(100_000)))
    expected = np.interp(r, radial.r + radial.r[0], np.cumsum(radial.mass))
    assert abs(expected - (np.arange(len(r)) + 0.5) / len(r)).max() < 1.95 / np.sqrt(len(r))
    assert radial.kernel(np.zeros(1)) == pytest.approx(1)


@pytest.mark.parametrize("name", ["srf", "complex_srf"])
def test_mean_is_the_fitted_kernel_and_not_the_polynomial_one(name, wine):
    sketch, D = make_sketch(name, KERNEL), 24
    base = getattr(sketch, "base", sketch)
    k_hat, V = stats.of_pairs(base.mean(wine, wine)), stats.of_pairs(sketch.closed_form.variance(wine, wine, D))
    values = stats.estimates(sketch, wine, D, 4000, seed=6)
    assert stats.z_of_mean(values, k_hat, V) < 4.5
    assert stats.z_of_mean(values, stats.of_pairs(KERNEL.gram(wine, wine)), V) > 9
    ratio, error = stats.variance_ratio(values, k_hat, V)
    assert 0.9 < ratio < 1.1, (ratio, error)


@pytest.mark.parametrize("name", ["srf", "complex_srf", "srf_orthogonal", "complex_srf_orthogonal"])
def test_error_falls_to_the_fitted_kernel_with_the_square_root_of_the_features(name, digits):
    sketch, X = make_sketch(name, KERNEL), digits[:60]
    assert -0.6 < stats.rate(sketch, X, getattr(sketch, "base", sketch).mean(X, X), seeds=8) < -0.4


def test_structured_directions_are_fitted_for_the_padded_columns():
    plain, structured = (make_sketch(f"complex_{name}", KERNEL) for name in ("srf", "srf_orthogonal"))
    assert (plain.radial(13).d, structured.radial(13).d) == (13, 16)


def test_fit_is_kept_and_read_again():
    fitted.cache_clear()
    first = fitted(5, 4, 2.5, 3)
    path = Path(os.environ["RFBENCH_CACHE"], "srf", "5-4-2.5-3-4096.json")
    assert set(json.loads(path.read_text())) == {"c", "sigma"}
    before = path.stat().st_mtime_ns
    fitted.cache_clear()
    np.testing.assert_array_equal(fitted(5, 4, 2.5, 3).mass, first.mass)
    assert path.stat().st_mtime_ns == before
    path.write_text("{")  # half a file of another program: fitted again
    fitted.cache_clear()
    np.testing.assert_allclose(fitted(5, 4, 2.5, 3).mass, first.mass, atol=1e-12)


def test_no_components_are_refused_in_words():
    with pytest.raises(InputError, match=r"sketch\.components must be from 1 to 100"):
        make_sketch("srf", KERNEL, components=0)


@pytest.mark.parametrize("d", [2, 128])
def test_homogeneous_kernels_are_not_followed(d):
    """Thesis Fig. 2.3(c) and (f): a = √2 and p = 3 has −1 at the distance 2; a = 4 has an error below 0.03."""
    tau = np.linspace(0, 2, 41)
    errors = [np.abs(fitted(d, 3, a, 10).kernel(tau) - (1 - tau**2 / a**2) ** 3).max() for a in (2**0.5, 4.0)]
    assert errors[0] > 0.2
    assert errors[1] < 0.03
