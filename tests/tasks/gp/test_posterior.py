"""The solvers of Gaussian processes against the textbook: dense matrices, scikit-learn, and one against the other."""

import numpy as np
import pytest
from support.gp import NOISE, REGRESSION, SIGNAL, X_NEW, Fixed, X, Y, features, posterior

from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.linalg import cholesky, gram, shelf
from rfbench.linalg.shelf import Shelf
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.sketches import make_sketch
from rfbench.sketches.exact import ExactMap, IdentityMap
from rfbench.tasks.gp.dual import Dual
from rfbench.tasks.gp.posterior import Model
from rfbench.tasks.gp.primal import Primal


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
    assert kind is (Primal if rows == 90 else Dual)
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
    assert (primal, dual) == (Primal, Dual)
    np.testing.assert_allclose(approximate, exact, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("D", [1, 7, 89, 90, 91, 1100])
def test_primal_and_dual_are_the_dense_formula(kind, D):
    found, mean, variance = posterior(features(D, kind), blocks=3)
    assert found is (Primal if D <= 90 else Dual)
    wanted_mean, wanted_variance = dense(features(D, kind))
    np.testing.assert_allclose(mean[:, 0], wanted_mean, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(variance[:, 0], wanted_variance, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("D", [40, 120])  # primal, dual
@pytest.mark.parametrize("on_disk", [False, True])
def test_all_outputs_of_one_pass_are_each_of_them_alone(kind, D, on_disk, monkeypatch):
    """Two values in a row of W, as in classification, against one dense system for each output."""
    monkeypatch.setattr(shelf, "MEMORY", 0 if on_disk else 1 << 30)
    rng = np.random.default_rng(3)
    W = np.array([[3.0, 0.7, 0.7], [0.2, 4.0, 0.2], [1.1, 1.1, 0.5]])
    model, group = Model(W, rng.standard_normal((3, 3)), SIGNAL), rng.integers(0, 3, len(X))
    _, mean, variance = posterior(features(D, kind), model=model, group=group, blocks=2)
    for c in range(3):
        wanted_mean, wanted_variance = dense(features(D, kind), c, model, group)
        np.testing.assert_allclose(mean[:, c], wanted_mean, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(variance[:, c], wanted_variance, rtol=1e-7, atol=1e-7)


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
    whole, parts = features(200, "complex"), Fixed(features(200, "complex").W, 3)
    np.testing.assert_allclose(posterior(parts)[1:], posterior(whole)[1:], rtol=1e-9)


@pytest.mark.parametrize("D", [40, 600, 1100])
def test_blocks_and_workers_change_nothing(D, monkeypatch):
    long = np.random.default_rng(2).standard_normal((700, 6))
    rows = {"X": long, "y": long[:, 0]}
    W = features(D, "complex")
    base = posterior(W, **rows, workers=1)[1:]
    np.testing.assert_array_equal(posterior(W, **rows, workers=4)[1:], base)
    np.testing.assert_allclose(posterior(W, **rows, block_rows=13)[1:], base, rtol=1e-7, atol=1e-9)
    monkeypatch.setattr(gram, "ROWS", 50)
    np.testing.assert_allclose(posterior(W, **rows, blocks=5)[1:], base, rtol=1e-7, atol=1e-9)


def test_singles_are_summed_in_double():
    """40 blocks of float32 features: the sums lose no more than a single block does."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40 * 512, 3)) + 1
    single = IdentityMap(3, np.float32)
    with Local(2).running() as engine:
        pieces = [(rows.astype(np.float32), rows[:, 0])]
        G, r = gram.gram(single, pieces, engine, gram.Stopwatch())
    exact = rows.astype(np.float32).astype(float)
    np.testing.assert_allclose(np.triu(G), np.triu(exact.T @ exact), rtol=1e-6)
    np.testing.assert_allclose(r, exact.T @ rows[:, 0], rtol=1e-12)


@pytest.mark.parametrize("n", [1, 511, 512, 513, 1300])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_the_factor_is_lapacks(n, kind):
    rng = np.random.default_rng(n)
    V = rng.standard_normal((n + 5, n)) + (1j * rng.standard_normal((n + 5, n)) if kind == "complex" else 0)
    A, b = V.conj().T @ V + 0.1 * np.eye(n), V[0]
    with Local(3).running() as engine:
        U, jitter = cholesky.factor(lambda: np.triu(A), engine)
    assert jitter == 0
    np.testing.assert_allclose(np.triu(U), np.linalg.cholesky(A).conj().T, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(cholesky.solve_factored(U, b), np.linalg.solve(A, b), rtol=1e-6, atol=1e-9)
    wanted = np.einsum("ij,ij->i", V[:3], np.linalg.solve(A, V[:3].conj().T).T).real
    np.testing.assert_allclose(cholesky.Norms(U)(V[:3]), wanted, rtol=1e-6)


def test_a_matrix_that_cannot_be_factorised_says_its_condition():
    with (
        pytest.raises(np.linalg.LinAlgError, match=r"2 rows cannot be factorised, its condition number is 10\b"),
        Local(1).running() as engine,
    ):
        cholesky.factor(lambda: np.diag([1.0, -0.1]), engine)


def test_jitter_is_the_least_that_helps_and_is_told():
    v = np.random.default_rng(0).standard_normal((50, 2))
    with Local(1).running() as engine:
        assert cholesky.factor(lambda: np.eye(3), engine)[1] == 0
        assert 0 < cholesky.factor(lambda: v @ v.T - 1e-11 * np.eye(50), engine)[1] < 1e-7


@pytest.mark.parametrize("memory", [0, 1 << 23])
def test_a_shelf_gives_back_what_was_put(memory, monkeypatch):
    monkeypatch.setattr(shelf, "MEMORY", memory)
    held = Shelf(3, 700, np.float32)
    matrices = np.triu(np.random.default_rng(0).standard_normal((3, 700, 700)))
    with Local(2).running() as engine:
        for place in (2, 0, 1, 0):
            held.put(place, matrices[place], engine)
    assert (held.file is None) == (memory > 0)
    for place in range(3):
        np.testing.assert_array_equal(np.triu(held.get(place)), matrices[place].astype(np.float32))


def test_a_gram_matrix_of_few_features_has_no_negative_eigenvalue():
    """Of single precision: features of rows that are nearly alike, as those of the Naval data are."""
    X = 1 + 0.01 * np.random.default_rng(0).standard_normal((5000, 4)).astype(np.float32)
    drawn = make_sketch("rademacher", make_kernel("polynomial", 3)).sample(4, 64, np.random.default_rng(1))
    with Local(2).running() as engine:
        G, _ = gram.gram(drawn, [(X, np.ones(len(X)))], engine, Stopwatch())
    Phi = drawn(X)
    for matrix, least in ((G, -1e-13), (Phi.T @ Phi, -1e-10)):
        values = np.linalg.eigvalsh(matrix.astype(float), "U")
        assert (values[0] > least * values[-1]) == (matrix is G)
