"""Kernels against loops over their definitions, scikit-learn's, and their own series."""

from math import exp

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from support import oracles

from rfbench.checks import InputError
from rfbench.config.files import choices
from rfbench.kernels import KERNELS, DotProductKernel, KernelRecipe, kernel_recipe, make_kernel

CASES = {
    "polynomial": (make_kernel("polynomial", 3, gamma=0.7, bias=0.4), lambda x, y: (0.7 * x @ y + 0.4) ** 3),
    "polynomial_sphere": (make_kernel("polynomial_sphere", 5, a=3.0), lambda x, y: (1 - (x - y) @ (x - y) / 9) ** 5),
    "linear": (make_kernel("linear", 3), lambda x, y: x @ y),
    "gaussian": (make_kernel("gaussian", 3, length_scale=0.8), lambda x, y: exp(-(x - y) @ (x - y) / (2 * 0.8**2))),
    "exponential": (make_kernel("exponential", 3, length_scale=1.3), lambda x, y: exp(x @ y / 1.3**2)),
    "optical": (
        make_kernel("optical", 3, exponent=2.0, bias=0.7),
        lambda x, y: (x @ x + 0.7) * (y @ y + 0.7) + (x @ y + 0.7) ** 2,
    ),
    "matern": (make_kernel("matern", 3, nu=2.5, length_scale=0.9), lambda x, y: oracles.matern(x, y, 2.5, 0.9)),
    "bessel": (make_kernel("bessel", 3, length_scale=1.2), lambda x, y: oracles.bessel(x, y, 1.2)),
    "b_spline": (make_kernel("b_spline", 3, length_scale=1.2, order=2), lambda x, y: oracles.b_spline(x, y, 1.2, 2)),
    "arc_cosine": (make_kernel("arc_cosine", 3, order=2), lambda x, y: oracles.arc_cosine_2(x, y)),
    "laplacian": (make_kernel("laplacian", 3, length_scale=1.1), lambda x, y: oracles.matern(x, y, 0.5, 1.1)),
}
COUPLED = [[2.0, 1.0], [1.0, 3.0]]
MATRIX = {
    "curl_free": (make_kernel("curl_free", 3, length_scale=0.8), lambda x, y: oracles.field_kernel(x, y, 0.8, 1)),
    "div_free": (make_kernel("div_free", 3, length_scale=0.8), lambda x, y: oracles.field_kernel(x, y, 0.8, 0)),
    "helmholtz": (
        make_kernel("helmholtz", 3, length_scale=0.8, curl_free=0.3),
        lambda x, y: oracles.field_kernel(x, y, 0.8, 0.3),
    ),
    "decomposable": (
        make_kernel("decomposable", 3, length_scale=0.8, coupling=COUPLED),
        lambda x, y: exp(-(x - y) @ (x - y) / (2 * 0.8**2)) * np.array(COUPLED),
    ),
}


def test_one_class_one_yaml_one_line():
    assert {*CASES, *MATRIX} == set(KERNELS) == set(choices("kernel"))


@pytest.mark.parametrize("name", CASES)
def test_gram_is_the_definition(name, wine):
    kernel, definition = CASES[name]
    np.testing.assert_allclose(kernel.gram(wine, wine), oracles.kernel_matrix(wine, definition), atol=1e-13)


@pytest.mark.parametrize("name", MATRIX)
def test_block_gram_is_the_definition(name, wine):
    kernel, definition = MATRIX[name]
    X, Y = wine[:5, :3], wine[3:9, :3]
    wanted = np.block([[definition(x, y) for y in Y] for x in X])
    np.testing.assert_allclose(kernel.gram(X, Y), wanted, atol=1e-6)
    assert kernel.gram(X, Y).shape == (5 * kernel.size(3), 6 * kernel.size(3))


@pytest.mark.parametrize("name", [*CASES, *MATRIX])
def test_gram_is_positive_and_symmetric(name, wine):
    K = (CASES | MATRIX)[name][0].gram(wine, wine)
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
    for name in ("gaussian", "matern", "curl_free"):
        fitted = kernel_recipe(name, 3, length_scale="median").fit(wine)
        assert fitted.length_scale == pytest.approx(np.median(distances))
        assert kernel_recipe(name, 3, length_scale=2.0).fit(wine).length_scale == 2.0


