"""The solvers of Gaussian processes against the textbook: dense matrices, scikit-learn, and one against the other."""

import numpy as np
import pytest
from support.gp import NOISE, REGRESSION, SIGNAL, X_NEW, Fixed, Given, X, Y, features, posterior

from rfbench.checks import InputError
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches.exact import ExactMap, IdentityMap
from rfbench.tasks.gp.posterior import FeaturePosterior, KernelPosterior, Model
from rfbench.tasks.gp.statistics import DualStatistics, PrimalStatistics, collect
from rfbench.tasks.rows import Held


def dense(features, c=0, model=REGRESSION, group=None):
    """Wacker 2022, Eq. B.14 to B.17, as printed, for one output with a noise for every row."""
    group = np.zeros(len(X), int) if group is None else group
    Phi, Psi = features(X), features(X_NEW)
    inverse = np.linalg.inv(model.signal * Phi @ Phi.conj().T + np.diag(1 / model.W[c, group]))
    K = model.signal * Psi @ Phi.conj().T
    variance = (model.signal * Psi @ Psi.conj().T - K @ inverse @ K.conj().T).diagonal().real
    return (K @ inverse @ (model.T[c, group] * Y)).real, variance


@pytest.mark.parametrize("rows", [90, 4])  # primal, dual
def test_linear_features_are_the_textbook(rows):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

    kernel = ConstantKernel(SIGNAL) * DotProduct(sigma_0=0, sigma_0_bounds="fixed")
    model = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None).fit(X[:rows], Y[:rows])
    wanted, deviation = model.predict(X_NEW, return_std=True)
    kind, mean, variance = posterior(IdentityMap(6, np.float64), X[:rows], Y[:rows])
    assert kind is (FeaturePosterior if rows == 90 else KernelPosterior)
    np.testing.assert_allclose(mean[:, 0], wanted, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(variance[:, 0], deviation**2, rtol=1e-8, atol=1e-8)
    _, *exact = posterior(ExactMap(make_kernel("linear", 1), 6, np.float64), X[:rows], Y[:rows])
    np.testing.assert_allclose(exact, (mean, variance), rtol=1e-8, atol=1e-8)


class Squares(Fixed):
    """All products of two columns: ⟨x, y⟩² without an error."""

    def __init__(self):
        self.d, self.D, self.dtype = 6, 36, np.dtype(float)

    def write(self, X, out):
        out[...] = np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)


