"""Compressive random features: the projector, and the bias that it brings."""

import numpy as np
import pytest
from scipy.special import hyp1f1
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.compressive import Compressed
from rfbench.sketches.fourier.directions import INDEPENDENT
from rfbench.sketches.fourier.waves import real_fourier

KERNEL = make_kernel("gaussian", 3, length_scale=1.2)


@pytest.mark.parametrize("m", [1, 5, 13])
def test_rows_of_the_projector_are_orthonormal(m):
    features = make_sketch("compressive_rff", KERNEL, measurements=m).sample(
        13, 8, np.random.default_rng(0), np.float64
    )
    P = features.first.W.T
    np.testing.assert_allclose(P @ P.T, 13 / m * np.eye(m), atol=1e-12)


def test_half_the_columns_by_default():
    features = make_sketch("compressive_rff", KERNEL).sample(13, 8, np.random.default_rng(0))
    assert features.first.D == features.base.d == 7


def test_all_columns_are_a_rotation(wine):
    """m = d keeps every distance, so the mean is the kernel."""
    sketch = make_sketch("compressive_rff", KERNEL, measurements=13)
    values = stats.estimates(sketch, wine, 24, 2000, seed=1)
    assert stats.z_of_mean(values, stats.of_pairs(KERNEL.gram(wine, wine)), np.var(values, axis=0)) < 4.5


@pytest.mark.parametrize("m", [2, 6])
def test_mean_is_the_known_bias(m, wine):
    sketch = make_sketch("compressive_rff", KERNEL, measurements=m)
    values = stats.estimates(sketch, wine, 24, 3000, seed=2)
    r2 = -2 * np.log(stats.of_pairs(KERNEL.gram(wine, wine)))
    mean = hyp1f1(m / 2, 13 / 2, -13 / m * r2 / 2)
    assert stats.z_of_mean(values, mean, np.var(values, axis=0)) < 4.5
    assert stats.z_of_mean(values, np.exp(-r2 / 2), np.var(values, axis=0)) > 9


def test_measurements_alone_are_unbiased(wine):
    """E PᵀP = I."""
    sketch = make_sketch("compressive_identity", make_kernel("linear", 1), measurements=5)
    assert sketch.count(13, 100) == 5
    values = stats.estimates(sketch, wine, 5, 3000, seed=3)
    exact, V = stats.of_pairs(wine @ wine.T), np.var(values, axis=0)
    assert stats.z_of_mean(values, exact, V) < 4.5
    assert stats.z_of_mean(1.05 * values, exact, V) > 4.5
    assert stats.z_of_mean(5 / 13 * values, exact, V) > 50  # without the scale of the projector


def test_the_kernel_of_measurements(wine):
    features = make_sketch("compressive_exact", KERNEL, measurements=5).sample(
        13, 0, np.random.default_rng(4), np.float64
    )
    Z, Phi = wine @ features.first.W, features(wine)
    K = KERNEL.gram(Z, Z)
    np.testing.assert_allclose(features.product(Phi, Phi), K)
    np.testing.assert_allclose(features.paired(Phi, Phi[::-1])[:, 0], np.diagonal(K[:, ::-1]))
    assert np.abs(K - KERNEL.gram(wine, wine)).max() > 0.01
    with pytest.raises(AssertionError, match="not measurements"):
        features.product(wine, wine)


def test_measurements_out_of_range_are_refused_in_words():
    with pytest.raises(InputError, match="at most 13"):
        make_sketch("compressive_rff", KERNEL, measurements=14).sample(13, 8, np.random.default_rng(0))
    with pytest.raises(InputError, match="at least 1"):
        make_sketch("compressive_rff", KERNEL, measurements=0)


def test_error_falls_to_the_bias_of_one_projector(digits):
    """Given P the rate is −½ towards the kernel of P x."""
    base, X, counts = real_fourier(INDEPENDENT, KERNEL), digits[:60], np.array([256, 1024, 4096])
    errors = []
    for D in counts:
        each = []
        for seed in range(8):
            features = Compressed(base, 32).sample(64, D, np.random.default_rng(seed), np.float64)
            Phi, Z = features(X), features.first(X)
            each.append(np.linalg.norm(Phi @ Phi.T - KERNEL.gram(Z, Z)))
        errors.append(np.mean(each))
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert -0.6 < slope < -0.4, slope
