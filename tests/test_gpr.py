"""Gaussian process regression against the textbook: dense matrices, scikit-learn, and itself by other ways."""

import numpy as np
import pytest
from test_cli import one_line

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.results.rows import read_rows
from rfbench.sketches import make_sketch
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.exact import ExactMap, IdentityMap
from rfbench.tasks import Trial, make_task, solve
from rfbench.tasks.exact_gp import GRID, choose_noise, posteriors_of_grid
from rfbench.tasks.gpr import survey
from rfbench.tasks.scores import Scores, kl, negative_log_likelihood

SIGNAL, NOISE = 2.5, 0.3
RNG = np.random.default_rng(0)
X, X_NEW = RNG.standard_normal((90, 6)), RNG.standard_normal((25, 6))
Y = X @ RNG.standard_normal(6) + np.sin(3 * X[:, 0]) + 0.5 * RNG.standard_normal(90)


class Fixed(FeatureMap):
    """Φ(x) = exp(xW): smooth features, real or complex, in two parts if asked."""

    def __init__(self, W, parts=1):
        self.W, self.number = W, parts
        (self.d, self.D), self.dtype = W.shape, W.dtype

    def write(self, X, out):
        out[...] = np.exp(X @ self.W) / np.sqrt(self.D)

    def parts(self):
        total = self.D
        for W in np.array_split(self.W, self.number, axis=1):
            part = Fixed(W)
            part.write = lambda X, out, W=W: np.divide(np.exp(X @ W), np.sqrt(total), out=out)
            yield part


def features(D, kind):
    rng = np.random.default_rng(1)
    W = 0.3 * rng.standard_normal((6, D))
    return Fixed(W + 1j * rng.standard_normal((6, D)) if kind == "complex" else W)


def posterior(features, X=X, y=Y, workers=2, blocks=1, **options):
    with Local(workers, **options).running() as engine:
        pieces = list(zip(np.array_split(X, blocks), np.array_split(y, blocks), strict=True))
        fitted = solve.fit(features, pieces, len(X), SIGNAL, NOISE, engine)
        return (type(fitted), *fitted(X_NEW, engine))


def dense(features):
    """Wacker 2022, Eq. B.14 to B.17, as printed."""
    Phi, Psi = features(X), features(X_NEW)
    inverse = np.linalg.inv(SIGNAL * Phi @ Phi.conj().T + NOISE * np.eye(len(X)))
    K = SIGNAL * Psi @ Phi.conj().T
    return (K @ inverse @ Y).real, (SIGNAL * Psi @ Psi.conj().T - K @ inverse @ K.conj().T).diagonal().real


