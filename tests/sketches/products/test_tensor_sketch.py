"""TensorSketch is the count sketch of the explicit tensor power, and unbiased."""

import numpy as np
import pytest
from support import stats, zoo
from support.stats import LIMIT

from rfbench.sketches.products.tensor_sketch import TensorSketch
from rfbench.sketches.products.tensor_srht import different_tuples
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, RADEMACHER


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