def test_the_explicit_map_of_degree_2_is_the_exact_process():
    primal, *approximate = posterior(Squares())
    dual, *exact = posterior(ExactMap(make_kernel("polynomial", 2, bias=0.0), 6, np.float64))
    assert (primal, dual) == (FeaturePosterior, KernelPosterior)
    np.testing.assert_allclose(approximate, exact, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("D", [1, 7, 89, 90, 91, 1100])
def test_primal_and_dual_are_the_dense_formula(kind, D):
    found, mean, variance = posterior(features(D, kind))
    assert found is (FeaturePosterior if D <= 90 else KernelPosterior)
    wanted_mean, wanted_variance = dense(features(D, kind))
    np.testing.assert_allclose(mean[:, 0], wanted_mean, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(variance[:, 0], wanted_variance, rtol=1e-7, atol=1e-7)


TWO_VALUES = np.array([[3.0, 0.7, 0.7], [0.2, 4.0, 0.2], [1.1, 1.1, 0.5]])
WEIGHTS = {
    "classes": TWO_VALUES,
    "general": np.array([[3.0, 0.7, 1.9], [0.2, 4.0, 0.9], [1.1, 1.3, 0.5]]),
    "equal": np.ones((3, 3)),
    "two classes": np.array([[3.0, 0.7], [0.2, 4.0]]),
    "four outputs of two groups": np.array([[3.0, 0.7], [0.7, 3.0], [1.0, 1.0], [0.1, 9.0]]),
}


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("D", [40, 120])  # primal, dual
@pytest.mark.parametrize("W", WEIGHTS.values(), ids=WEIGHTS)
def test_all_outputs_of_one_pass_are_each_of_them_alone(kind, D, W):
    """Any precisions, those of classification among them, against one dense system for each output."""
    rng = np.random.default_rng(3)
    model, group = Model(W, rng.standard_normal(W.shape), SIGNAL), rng.integers(0, W.shape[1], len(X))
    _, mean, variance = posterior(features(D, kind), model=model, group=group)
    for c in range(len(W)):
        wanted_mean, wanted_variance = dense(features(D, kind), c, model, group)
        np.testing.assert_allclose(mean[:, c], wanted_mean, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(variance[:, c], wanted_variance, rtol=1e-7, atol=1e-7)


def groups_of(group):
    return [Held(X[group == g], Y[group == g]) for g in range(3)]


def test_primal_and_dual_agree_for_any_precisions():
    model, group = Model(WEIGHTS["general"], np.ones((3, 3)), SIGNAL), np.arange(len(X)) % 3
    with Local(2).running() as engine:
        primal = PrimalStatistics(Given(features(40, "real")), groups_of(group), engine).posterior(model, engine)
        dual = DualStatistics(features(40, "real"), groups_of(group), engine).posterior(model, engine)
        np.testing.assert_allclose(primal(X_NEW, engine), dual(X_NEW, engine), rtol=1e-7, atol=1e-7)


def test_triangles_in_a_file_and_small_blocks_change_rounding_only():
    model, group = Model(TWO_VALUES, np.ones((3, 3)), SIGNAL), np.arange(len(X)) % 3
    with Local(2).running() as engine:
        plain, other = (
            PrimalStatistics(Given(features(40, "complex")), groups_of(group), engine, **options)
            for options in ({}, {"memory": 0, "size": 7})
        )
        assert other.parts.spill.file
        found = [statistics.posterior(model, engine)(X_NEW, engine) for statistics in (plain, other)]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_too_large_a_matrix_is_refused():
    big = features(3, "real")
    big.D = 30_000
    rows = Held(np.empty((40_000, 6)), np.empty(40_000))
    words = r"needs a 30,000 × 30,000 matrix; the limit is 20,000\. Use fewer features or another sketch"
    with pytest.raises(InputError, match=words), Local(1).running() as engine:
        collect(Given(big), [rows], engine)


def test_complex_features_are_the_stacked_real_system():
    """A complex system is a real one of twice the size: [[Re, −Im], [Im, Re]]."""
    Phi, Psi = features(20, "complex")(X), features(20, "complex")(X_NEW)
    A = Phi.conj().T @ Phi + NOISE / SIGNAL * np.eye(20)
    b = Phi.conj().T @ Y
    stacked = np.linalg.solve(np.block([[A.real, -A.imag], [A.imag, A.real]]), np.r_[b.real, b.imag])
    _, mean, _ = posterior(features(20, "complex"))
    np.testing.assert_allclose(mean[:, 0], np.c_[Psi.real, -Psi.imag] @ stacked, rtol=1e-8)


def test_real_features_in_a_complex_type_are_the_same():
    W = features(30, "real").W
    np.testing.assert_allclose(posterior(Fixed(W + 0j))[1:], posterior(Fixed(W))[1:], rtol=1e-9)


def test_features_in_parts_are_the_same():
    full, parts = features(200, "complex"), Fixed(features(200, "complex").W, 3)
    np.testing.assert_allclose(posterior(parts)[1:], posterior(full)[1:], rtol=1e-9)


@pytest.mark.parametrize("D", [40, 600, 1100])
def test_blocks_and_workers_change_nothing(D):
    long = np.random.default_rng(2).standard_normal((700, 6))
    rows = {"X": long, "y": long[:, 0]}
    W = features(D, "complex")
    base = posterior(W, **rows, workers=1)[1:]
    np.testing.assert_array_equal(posterior(W, **rows, workers=4)[1:], base)
    np.testing.assert_allclose(posterior(W, **rows, block_rows=13)[1:], base, rtol=1e-7, atol=1e-9)
