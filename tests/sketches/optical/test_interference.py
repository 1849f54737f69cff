"""Linear projections from intensities: linear, Gaussian, unbiased as frequencies, and close on a device."""

import numpy as np
import pytest
from scipy.stats import kstest
from support import stats, zoo
from support.stats import LIMIT

from rfbench.checks import InputError
from rfbench.devices.opu import make_opu
from rfbench.devices.opu.shared import SharedDevice
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch, on_device
from rfbench.sketches.optical.interference import Interference


def projections(directions, d, D, seed=0, dtype=np.float64):
    return directions.draw(d, np.ones(D), np.random.default_rng(seed), dtype)


def test_differences_of_intensities_are_linear_and_gaussian(digits):
    """The columns of W are the projections of unit vectors."""
    for directions in (Interference(), Interference().adapt(digits)):
        linear = projections(directions, 64, 400)
        W = linear(np.eye(64))
        np.testing.assert_allclose(linear(digits), digits @ W, atol=1e-12)
        assert kstest(W.ravel(), "norm").pvalue > 1e-3
        correlations = W @ W.T / 400 - np.eye(64)  # of entries of one frequency, as good as those of a matrix N(0, 1)
        assert np.abs(correlations).max() * np.sqrt(400 / 2) < LIMIT


@pytest.mark.medium
def test_mean_and_variance_of_the_features(wine):
    """As Fourier features; a wrong unit of w, as √2 too large, is seen."""
    kernel, D = make_kernel("gaussian", 1, length_scale=1.0), 32
    sketch = make_sketch("optical_rff", kernel).adapt(wine, D)
    values = stats.estimates(sketch, wine, D, 2000, seed=4).real
    V = stats.of_pairs(sketch.closed_form.variance(wine, wine, D))
    assert stats.z_of_mean(values, stats.of_pairs(kernel.gram(wine, wine)), V) < LIMIT
    ratio, error = stats.variance_ratio(values, stats.of_pairs(kernel.gram(wine, wine)), V)
    assert abs(ratio - 1) < 3 * error < 0.1
    wide = make_kernel("gaussian", 1, length_scale=1.05)
    assert stats.z_of_mean(values, stats.of_pairs(wide.gram(wine, wine)), V) > LIMIT
    rff = zoo.sketch_of("rff", length_scale=1.0)
    np.testing.assert_array_equal(V, stats.of_pairs(rff.closed_form.variance(wine, wine, D)))


@pytest.mark.parametrize("name", ["matern", "laplacian"])
def test_other_radii(name, wine):
    kernel = make_kernel(name, 1, length_scale=1.0)
    sketch = make_sketch("optical_rff", kernel)
    values, V = stats.estimates(sketch, wine, 64, 500, seed=3).real, sketch.closed_form.variance(wine, wine, 64)
    assert stats.z_of_mean(values, stats.of_pairs(kernel.gram(wine, wine)), stats.of_pairs(V)) < LIMIT


ROWS = np.random.default_rng(5).random((600, 64)) < 0.3


def relative_error(**options):
    """Of projections by a device against the linear map nearest to them."""
    ideal = make_sketch("optical_rff", make_kernel("gaussian", 1))
    directions = (
        on_device(ideal, SharedDevice(make_opu("simulated", **options))).adapt(ROWS.astype(float), 400).base.directions
    )
    seen = projections(directions, 64, 200, dtype=np.float32)(ROWS.astype(np.float32))
    _, residuals, *_ = np.linalg.lstsq(ROWS.astype(float), seen, rcond=None)
    return np.sqrt(residuals.sum() / np.sum(seen**2))


def test_the_error_of_the_camera_is_small_and_grows_with_fewer_bits():
    """Half of the levels, twice the error, where the camera does not saturate."""
    errors = [relative_error(bits=bits, range=30.0) for bits in (8, 7, 6)]
    np.testing.assert_allclose(np.divide(errors[1:], errors[:-1]), 2, rtol=0.1)
    assert relative_error() < min(0.03, errors[0])


def test_the_kernel_on_a_device_is_close_to_the_gaussian_one(bits):
    X, kernel, D = bits[:12].astype(np.float64), make_kernel("gaussian", 1, length_scale=4.0), 1000
    ideal = make_sketch("optical_rff", kernel)
    sketch = on_device(ideal, SharedDevice(make_opu("simulated"))).adapt(bits, D)
    assert sketch.closed_form is None
    values = stats.estimates(sketch, X, D, 20, seed=6).real
    V = stats.of_pairs(ideal.closed_form.variance(X, X, D))
    assert stats.z_of_mean(values, stats.of_pairs(kernel.gram(X, X)), V) < LIMIT


def test_a_camera_that_is_too_coarse_is_refused():
    with pytest.raises(InputError, match=r"use more opu\.bits"):
        relative_error(bits=1)


def test_a_user_runs_it_on_a_device(rfbench):
    words = ("sketch=optical_rff", "opu=simulated", "dataset.prepare=[binarize]", "dataset.threshold=0.5")
    done = rfbench(*words, "features=4d", "seeds=1", "task=ridge")
    assert done.returncode == 0, done.stderr
    assert "optical_rff(opu=simulated)" in done.stdout
