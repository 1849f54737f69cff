"""The mean of many draws is the kernel; the standard error comes from the closed form."""

import numpy as np
import pytest
from support import stats, zoo

pytestmark = pytest.mark.medium


@pytest.mark.parametrize("name", zoo.POLYNOMIAL)
@pytest.mark.parametrize(("degree", "options"), [(1, {}), (2, {"gamma": 0.5, "bias": 0.3}), (3, {})])
def test_mean_is_the_kernel_and_a_mistake_of_5_percent_is_seen(name, degree, options, digits):
    sketch, kernel = zoo.sketch_of(name, degree, **options), zoo.kernel_of(name, degree, **options)
    X, D = digits[:15], 92  # not a multiple of Hadamard blocks, which are exact at degree 1
    values = stats.estimates(sketch, X, D, (400, 1000, 3000)[degree - 1] * (2 if name in zoo.HEAVY else 1), seed=degree)
    k, V = stats.of_pairs(kernel.gram(X, X)), stats.of_pairs(sketch.closed_form.variance(X, X, D))
    assert stats.z_of_mean(values, k, V) < stats.LIMIT
    assert stats.z_of_mean(1.05 * values, k, V) > stats.LIMIT


@pytest.mark.parametrize("name", [name for name in zoo.POLYNOMIAL if name not in zoo.HEAVY])
def test_mean_is_the_kernel_at_degree_6(name, wine):
    sketch, kernel = zoo.sketch_of(name, 6), zoo.kernel_of(name, 6)
    values = stats.estimates(sketch, wine, 64, 1500, seed=6)
    k, V = stats.of_pairs(kernel.gram(wine, wine)), stats.of_pairs(sketch.closed_form.variance(wine, wine, 64))
    assert stats.z_of_mean(values, k, V) < stats.LIMIT


@pytest.mark.parametrize("name", ["identity", "exact"])
def test_exact_ones_are_exact(name, wine):
    features = zoo.sketch_of(name).sample(13, 13, np.random.default_rng(0), np.float64)
    Phi = features(wine)
    np.testing.assert_allclose(features.product(Phi, Phi), zoo.kernel_of(name).gram(wine, wine), atol=1e-14)