def test_candidates_are_powers_of_two_times_the_median_distance(wine):
    median = kernel_recipe("gaussian", 3, length_scale="median").fit(wine).length_scale
    for name, exponents in (("matern", np.arange(-2, 2.5, 0.5)), ("div_free", np.arange(-3.5, 1.25, 0.25))):
        found = kernel_recipe(name, 3, length_scale="validation").candidates(wine)
        np.testing.assert_allclose([kernel.length_scale for kernel in found], median * 2.0**exponents)
        assert {type(kernel) for kernel in found} == {KERNELS[name]}
    found = kernel_recipe("decomposable", 3, length_scale="validation").candidates(wine, wine[:, :4])
    assert {len(kernel.coupling) for kernel in found} == {4}  # as many as there are outputs


def test_candidates_of_an_optical_bias_are_integers_above_one(wine):
    recipe = kernel_recipe("optical", 3, exponent=4.0, bias="validation")
    assert [k.bias for k in recipe.candidates(3 * wine)] == pytest.approx([0, 9 / 16, 2, 9, 36, 144])  # ‖3x‖² = 9
    assert {k.exponent for k in recipe.candidates(wine)} == {4.0}


def test_a_recipe_says_what_is_left_to_choose(wine):
    chosen, likely, numbers = (
        kernel_recipe("gaussian", 3, length_scale=value) for value in ("validation", "likelihood", 2.0)
    )
    assert (chosen.tunable, likely.tunable, numbers.tunable) == ("length_scale", None, None)
    assert (chosen.by_likelihood, likely.by_likelihood, numbers.by_likelihood) == (False, True, False)
    for recipe in (chosen, likely):
        with pytest.raises(InputError, match="needs a task that chooses it"):
            recipe.fit(wine)
    assert numbers.fit(wine) == make_kernel("gaussian", 3, length_scale=2.0)
    assert kernel_recipe("polynomial", 4, gamma="1/d").power == 4
    for kernel in [kernel for kernel, _ in (CASES | MATRIX).values()]:
        assert KernelRecipe.of(kernel).fit(wine) == kernel


def test_learned_numbers_are_those_the_recipe_did_not_give(wine):
    Y = np.random.default_rng(0).standard_normal((len(wine), 2))
    recipe = kernel_recipe("decomposable", 3, length_scale="median", coupling=COUPLED)
    kernel = recipe.fit(wine, Y)
    assert recipe.learned(kernel) == {"length_scale": kernel.length_scale}
    assert KernelRecipe.of(kernel).learned(kernel) == {}
    recipe = kernel_recipe("polynomial", 3, gamma="1/d")
    assert recipe.learned(recipe.fit(wine[:, :1])) == {"gamma": 1.0}  # learned, though it is the default too
    recipe = kernel_recipe("decomposable", 3, length_scale=1.0, coupling="identity", outputs="auto", edges=None)
    assert recipe.learned(recipe.fit(wine, Y)) == {"coupling": ((1, 0), (0, 1))}


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("polynomial", {"gamma": 0.0}, "kernel.gamma must be above 0"),
        ("polynomial", {"bias": -1.0}, "kernel.bias must be at least 0"),
        ("polynomial", {"gama": 1.0}, "did you mean 'gamma'"),
        ("matern", {"nu": 2.0}, "kernel.nu must be 0.5, 1.5 or 2.5"),
        ("laplacian", {"length_scale": 0.0}, "above 0"),
        ("polynomial_sphere", {"a": 1.0}, "kernel.a must be at least"),
        ("gaussian", {"length_scale": "mean"}, "no kernel.length_scale 'mean'; did you mean 'median'?"),
        ("gaussian", {"length_scale": -1.0}, "above 0"),
        ("gausian", {}, "did you mean 'gaussian'"),
        ("gaussian", {"length_scale": True}, "must be a number; True was given"),
        ("helmholtz", {"curl_free": 1.5}, "kernel.curl_free must be from 0"),
        ("decomposable", {"coupling": "covarianse"}, "did you mean 'covariance'"),
        ("decomposable", {"coupling": [[1, 2], [2, 1]]}, "symmetric positive"),
        ("decomposable", {"coupling": [[1, 2], [2]]}, "a word or a matrix"),
        ("decomposable", {"coupling": [1, 2]}, "a word or a matrix"),
        ("decomposable", {"edges": [0, 1]}, "kernel.edges must be pairs"),
        ("decomposable", {"outputs": 0}, "kernel.outputs must be auto or at least 1"),
    ],
)
def test_bad_input_is_one_sentence(name, options, words):
    with pytest.raises(InputError, match=words):
        kernel_recipe(name, 3, **options)


