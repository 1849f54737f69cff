"""Optical features: their limit for every exponent, their variance, their memory."""

from math import factorial, gamma

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import hyp1f1
from support import stats
from support.stats import LIMIT

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.optical.ideal import OpticalMap
from rfbench.sketches.optical.medium import BLOCK, Medium


def optical(m, **options):
    kernel = make_kernel("optical", 3, exponent=m)
    return kernel, make_sketch("optical", kernel, exponent=m, **options)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_even_exponents_are_theorem_2(s, digits):
    """Ohana et al. 2019, Theorem 2: k_2s = ‖x‖^2s ‖y‖^2s Σ (s!)² C(s, i)² cos^2i θ."""
    X = digits[:10] * np.linspace(0.5, 2, 10)[:, None]
    norms = np.linalg.norm(X, axis=1)
    cosine = X @ X.T / np.outer(norms, norms)
    series = sum(
        (factorial(s) * factorial(s) // factorial(i) // factorial(s - i)) ** 2 * cosine ** (2 * i) for i in range(s + 1)
    )
    np.testing.assert_allclose(optical(2.0 * s)[0].gram(X, X), np.outer(norms, norms) ** (2 * s) * series, rtol=1e-9)


def permanent(A):
    """Ryser's formula."""
    n = len(A)
    subsets = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    return ((-1.0) ** (n - subsets.sum(1)) * (subsets @ A.T).prod(1)).sum()


@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
def test_the_second_moment_is_a_permanent(m, wine):
    """E|a|²ᵐ|b|²ᵐ of complex Gaussian a and b, by Wick: the permanent of their covariances."""
    (kernel, sketch), X = optical(float(m)), wine[:4] * np.array([[0.5], [1], [1.2], [2]])
    second = sketch.closed_form.variance(X, X, 7) * 7 + kernel.gram(X, X) ** 2
    expected = [[permanent(np.kron(np.array([[x @ x, x @ y], [x @ y, y @ y]]), np.ones((m, m)))) for y in X] for x in X]
    np.testing.assert_allclose(second, expected, rtol=1e-6)


@pytest.mark.parametrize("m", [1.0, 2.5, 3.0, 6.0])
def test_the_kernel_is_an_integral(m, wine):
    """Given t = |a|², |b|² is a noncentral χ² with two degrees of freedom, whose moments are ₁F₁."""
    X, s = wine[:3], m / 2

    def integral(c):
        def density(t):
            return np.exp(-t) * t**s * gamma(s + 1) * (1 - c) ** s * hyp1f1(-s, 1, -c * t / (1 - c))

        return quad(density, 0, 80)[0]

    for i, j in ((0, 1), (0, 2), (1, 2)):
        np.testing.assert_allclose(optical(m)[0].gram(X, X)[i, j], integral((X[i] @ X[j]) ** 2), rtol=1e-6)


@pytest.mark.parametrize("m", [1.0, 3.0, 6.0])
def test_features_are_powers_of_intensities(m, digits):
    """In both precisions, and on rows that are zero."""
    X = np.vstack([digits[:5], np.zeros(64)])
    light = optical(2.0)[1].sample(64, 50, np.random.default_rng(1), np.float64)(X) * np.sqrt(50)
    for dtype, rtol in ((np.float64, 1e-12), (np.float32, 1e-3)):
        Phi = optical(m)[1].sample(64, 50, np.random.default_rng(1), dtype)(X.astype(dtype))
        np.testing.assert_allclose(Phi, light ** (m / 2) / np.sqrt(50), rtol=rtol, atol=1e-6)


@pytest.mark.parametrize(("m", "draws"), [(1.0, 2000), (1.5, 2000), (2.0, 4000), (3.0, 8000), (4.0, 30_000)])
def test_mean_and_variance(m, draws, wine):
    """Independent features: a draw of draws · D of them is `draws` draws of D."""
    (kernel, sketch), X, D = optical(m), wine[:8], 64
    Phi = sketch.sample(13, draws * D, np.random.default_rng(3), np.float64)(X) * np.sqrt(draws)
    parts = Phi.reshape(8, draws, D).swapaxes(0, 1)
    values = (parts @ parts.swapaxes(1, 2))[:, *np.triu_indices(8, 1)]
    k, V = stats.of_pairs(kernel.gram(X, X)), stats.of_pairs(sketch.closed_form.variance(X, X, D))
    assert stats.z_of_mean(values, k, V) < LIMIT
    assert stats.z_of_mean(1.05 * values, k, V) > LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert 0.9 < ratio < 1.1, (ratio, error)


def test_parts_are_the_whole_and_are_drawn_again_alike(digits, monkeypatch):
    _, sketch = optical(2.0)
    D = 5 * BLOCK + 17
    features = sketch.sample(64, D, np.random.default_rng(0))
    X = digits[:5].astype(np.float32)
    parts = np.concatenate([part(X) for part in features.parts()], axis=1)
    np.testing.assert_allclose(parts, features(X), rtol=1e-5)
    monkeypatch.setattr("rfbench.sketches.optical.medium.KEPT_BYTES", 0)
    again = OpticalMap(Medium(64, D, features.medium.key, np.float32), 2.0)
    assert again.medium.kept is None
    np.testing.assert_array_equal(again(X), features(X))
    np.testing.assert_array_equal(np.concatenate([part(X) for part in again.parts()], axis=1), parts)


def test_a_large_medium_is_not_kept(digits):
    large = OpticalMap(Medium(64, 2_000_000, 1, np.float32), 2.0)
    assert large.medium.kept is None
    first = next(large.parts())
    assert first.D == 4 * BLOCK
    assert np.isfinite(first(digits[:2].astype(np.float32))).all()


def test_sketch_and_kernel_must_agree():
    with pytest.raises(InputError, match=r"set sketch\.exponent"):
        make_sketch("optical", make_kernel("optical", 3, exponent=4.0), exponent=2.0)
