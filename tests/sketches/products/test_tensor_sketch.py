"""TensorSketch is the count sketch of the explicit tensor power, and unbiased."""

import itertools

import numpy as np
import pytest
from support import stats, zoo
from support.stats import LIMIT

from rfbench.sketches.products.tensor_sketch import TensorSketch, convolved
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


def count_sketches(x, p, D, letters):
    """Φ(x) for all hashes and signs, one by one."""
    for hashes in itertools.product(range(D), repeat=p * len(x)):
        for signs in itertools.product(letters, repeat=p * len(x)):
            Phi = np.zeros(D, complex)
            for index in np.ndindex(*(len(x),) * p):
                at = [i * len(x) + k for i, k in enumerate(index)]
                Phi[sum(hashes[i] for i in at) % D] += np.prod([signs[i] for i in at]) * np.prod(x[list(index)])
            yield Phi


@pytest.mark.parametrize(
    ("p", "D", "letters"), [(1, 3, (1, -1)), (2, 2, (1, -1)), (2, 3, (1, -1)), (2, 2, (1, -1, 1j, -1j))]
)
def test_closed_form_is_exact_by_enumeration(p, D, letters):
    """With both kinds of pairs of indices, for even and odd D."""
    x, y = np.random.default_rng(3).standard_normal((2, 2))
    k = np.array([f @ g.conj() for f, g in zip(*(count_sketches(z, p, D, letters) for z in (x, y)), strict=True)])
    real = len(letters) == 2
    form = TensorSketch(p, RADEMACHER if real else COMPLEX_RADEMACHER).closed_form
    np.testing.assert_allclose(k.mean(), (x @ y) ** p)
    np.testing.assert_allclose(form.variance(x[None], y[None], D)[0, 0], np.var(k))
    if not real:
        pseudo = np.mean(k**2) - np.mean(k) ** 2
        np.testing.assert_allclose(form.pseudo_variance(x[None], y[None], D)[0, 0], pseudo)


@pytest.mark.parametrize("name", ["tensorsketch", "complex_tensorsketch", "ctr_tensorsketch"])
def test_the_ratio_of_variances_is_one(name, wine):
    """Of an inhomogeneous kernel too."""
    sketch, k = zoo.sketch_of(name), stats.of_pairs(zoo.kernel_of(name).gram(wine, wine))
    V = stats.of_pairs(sketch.closed_form.variance(wine, wine, 24))
    ratio, error = stats.variance_ratio(stats.estimates(sketch, wine, 24, 1000, seed=3), k, V)
    assert abs(ratio - 1) < 4 * error < 0.3, (ratio, error)


def test_the_approximation_for_allocations_is_convex_and_exact_for_even_numbers(wine):
    form, pairs = TensorSketch(4, RADEMACHER).closed_form, np.triu_indices(len(wine), 1)
    V, W = (r * form.variance(wine, wine, r)[pairs].mean() for r in (1, 3))
    v = convolved(V, W, 3, np.arange(1.0, 60))
    exact = np.array([form.variance(wine, wine, r)[pairs].mean() for r in range(1, 60)])
    np.testing.assert_allclose(v[1::2], exact[1::2])
    assert (v >= exact * (1 - 1e-9)).all()
    assert (np.diff(v) < 0).all()
    assert (np.diff(v, 2) > 0).all()


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
