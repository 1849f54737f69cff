"""Gegenbauer features: the series, the reproducing property, unbiasedness for lengths of every kind."""

import numpy as np
import pytest
from scipy.special import eval_gegenbauer, gegenbauer
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.fourier.gegenbauer import harmonics, polynomials, times_t

LIMIT = 4.5


@pytest.mark.parametrize("d", [3, 8, 30])
def test_polynomials_and_coefficients_are_scipys(d):
    t, lam = np.linspace(-1, 1, 9), d / 2 - 1
    for l, P in enumerate(polynomials(t, 6, d)):
        np.testing.assert_allclose(P, eval_gegenbauer(l, lam, t) / eval_gegenbauer(l, lam, 1.0), atol=1e-12)
    b = np.eye(1, 8)[0]
    for n in range(7):
        np.testing.assert_allclose(sum(c * P for c, P in zip(b, polynomials(t, 7, d), strict=True)), t**n, atol=1e-12)
        b = times_t(b, d)
    assert [harmonics(l, 3) for l in range(5)] == [1, 3, 5, 7, 9]
    assert gegenbauer(3, lam).order == 3


@pytest.mark.parametrize("directions", ["independent", "orthogonal", "simplex"])
@pytest.mark.parametrize("p", [2, 3])
def test_polynomial_kernels_are_unbiased_for_rows_of_any_length(p, directions, wine):
    kernel = make_kernel("polynomial", p, gamma=0.7, bias=0.4)
    X = wine[:6] * np.linspace(0.3, 1.5, 6)[:, None]
    sketch = make_sketch("gegenbauer", kernel, directions=directions)
    k = stats.of_pairs(kernel.gram(X, X))
    values = stats.estimates(sketch, X, 24, 800, seed=p)
    assert stats.z_of_mean(values, k, np.var(values, axis=0)) < LIMIT
    assert stats.z_of_mean(values + 0.5 * k, k, np.var(values, axis=0)) > LIMIT


@pytest.mark.parametrize("d", [12, 16])
def test_structured_directions_lie_in_the_padded_space(d):
    """E t² of a direction is 1/h among h columns, whatever the columns of the rows; the bias that is left is small."""
    kernel, X = make_kernel("polynomial", 3), np.random.default_rng(0).standard_normal((6, d))
    sketch, K = make_sketch("gegenbauer", kernel, directions="structured"), kernel.gram(X, X)
    draws = [sketch.sample(d, 256, np.random.default_rng(seed), np.float64)(X) for seed in range(300)]
    assert np.linalg.norm(np.mean([Phi @ Phi.T for Phi in draws], 0) - K) < 0.08 * np.linalg.norm(K)


@pytest.mark.parametrize("name", ["exponential", "gaussian"])
@pytest.mark.parametrize("sphere", [False, True])
def test_series_of_enough_degrees_are_unbiased(name, sphere, wine):
    kernel, X = make_kernel(name, length_scale=1.0), wine[:6, :4] / np.linalg.norm(wine[:6, :4], axis=1)[:, None]
    sketch = make_sketch("gegenbauer", kernel, degrees=12, sphere=sphere).adapt(X, 28)
    assert "degrees above 12" in sketch.stated_bias
    k = stats.of_pairs(kernel.gram(X, X))
    values = stats.estimates(sketch, X, 28, 600, seed=7)
    assert stats.z_of_mean(values, k, np.var(values, axis=0)) < LIMIT


def test_one_column_and_rows_of_zeros():
    kernel = make_kernel("polynomial", 2)
    X = np.array([[0.0], [1.0], [-0.5]])
    values = [
        (Phi := make_sketch("gegenbauer", kernel).sample(1, 40, np.random.default_rng(seed), np.float64)(X)) @ Phi.T
        for seed in range(500)
    ]
    z = (np.mean(values, 0) - kernel.gram(X, X)) / (np.std(values, 0) / np.sqrt(500) + 1e-9)
    assert np.abs(z).max() < LIMIT


def test_what_cannot_be_is_refused_in_words(wine):
    sketch = make_sketch("gegenbauer", make_kernel("polynomial", 3))
    assert sketch.count(13, 25) == 24
    assert "use features=24" in sketch.objection(25)
    with pytest.raises(InputError, match="unit_norm"):
        make_sketch("gegenbauer", make_kernel("polynomial", 3), sphere=True).adapt(2 * wine, 24)
    with pytest.raises(InputError, match="from 1 to 40"):
        make_sketch("gegenbauer", make_kernel("polynomial", 3), degrees=0)