@pytest.mark.parametrize("rows", [90, 4])  # primal, dual
def test_linear_features_are_the_textbook(rows):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

    kernel = ConstantKernel(SIGNAL) * DotProduct(sigma_0=0, sigma_0_bounds="fixed")
    model = GaussianProcessRegressor(kernel, alpha=NOISE, optimizer=None).fit(X[:rows], Y[:rows])
    wanted, deviation = model.predict(X_NEW, return_std=True)
    kind, mean, variance = posterior(IdentityMap(6, np.float64), X[:rows], Y[:rows])
    assert kind is (solve.Primal if rows == 90 else solve.Dual)
    np.testing.assert_allclose(mean, wanted, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(variance, deviation**2, rtol=1e-8, atol=1e-8)
    _, *exact = posterior(ExactMap(make_kernel("linear", 1), 6, np.float64), X[:rows], Y[:rows])
    np.testing.assert_allclose(exact, (mean, variance), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("D", [1, 7, 89, 90, 91, 1100])
def test_primal_and_dual_are_the_dense_formula(kind, D):
    found, mean, variance = posterior(features(D, kind), blocks=3)
    assert found is (solve.Primal if D <= 90 else solve.Dual)
    wanted_mean, wanted_variance = dense(features(D, kind))
    np.testing.assert_allclose(mean, wanted_mean, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(variance, wanted_variance, rtol=1e-7, atol=1e-7)


def test_complex_features_are_the_stacked_real_system():
    """A complex system is a real one of twice the size: [[Re, −Im], [Im, Re]]."""
    Phi, Psi = features(20, "complex")(X), features(20, "complex")(X_NEW)
    A = Phi.conj().T @ Phi + NOISE / SIGNAL * np.eye(20)
    b = Phi.conj().T @ Y
    stacked = np.linalg.solve(np.block([[A.real, -A.imag], [A.imag, A.real]]), np.r_[b.real, b.imag])
    _, mean, _ = posterior(features(20, "complex"))
    np.testing.assert_allclose(mean, np.c_[Psi.real, -Psi.imag] @ stacked, rtol=1e-8)


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
    monkeypatch.setattr(solve, "NUMBERS", 50 * D)
    np.testing.assert_allclose(posterior(W, **rows, blocks=5)[1:], base, rtol=1e-7, atol=1e-9)


def test_a_matrix_that_cannot_be_factorised_says_its_condition():
    with pytest.raises(np.linalg.LinAlgError, match=r"2 rows cannot be factorised, its condition number is 10\b"):
        solve.factor(np.diag([1.0, -0.1]))


def test_jitter_is_the_least_that_helps_and_is_told():
    assert solve.factor(np.eye(3)).jitter == 0
    v = np.random.default_rng(0).standard_normal((50, 2))
    factor = solve.factor(v @ v.T - 1e-11 * np.eye(50))
    assert 0 < factor.jitter < 1e-7


def test_one_eigendecomposition_is_refitting_for_every_noise():
    kernel = make_kernel("gaussian", 1, length_scale=2.0)
    grid = np.array([1e-3, 0.1, 7.0])
    with Local(1).running() as engine:
        for noise, found in zip(grid, posteriors_of_grid(kernel, X, Y, X_NEW, SIGNAL, grid), strict=True):
            fitted = solve.fit(ExactMap(kernel, 6, np.float64), [(X, Y)], len(X), SIGNAL, noise, engine)
            np.testing.assert_allclose(found, fitted(X_NEW, engine), rtol=1e-8)


def test_the_chosen_noise_is_that_of_the_data():
    rng = np.random.default_rng(3)
    kernel, rows = make_kernel("gaussian", 1, length_scale=2.0), rng.standard_normal((600, 2))
    y = np.sin(rows[:, 0]) + 0.25 * rng.standard_normal(600)
    chosen = choose_noise(kernel, rows, y, float(y.var()), GRID, np.random.default_rng(0))
    assert chosen == pytest.approx(0.25**2, rel=0.6)  # the grid's steps are factors of two


def test_scores_are_their_formulas():
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    y, mean, variance = rng.standard_normal(50), rng.standard_normal(50), rng.uniform(0.5, 2, 50)
    scores = Scores()
    for part in (slice(0, 20), slice(20, 50)):
        scores.add(y[part], mean[part], variance[part])
    assert scores.mnll == pytest.approx(-norm.logpdf(y, mean, np.sqrt(variance)).mean())
    assert scores.nmse == pytest.approx(np.mean((y - mean) ** 2) / y.var())
    # E_approx[log approx − log exact], by quadrature
    a, b = (np.array([0.3]), np.array([0.5])), (np.array([-0.2]), np.array([0.8]))
    t, w = np.polynomial.hermite_e.hermegauss(20)
    f = a[0] + np.sqrt(a[1]) * t
    wanted = w @ (negative_log_likelihood(f, *b) - negative_log_likelihood(f, *a)) / w.sum()
    assert kl(*a, *b) == pytest.approx(wanted)
    with pytest.raises(ArithmeticError, match="not above zero"):
        kl(mean, variance, mean, 0 * variance)


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((500, 4))
    y = 30 + np.sin(rows[:, 0]) * rows[:, 1] + 0.1 * rng.standard_normal(500)
    return prepared_split(Dataset("made", InMemory(rows), InMemory(y), None), Preparation(()), 0, np.float64)


def run(split, name, D, workers=2, dtype=np.float64, **options):
    task, kernel = make_task("gpr", **options), make_kernel("gaussian", 1, length_scale=2.0)
    sketch = make_sketch(name, kernel)

    def draw(k):
        return sketch.sample(4, D, np.random.default_rng([1, k]), dtype)

    with Local(workers).running() as engine:
        reference = task.reference(split, kernel, 0, engine)
        trial = Trial(split, kernel, sketch, None, D, 0, draw, engine)
        return reference, {m.metric: m.value for m in task.measure(trial, reference)}


@pytest.mark.parametrize("rows", [2000, 450, 100])
def test_the_exact_sketch_does_not_diverge(made, rows):
    _, found = run(made, "exact", 0, reference_rows=rows)
    assert abs(found["kl"]) < 1e-12
    assert abs(run(made, "exact", 0, reference_rows=rows, dtype=np.float32)[1]["kl"]) < 1e-5


@pytest.mark.parametrize("name", ["rff", "complex_rff"])
def test_divergence_falls_as_features_grow(made, name):
    values = [run(made, name, D, reference_rows=300)[1] for D in (16, 128, 1024)]
    kls = [value["kl"] for value in values]
    assert kls[0] > 3 * kls[1] > 9 * kls[2] > 0
    assert values[2]["rmse"] < values[0]["rmse"]
    assert values[2]["mnll"] < values[0]["mnll"]


def test_measures_are_the_dense_formulas(made):
    reference, found = run(made, "rff", 64, noise=0.05, signal=2.0)
    (rows, y), (new, y_new) = (next(iter(part.blocks())) for part in (made.train, made.test))
    assert reference.shift == pytest.approx(y.mean())
    K = 2 * np.exp(-((rows[:, None] - rows) ** 2).sum(-1) / 8) + 0.05 * np.eye(len(rows))
    cross = 2 * np.exp(-((new[:, None] - rows) ** 2).sum(-1) / 8)
    np.testing.assert_allclose(reference.mean, cross @ np.linalg.solve(K, y - y.mean()), rtol=1e-8)
    np.testing.assert_allclose(reference.variance, 2 - (cross @ np.linalg.inv(K) * cross).sum(1), rtol=1e-6)

    sketch = make_sketch("rff", make_kernel("gaussian", 1, length_scale=2.0))
    draw = sketch.sample(4, 64, np.random.default_rng([1, 0]), np.float64)
    inverse = np.linalg.inv(draw(rows).T @ draw(rows) + 0.025 * np.eye(64))
    mean = draw(new) @ inverse @ draw(rows).T @ (y - y.mean())
    variance = 0.05 * (draw(new) @ inverse * draw(new)).sum(1)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((mean + y.mean() - y_new) ** 2)))
    assert found["mnll"] == pytest.approx(negative_log_likelihood(y_new, mean + y.mean(), variance + 0.05).mean())
    assert found["kl"] == pytest.approx(kl(mean, variance, reference.mean, reference.variance).mean())
    assert found["noise_variance"] == 0.05


def test_workers_change_no_measure(made):
    one, four = (run(made, "complex_rff", 600, workers=workers, reference_rows=200)[1] for workers in (1, 4))
    for key in ("fit_seconds", "predict_seconds"):
        one.pop(key), four.pop(key)
    assert one == four


def test_a_survey_is_a_draw_of_rows_with_their_labels(monkeypatch):
    monkeypatch.setattr("rfbench.datasets.splits.BLOCK_BYTES", 8 * 2 * 7)
    rows = np.c_[np.arange(100.0), np.ones(100)]
    split = prepared_split(Dataset("made", InMemory(rows), InMemory(3 * rows[:, 0]), None), Preparation(()), 0, float)
    kept, y, labels = survey(split.train, 40, np.random.default_rng(0))
    assert len(np.unique(kept[:, 0])) == 40
    np.testing.assert_array_equal(y, 3 * kept[:, 0])
    everything = np.concatenate([y for _, y in split.train.blocks()])
    assert (labels.n, labels.mean) == (90, pytest.approx(everything.mean()))
    assert labels.squares / labels.n == pytest.approx(everything.var())


def test_the_command(rfbench, tmp_path):
    done = rfbench("task=gpr", "dataset=diabetes", "features=[1d,4d]", "seeds=2")
    assert done.returncode == 0, done.stderr
    for word in ("rmse", "nmse", "mnll", "kl", "noise_variance", "fit [s]", "predict [s]"):
        assert word in done.stdout
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    rows = read_rows(path)
    assert len(rows) == 2 * 2 * 7
    assert {row["status"] for row in rows} == {"ok"}


def test_mistakes_are_one_line(rfbench):
    one_line(rfbench("task=gpr", "dataset=digits"), "dataset 'digits' has classes; use dataset=diabetes")
    one_line(rfbench("task=gpr", "task.noise=0"), "task.noise must be auto or a number above 0; 0 was given")
    one_line(rfbench("task=gpr", "task.signal=much"), "task.signal must be label_variance or a number above 0")
