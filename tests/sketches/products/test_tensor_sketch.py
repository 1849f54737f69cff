"""TensorSketch is the count sketch of the explicit tensor power, and unbiased."""

import itertools

import numpy as np
import pytest
from support import stats, zoo
from support.stats import LIMIT

from rfbench.sketches.products.tensor_sketch import TensorSketch
from rfbench.sketches.products.tensor_srht import different_tuples
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, RADEMACHER

pytestmark = pytest.mark.medium


@pytest.mark.parametrize("law", [RADEMACHER, COMPLEX_RADEMACHER], ids=["real", "complex"])
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("D", [7, 8])
def test_count_sketch_of_the_tensor_power(law, p, D):
    x = np.random.default_rng(0).standard_normal((1, 4))
    features = TensorSketch(p, law).sample(4, D, np.random.default_rng(1), np.float64)
    expected = np.zeros(D, complex)
    for index in np.ndindex(*(4,) * p):
        bucket = sum(features.hashes[i, k] for i, k in enumerate(index)) % D
        sign = np.prod([features.signs[i, k] for i, k in enumerate(index)])
        expected[bucket] += sign * np.prod([x[0, k] for k in index])
    np.testing.assert_allclose(features(x)[0], expected, atol=1e-12)


@pytest.mark.parametrize("name", ["tensorsketch", "complex_tensorsketch", "ctr_tensorsketch"])
@pytest.mark.parametrize("degree", [1, 3])
def test_mean_is_the_kernel_and_a_mistake_of_5_percent_is_seen(name, degree, digits):
    X, sketch = digits[:15], zoo.sketch_of(name, degree)
    values = stats.estimates(sketch, X, 128, 1500, seed=degree)
    k = stats.of_pairs(zoo.kernel_of(name, degree).gram(X, X))
    assert stats.z_of_mean(values, k, values.var(0)) < LIMIT
    assert stats.z_of_mean(1.05 * values, k, values.var(0)) > LIMIT


@pytest.mark.parametrize(("h", "p", "D"), [(4, 1, 3), (4, 1, 10), (4, 2, 16), (4, 2, 40), (8, 6, 300), (1024, 20, 50)])
def test_ahle_tuples_are_different(h, p, D):
    index = different_tuples(h, p, D, np.random.default_rng(0))
    assert index.shape == (p, D)
    assert index.max() < h
    counts = np.unique(index, axis=1, return_counts=True)[1]
    assert counts.max() - (counts.min() if h**p <= D else 1) <= 1
    assert len(counts) == min(D, h**p)


def test_degrees_have_hashes_of_their_own():
    """The variance against all hashes and signs, one by one: with one hash for both degrees it would be larger."""
    X, D = np.array([[1.0, 0.8], [0.7, 1.1]]), 3
    estimates = []
    for hashes in itertools.product(range(D), repeat=4):
        for signs in itertools.product((1, -1), repeat=4):
            (h, g), (s, t) = np.array(hashes).reshape(2, 2), np.array(signs).reshape(2, 2)
            Phi = np.zeros((2, D))
            for i, j in itertools.product(range(2), repeat=2):
                Phi[:, (h[i] + g[j]) % D] += s[i] * t[j] * X[:, i] * X[:, j]
            estimates.append(Phi[0] @ Phi[1])
    k = np.array([(X[0] @ X[1]) ** 2])
    np.testing.assert_allclose(np.mean(estimates), k[0])
    values = stats.estimates(TensorSketch(2, RADEMACHER), X, D, 4000, seed=0)
    ratio, error = stats.variance_ratio(values, k, np.array([np.var(estimates)]))
    assert abs(ratio - 1) < 4 * error < 0.3, (ratio, error)
