"""Kernels against loops over their definitions, scikit-learn's, and their own series."""

from math import exp

import numpy as np
import oracles
import pytest
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from rfbench.checks import InputError
from rfbench.config.compose import choices
from rfbench.kernels import KERNELS, DotProductKernel, make_kernel

CASES = {
    "polynomial": (make_kernel("polynomial", 3, gamma=0.7, bias=0.4), lambda x, y: (0.7 * x @ y + 0.4) ** 3),
    "polynomial_sphere": (make_kernel("polynomial_sphere", 5, a=3.0), lambda x, y: (1 - (x - y) @ (x - y) / 9) ** 5),
    "linear": (make_kernel("linear", 3), lambda x, y: x @ y),
    "gaussian": (make_kernel("gaussian", 3, length_scale=0.8), lambda x, y: exp(-(x - y) @ (x - y) / (2 * 0.8**2))),
    "exponential": (make_kernel("exponential", 3, length_scale=1.3), lambda x, y: exp(x @ y / 1.3**2)),
    "optical": (make_kernel("optical", 3, exponent=2.0), lambda x, y: (x @ x) * (y @ y) + (x @ y) ** 2),
    "matern": (make_kernel("matern", 3, nu=2.5, length_scale=0.9), lambda x, y: oracles.matern(x, y, 2.5, 0.9)),
    "laplacian": (make_kernel("laplacian", 3, length_scale=1.1), lambda x, y: oracles.matern(x, y, 0.5, 1.1)),
}


def test_one_class_one_yaml_one_line():
    assert set(CASES) == set(KERNELS) == set(choices("kernel"))


@pytest.mark.parametrize("name", CASES)
def test_gram_is_the_definition(name, wine):
    kernel, definition = CASES[name]
    np.testing.assert_allclose(kernel.gram(wine, wine), oracles.kernel_matrix(wine, definition), atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_gram_is_positive_and_symmetric(name, wine):
    K = CASES[name][0].gram(wine, wine)
    np.testing.assert_allclose(K, K.T, atol=1e-14)
    assert np.linalg.eigvalsh(K).min() > -1e-10


@pytest.mark.parametrize("name", [name for name in CASES if isinstance(CASES[name][0], DotProductKernel)])
def test_series_times_radial_factor_is_the_kernel(name, wine):
    kernel, _ = CASES[name]
    degrees = np.arange(40)
    t = wine @ wine.T
    series = np.tensordot(kernel.coefficients(degrees), t[None] ** degrees[:, None, None], 1)
    g = kernel.radial(wine)
    np.testing.assert_allclose(g[:, None] * series * g, kernel.gram(wine, wine), atol=1e-12)


def test_scikit_learn_agrees(digits):
    np.testing.assert_allclose(
        make_kernel("polynomial", 4, gamma=0.5, bias=2.0).gram(digits, digits),
        polynomial_kernel(digits, degree=4, gamma=0.5, coef0=2.0),
    )
    rbf = rbf_kernel(digits, gamma=1 / (2 * 0.9**2))
    np.testing.assert_allclose(make_kernel("gaussian", 3, length_scale=0.9).gram(digits, digits), rbf)
    np.testing.assert_allclose(make_kernel("linear", 3).gram(digits, digits), linear_kernel(digits))


def test_gram_is_float64_for_float32_rows(digits):
    X = digits.astype(np.float32)
    for kernel, _ in CASES.values():
        assert kernel.gram(X, X).dtype == np.float64


def test_median_length_scale_is_the_median_distance(wine):
    distances = [np.linalg.norm(wine[i] - wine[j]) for i in range(len(wine)) for j in range(i)]
    fitted = make_kernel("gaussian", 3, length_scale="median").fit(wine)
    assert fitted.length_scale == pytest.approx(np.median(distances))
    assert make_kernel("gaussian", 3, length_scale=2.0).fit(wine).length_scale == 2.0


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("polynomial", {"gamma": 0.0}, "kernel.gamma must be above 0"),
        ("polynomial", {"bias": -1.0}, "kernel.bias must be at least 0"),
        ("polynomial", {"gama": 1.0}, "did you mean 'gamma'"),
        ("matern", {"nu": 2.0}, "kernel.nu must be 0.5, 1.5 or 2.5"),
        ("laplacian", {"length_scale": 0.0}, "above 0"),
        ("polynomial_sphere", {"a": 1.0}, "kernel.a must be at least"),
        ("gaussian", {"length_scale": "mean"}, "a number, 'median' or 'likelihood'"),
        ("gaussian", {"length_scale": -1.0}, "above 0"),
        ("gausian", {}, "did you mean 'gaussian'"),
        ("gaussian", {"length_scale": True}, "a number or a word"),
    ],
)
def test_bad_input_is_one_sentence(name, options, words):
    with pytest.raises(InputError, match=words):
        make_kernel(name, 3, **options)


def test_the_sphere_kernel_objects_to_rows_of_other_lengths(wine):
    kernel = make_kernel("polynomial_sphere", 3)
    assert kernel.objection(wine) is None
    assert "unit_norm" in kernel.objection(2 * wine)
