"""Random neurons: mean, variance, rows of zeros, and the two printed variants of orthogonal directions."""

import numpy as np
import pytest
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.kernels.arc_cosine import arc_cosine
from rfbench.sketches import make_sketch
from rfbench.sketches.fourier.options import choose

LIMIT = 4.5


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("norms", ["independent", "constant"])
def test_mean_and_variance_are_the_closed_forms_and_a_control_fails(order, norms, wine):
    kernel = make_kernel("arc_cosine", order=order)
    sketch = make_sketch("arc_cosine", kernel, norms=norms)
    k, V = stats.of_pairs(kernel.gram(wine, wine)), stats.of_pairs(sketch.closed_form.variance(wine, wine, 24))
    values = stats.estimates(sketch, wine, 24, 4000, seed=order)
    assert stats.z_of_mean(values, k, V) < LIMIT
    assert stats.z_of_mean(1.05 * values, k, V) > LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < max(0.1, 4 * error), (ratio, error)


def test_one_length_lowers_the_variance_of_rectifiers_but_not_of_steps(wine):
    for order, less in ((0, False), (1, True), (2, True)):
        kernel = make_kernel("arc_cosine", order=order)
        free, one = (
            make_sketch("arc_cosine", kernel, norms=norms).closed_form.variance(wine, wine, 8)
            for norms in ("independent", "constant")
        )
        assert (one < free).all() if less else np.array_equal(one, free)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_orthogonal_directions_have_the_same_mean_and_less_variance(order, wine):
    kernel = make_kernel("arc_cosine", order=order)
    k = stats.of_pairs(kernel.gram(wine, wine))
    values = stats.estimates(make_sketch("arc_cosine", kernel, directions="orthogonal"), wine, 26, 3000, seed=3)
    assert stats.z_of_mean(values, k, np.var(values, axis=0)) < LIMIT
    independent = make_sketch("arc_cosine", kernel).closed_form.variance(wine, wine, 26)
    assert stats.variance_ratio(values, k, stats.of_pairs(independent))[0] < 0.95


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4])
def test_the_kernel_is_its_integral(order):
    """Over the angle of w in the plane of x and y, E r^{2n+2} apart: no polynomial of the program."""
    x, y, n = np.array([1.3, 0.0]), np.array([-0.4, 0.9]), order
    phi = (np.arange(200_000) + 0.5) * (2 * np.pi / 200_000)
    a, b = (np.cos(phi) * z[0] + np.sin(phi) * z[1] for z in (x, y))
    even = np.where((a > 0) & (b > 0), (a * b) ** n, 0.0).mean()
    radial = np.prod([2.0 * i for i in range(1, n + 1)]) if n else 1.0  # E ‖w‖^{2n} of two entries
    np.testing.assert_allclose(arc_cosine(n, x[None], y[None])[0, 0], 2 * radial * even, rtol=1e-4)


def test_small_angles_keep_their_digits():
    x = np.array([[1.0, 0.0]])
    y = np.array([[1.0, 1e-9]])
    np.testing.assert_allclose((1 - arc_cosine(0, x, y)) * np.pi, 1e-9, rtol=1e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_rows_of_zeros_are_unbiased_too(order):
    X = np.array([[0.0, 0, 0], [1, 2, 3]])
    kernel = make_kernel("arc_cosine", order=order)
    np.testing.assert_allclose(kernel.gram(X[:1], X), np.full((1, 2), 0.5 if order == 0 else 0.0))
    Phi = make_sketch("arc_cosine", kernel).sample(3, 20_000, np.random.default_rng(0), np.float64)(X)
    np.testing.assert_allclose(Phi[:1] @ Phi.T, kernel.gram(X[:1], X), atol=0.02)


def test_signs_of_lapack_are_a_bias_and_uniform_ones_are_not():
    """The first entry of LAPACK's first column is never positive."""
    d, blocks = 6, 200
    for signs, biased in (("uniform", False), ("lapack", True)):
        W = choose("orthogonal", signs=signs).draw(d, np.ones(d * blocks), np.random.default_rng(0), np.float64).W
        positive = (W.reshape(d, blocks, d)[0, :, 0] > 0).mean()
        assert (positive == 0) if biased else abs(positive - 0.5) < 0.12


def test_structured_signs_last_are_the_matrix_product():
    """h^{−3/2} D₁ H D₂ H D₃ H, by dense matrices."""
    from support.oracles import hadamard

    features = choose("structured", signs="last").draw(13, np.full(40, 4.0), np.random.default_rng(0), np.float64)
    H = hadamard(16)
    blocks = [np.diag(s[2]) @ H @ np.diag(s[1]) @ H @ np.diag(s[0]) @ H / 16 for s in features.signs]
    np.testing.assert_allclose(features(np.eye(13)), np.concatenate(blocks)[:40, :13].T, atol=1e-12)


def test_truncated_entries_are_truncated_and_not_rescaled():
    W = choose("independent", truncation=3.0).draw(50, np.ones(4000), np.random.default_rng(0), np.float64).W
    assert np.abs(W).max() <= 3
    assert abs(W.var() - 0.97334) < 0.01  # 1 − 2·3 φ(3)/(2Φ(3) − 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"directions": "orthogonl"}, "did you mean 'orthogonal'"),
        ({"norms": "pared"}, "did you mean 'paired'"),
        ({"signs": "lapack"}, "sketch.signs must be null"),
        ({"directions": "structured", "signs": "lapack"}, "first or last or null"),
        ({"directions": "structured", "truncation": 3.0}, "null for structured"),
        ({"truncation": -1.0}, "above 0"),
        ({"truncation": 3.0, "norms": "paired"}, "keep their lengths"),
    ],
)
def test_options_that_cannot_be_are_refused_in_words(options, message):
    with pytest.raises(InputError, match=message):
        make_sketch("arc_cosine", make_kernel("arc_cosine", order=1), **options)
