"""Optical features: their limit for every exponent, their variance, their memory."""

from math import factorial

import numpy as np
import pytest
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


@pytest.mark.parametrize(("m", "draws"), [(1.0, 2000), (1.5, 2000), (2.0, 4000), (4.0, 30_000)])
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
