"""Negative controls: sketches that are slightly wrong must fail the tests of the others."""

import numpy as np
import pytest
from support import stats
from support.stats import LIMIT

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.products.product import ProductMap, ProductSketch
from rfbench.sketches.products.weights import RADEMACHER

KERNEL = make_kernel("polynomial", 2, bias=0.0)


class Scaled(ProductSketch):
    """Features too long by a factor: the estimate is 1.05 times the kernel."""

    def sample(self, d, D, rng, dtype=np.float32):
        features = super().sample(d, D, rng, dtype)
        return ProductMap(features.W * 1.05 ** (0.5 / self.degree))


class ReusesWeights(ProductSketch):
    """One projection, squared, in place of two."""

    def sample(self, d, D, rng, dtype=np.float32):
        W = super().sample(d, D, rng, dtype).W
        return ProductMap(np.array([W[0], W[0] * np.sqrt(D)]))


class RepeatsFeatures(ProductSketch):
    """Half of the features twice: unbiased, with twice the variance."""

    def sample(self, d, D, rng, dtype=np.float32):
        W = super().sample(d, D // 2, rng, dtype).W
        return ProductMap(np.concatenate((W, W), axis=2) * np.array([np.sqrt(0.5), 1])[:, None, None])


def judged(sketch, X, D=24, draws=1000):
    k, V = stats.of_pairs(KERNEL.gram(X, X)), stats.of_pairs(sketch.closed_form.variance(X, X, D))
    values = stats.estimates(sketch, X, D, draws, seed=2)
    return stats.z_of_mean(values, k, V), stats.variance_ratio(values, k, V)[0]


def test_the_right_sketch_passes(wine):
    z, ratio = judged(make_sketch("rademacher", KERNEL), wine)
    assert z < LIMIT
    assert 0.9 < ratio < 1.1


def test_a_scaled_sketch_fails(digits):
    """5 % is seen where the kernel is large against its spread: many features on rows that resemble each other."""
    X = digits[:15]
    assert judged(ProductSketch(2, RADEMACHER), X, D=96, draws=2000)[0] < LIMIT
    assert judged(Scaled(2, RADEMACHER), X, D=96, draws=2000)[0] > LIMIT


def test_reused_weights_fail(wine):
    assert judged(ReusesWeights(2, RADEMACHER), wine)[0] > LIMIT


def test_repeated_features_fail_by_their_variance(wine):
    z, ratio = judged(RepeatsFeatures(2, RADEMACHER), wine)
    assert z < 2 * LIMIT  # the mean is right, only its standard error is not
    assert ratio > 1.5


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_ten_percent_of_variance_is_seen(factor, wine):
    """The closed form off by 10 % leaves the band that every sketch has to keep."""
    sketch = make_sketch("tensorsrht", KERNEL)
    k, V = stats.of_pairs(KERNEL.gram(wine, wine)), stats.of_pairs(sketch.closed_form.variance(wine, wine, 24))
    ratio, error = stats.variance_ratio(stats.estimates(sketch, wine, 24, 6000, seed=2), k, factor * V)
    assert abs(ratio - 1) > 3 * error