def test_couplings_of_outputs():
    def A(coupling, p=4, **options):
        Y = np.random.default_rng(0).standard_normal((50, p)) @ np.triu(np.ones((p, p)))
        recipe = kernel_recipe("decomposable", 3, coupling=coupling, **options)
        kernel = recipe.fit(np.zeros((50, 2)), Y)
        np.testing.assert_allclose(kernel.B @ kernel.B.T, kernel.A, atol=1e-12)
        assert hash(kernel) == hash(recipe.fit(np.zeros((50, 2)), Y))
        return kernel.A, Y

    np.testing.assert_array_equal(A("identity")[0], np.eye(4))
    found, Y = A("covariance")
    np.testing.assert_allclose(found, np.cov(Y.T, bias=True))
    star = np.array([[3, -1, -1, -1], [-1, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1]])
    np.testing.assert_allclose(A("laplacian", edges=[[0, 1], [0, 2], [3, 0]])[0], np.linalg.pinv(star), atol=1e-12)
    chain = np.diag([1.0, 2, 2, 1]) - np.eye(4, k=1) - np.eye(4, k=-1)
    np.testing.assert_allclose(A("laplacian")[0] @ chain, np.eye(4) - 0.25, atol=1e-12)
    np.testing.assert_allclose(A("damped_laplacian")[0] @ (chain + np.eye(4)), np.eye(4), atol=1e-12)
    edges = [[0, 1], [1, 3], [3, 2], [2, 0]]  # two lines of two places are a cycle
    np.testing.assert_allclose(A("laplacian", edges="2x2")[0], A("laplacian", edges=edges)[0], atol=1e-12)
    np.testing.assert_allclose(A("laplacian", edges="1x4")[0], A("laplacian")[0], atol=1e-12)
    simplex = A("simplex")[0]  # vertices of length 1 with cosines −1/(p − 1), which sum to zero
    np.testing.assert_allclose(simplex, np.eye(4) * 4 / 3 - 1 / 3)
    assert np.linalg.matrix_rank(simplex) == 3
    assert A("simplex", p=1)[0] == 1
    with pytest.raises(InputError, match="is for 2 outputs, and there are 4"):
        A(COUPLED)
    with pytest.raises(InputError, match="pairs of different outputs 0 to 3"):
        A("laplacian", edges=[[0, 4]])
    for coupling in ("covariance", "laplacian", "damped_laplacian"):
        with pytest.raises(InputError, match="couples several outputs, and the data have one; use identity"):
            A(coupling, p=1)
    for edges in ("grid", "2by2", "x2", "1x1"):
        with pytest.raises(InputError, match=r"kernel\.edges must be pairs such as .* or 4x8"):
            A("laplacian", edges=edges)
    with pytest.raises(InputError, match="needs training rows"):
        make_kernel("decomposable", 3, coupling="identity")


def test_fields_need_two_dimensions():
    assert "one column" in make_kernel("div_free", 3).objection(np.zeros((5, 1)))
    assert make_kernel("div_free", 3).objection(np.zeros((5, 2))) is None


def test_the_sphere_kernel_objects_to_rows_of_other_lengths(wine):
    kernel = make_kernel("polynomial_sphere", 3)
    assert kernel.objection(wine) is None
    assert "unit_norm" in kernel.objection(2 * wine)


@pytest.mark.parametrize("d", [119, 121, 784])
def test_the_bessel_kernel_of_many_columns_is_nearly_gaussian(d):
    """Its series ₀F₁ begins like the exponential, with a relative difference of order 1/d."""
    X = np.random.default_rng(0).standard_normal((6, d)) / np.sqrt(2 * d)
    bessel, gaussian = (make_kernel(name, length_scale=1.0).gram(X, X) for name in ("bessel", "gaussian"))
    s = -2 * np.log(gaussian)
    np.testing.assert_allclose(bessel, gaussian * (1 - s**2 / (4 * (d + 2))), atol=1 / d**2)
