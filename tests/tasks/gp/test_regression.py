"""Gaussian process regression: measures against dense formulas, the choice of noise, the command."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, spearmanr
from support.answers import one_line
from support.gp import run, without_times
from support.trial import drawn

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.results.rows import read_rows
from rfbench.seeds import rng_for
from rfbench.sketches import make_sketch
from rfbench.tasks import make_task
from rfbench.tasks.base import Measure
from rfbench.tasks.baseline import BASELINES, baseline
from rfbench.tasks.gp.posterior import Model
from rfbench.tasks.gp.process import exact_process
from rfbench.tasks.gp.regression import GRID, least_loss
from rfbench.tasks.rows import Centred, Held
from rfbench.tasks.scores import RegressionScores, kl, negative_log_likelihood


def dataset(rows, y):
    return prepared_split(Dataset("made", InMemory(rows), InMemory(y), None), Preparation(()), 0, np.float64)


@pytest.fixture(scope="module")
def split():
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((500, 4))
    return dataset(rows, 30 + np.sin(rows[:, 0]) * rows[:, 1] + 0.1 * rng.standard_normal(500))


def test_scores_are_their_formulas():
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    y, mean, variance = rng.standard_normal(50), rng.standard_normal(50), rng.uniform(0.5, 2, 50)
    scores = RegressionScores()
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
    assert kl(mean, 0 * variance, mean, variance).min() == np.inf  # an estimate without features
    for pair in ((variance, 0 * variance), (-variance, variance)):
        with pytest.raises(ArithmeticError, match="not above zero"):
            kl(mean, pair[0], mean, pair[1])


def test_where_features_vanish_only_the_divergence_is_infinite():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 4))
    rows[::3] *= 50  # exp(-|x|^2/2), with which Maclaurin features are multiplied, is 0 there
    split = dataset(rows, rng.standard_normal(200))
    kernel = make_kernel("gaussian", 1, length_scale=1.0)
    _, found = run("gpr", split, "random_maclaurin", 32, kernel=kernel, noise=0.1)
    assert found["kl"] == np.inf
    assert np.isfinite(found["mnll"])


def test_the_grid_is_refitting_for_every_noise(split):
    """The one eigendecomposition picks what a new fit for each noise would, on the same rows."""
    kernel = make_kernel("gaussian", 1, length_scale=2.0)
    draw = baseline(kernel, 4, 0, np.float64, "")
    features = draw.features
    rest, held_out = split.train.divided(0.1, rng_for(7, "gpr", "validation"))
    (X, y), (X_out, y_out) = (next(iter(part.blocks())) for part in (rest, held_out))
    assert len(X) == 405
    assert len(X_out) == 45
    Phi, Psi = features(X), features(X_out)
    losses = []
    for noise in GRID:
        inverse = np.linalg.inv(Phi.T @ Phi + noise / 2.5 * np.eye(features.D))
        variance = noise * np.einsum("ij,jk,ik->i", Psi, inverse, Psi)
        losses.append(negative_log_likelihood(y_out - 30, Psi @ inverse @ Phi.T @ (y - 30), variance + noise).mean())
    with Local(2).running() as engine:
        assert least_loss(draw, Centred(split.train, 30.0), 2.5, GRID, 7, engine) == GRID[np.argmin(losses)]


def test_held_out_rows_are_not_trained_on():
    """Noise with more features than rows: a fit that had seen the held-out rows would predict them best."""
    rng = np.random.default_rng(0)
    split = dataset(rng.standard_normal((60, 4)), rng.standard_normal(60))
    draw = baseline(make_kernel("gaussian", 1, length_scale=0.5), 4, 0, np.float64, "", (100, 100))
    rest, held_out = split.train.divided(0.1, rng_for(7, "gpr", "validation"))
    X_out, y_out = next(iter(held_out.blocks()))

    def best(part):
        X, y = next(iter(part.blocks()))
        Phi, Psi = draw.features(X), draw.features(X_out)
        losses = []
        for noise in GRID:
            inverse = np.linalg.inv(Phi.T @ Phi + noise * np.eye(100))
            variance = noise * (Psi @ inverse * Psi).sum(1)
            losses.append(negative_log_likelihood(y_out, Psi @ inverse @ Phi.T @ y, variance + noise).mean())
        return GRID[np.argmin(losses)]

    with Local(2).running() as engine:
        found = least_loss(draw, Centred(split.train, 0.0), 1.0, GRID, 7, engine)
    assert found == best(rest) > 10 * best(split.train)


def test_what_is_cached_depends_on_the_signal_and_the_test_rows(split, monkeypatch, tmp_path):
    """In one cache, two signals and two sets of test rows give what each gives in an empty cache."""
    kernel, (X, y) = make_kernel("gaussian", 1, length_scale=2.0), next(iter(split.train.blocks()))
    new = next(iter(split.test.blocks()))[0]

    def process(signal, X_test, cache):
        monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / cache))
        model = Model(np.array([[4.0]]), np.ones((1, 1)), signal)
        with Local(1).running() as engine:
            chosen = Measure("noise_variance", 0.25)
            found = exact_process(kernel, [Held(X, y - 30)], X_test, model, np.zeros(1), chosen, engine)
        return found.mean

    base = process(1.0, new[:20], "shared")
    for number, other in enumerate([(0.01, new[:20]), (1.0, new[20:40])]):
        found = process(*other, "shared")
        assert np.abs(found - base).max() > 0.01
        np.testing.assert_array_equal(found, process(*other, f"empty {number}"))


def test_the_cached_noise_depends_on_the_signal(split, monkeypatch, tmp_path):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    few, many = (run("gpr", split, "rff", 16, signal=signal)[1]["noise_variance"] for signal in (1e-4, 10.0))
    assert few > 2 * many
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "empty"))
    assert run("gpr", split, "rff", 16, signal=10.0)[1]["noise_variance"] == many


def test_the_cached_noise_depends_on_rows_that_the_exact_process_has_not(monkeypatch, tmp_path):
    """A file that was corrected: the same name, targets and reference rows, and other rows beside them."""
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    rng, found = np.random.default_rng(3), []
    X = rng.standard_normal((300, 2))
    y, corrected = np.sin(X[:, 0]), rng.standard_normal((300, 2))
    reference = dataset(X, y).train.part.draw(2, rng_for(0, "gpr", "train"))
    corrected[reference] = X[reference]
    for digest, rows in (("before", X), ("after", corrected)):
        made = Dataset("made", InMemory(rows), InMemory(y), None, digest=digest)
        split = prepared_split(made, Preparation(()), 0, np.float64)
        found.append(run("gpr", split, "rff", 16, reference_rows=2)[1]["noise_variance"])
    assert found[1] > 10 * found[0]


def test_the_chosen_noise_is_that_of_the_data():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((900, 2))
    split = dataset(rows, np.sin(rows[:, 0]) + 0.25 * rng.standard_normal(900))
    _, found = run("gpr", split, "rff", 64)
    assert found["noise_variance"] == pytest.approx(0.25**2, rel=0.6)  # the grid's steps are factors of two


def test_every_kernel_has_a_baseline_of_its_own(digits):
    for name, sketch in BASELINES.items():
        kernel = make_kernel(name, 3)
        features = baseline(kernel, 64, 0, np.float64, "").features
        assert type(features) is type(make_sketch(sketch, kernel).sample(64, 320, np.random.default_rng(0), np.float64))
    narrow = make_kernel("polynomial_sphere", 3, a=1.5)
    assert [baseline(narrow, d, 0, np.float64, "").D for d in (2, 13, 300)] == [64, 80, 1024]  # five to a padded column
    assert baseline(narrow, 64, 0, np.float64, "").D == 320
    with pytest.raises(ValueError, match=r"no baseline sketch that could choose task\.noise; give a number"):
        baseline(type("Other", (), {"name": "other"})(), 64, 0, np.float64, "task.noise")


@pytest.mark.parametrize("rows", [2000, 450, 100])
def test_the_exact_sketch_does_not_diverge(split, rows):
    _, found = run("gpr", split, "exact", 0, reference_rows=rows)
    assert abs(found["kl"]) < 1e-12
    assert found["rel_frobenius"] < 1e-12
    assert abs(run("gpr", split, "exact", 0, reference_rows=rows, dtype=np.float32)[1]["kl"]) < 1e-5


@pytest.mark.parametrize("name", ["rff", "complex_rff"])
def test_divergence_falls_as_features_grow(split, name):
    values = [run("gpr", split, name, D, reference_rows=300)[1] for D in (16, 128, 1024)]
    kls = [value["kl"] for value in values]
    assert kls[0] > 3 * kls[1] > 9 * kls[2] > 0
    for metric in ("rmse", "mnll", "rel_frobenius"):
        assert values[2][metric] < values[0][metric]
    assert ("rel_frobenius_complex" in values[0]) == (name == "complex_rff")


def test_measures_are_the_dense_formulas(split):
    reference, found = run("gpr", split, "rff", 64, noise=0.05, signal=2.0)
    (rows, y), (new, y_new) = (next(iter(part.blocks())) for part in (split.train, split.test))
    assert reference.shift == pytest.approx(y.mean())
    K = 2 * np.exp(-((rows[:, None] - rows) ** 2).sum(-1) / 8) + 0.05 * np.eye(len(rows))
    cross = 2 * np.exp(-((new[:, None] - rows) ** 2).sum(-1) / 8)
    exact = cross @ np.linalg.solve(K, y - y.mean()), 2 - (cross @ np.linalg.inv(K) * cross).sum(1)
    np.testing.assert_allclose(reference.mean[:, 0], exact[0], rtol=1e-8)
    np.testing.assert_allclose(reference.variance[:, 0], exact[1], rtol=1e-6)

    sketch = make_sketch("rff", make_kernel("gaussian", 1, length_scale=2.0))
    draw = drawn(sketch, 4, 64)
    inverse = np.linalg.inv(draw(rows).T @ draw(rows) + 0.025 * np.eye(64))
    mean = draw(new) @ inverse @ draw(rows).T @ (y - y.mean())
    variance = 0.05 * (draw(new) @ inverse * draw(new)).sum(1)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((mean + y.mean() - y_new) ** 2)))
    assert found["mnll"] == pytest.approx(negative_log_likelihood(y_new, mean + y.mean(), variance + 0.05).mean())
    assert found["kl"] == pytest.approx(kl(mean, variance, *exact).mean())
    law = multivariate_normal(cov=2 * draw(rows) @ draw(rows).T + 0.05 * np.eye(len(rows)))
    assert found["nmll"] == pytest.approx(-law.logpdf(y - y.mean()))
    assert found["mae"] == pytest.approx(np.abs(mean + y.mean() - y_new).mean())
    assert found["spearman"] == pytest.approx(spearmanr(mean, y_new).statistic)
    kernel = np.exp(-((new[:, None] - new) ** 2).sum(-1) / 8)
    error = draw(new) @ draw(new).T - kernel
    assert found["rel_frobenius"] == pytest.approx(np.linalg.norm(error) / np.linalg.norm(kernel))
    assert found["noise_variance"] == pytest.approx(0.05)
    assert found["fit_seconds"] >= found["features_seconds"] + found["gram_seconds"] + found["factor_seconds"] > 0


def test_workers_change_no_measure(split):
    one, four = (
        without_times(run("gpr", split, "complex_rff", 600, workers=workers, reference_rows=200)[1])
        for workers in (1, 4)
    )
    assert one == four


def test_the_command(rfbench, tmp_path):
    done = rfbench("task=gpr", "dataset=diabetes", "features=[1d,4d]", "seeds=2")
    assert done.returncode == 0, done.stderr
    for word in ("rmse", "nmse", "mnll", "kl", "rel_frobenius", "noise_variance", "fit [s]", "gram [s]", "predict [s]"):
        assert word in done.stdout
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    rows = read_rows(path)
    assert len(rows) == 2 * 2 * 14
    assert {row["status"] for row in rows} == {"ok"}


def test_a_failed_factorisation_is_a_row_with_its_condition(rfbench, tmp_path):
    done = rfbench("task=gpr", "dataset=diabetes", "sketch=exact", "seeds=1", "task.noise=1e-6")
    assert done.returncode == 1
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    (row,) = read_rows(path)
    assert row["status"] == "failed"
    assert "matrix: its condition number is" in row["message"]


def test_mistakes_are_one_line(rfbench):
    one_line(rfbench("task=gpr", "dataset=digits"), "dataset 'digits' has classes; use task=gpc")
    one_line(rfbench("task=gpr", "task.noise=0"), "task.noise must be auto, likelihood or a number above 0; 0 was")
    one_line(rfbench("task=gpr", "task.signal=much"), "task.signal must be label_variance, likelihood or a number")
    one_line(rfbench("kernel=gaussian", "sketch=rff", "kernel.length_scale=likelihood"), "use task=gpr, or median")
    one_line(rfbench("task=gpr", "dataset=diabetes", "task.signal=likelihood"), "need a kernel with a length scale")
    with pytest.raises(ValueError, match="reference_rows must be from 2"):
        make_task("gpr", reference_rows=1)


def test_processes_are_compared_on_a_grid_over_the_training_rows():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, [2, 5], (200, 2))
    split = dataset(rows, np.sin(rows.sum(1)))
    train = next(iter(split.train.blocks()))[0]
    reference, found = run("gpr", split, "rff", 32, noise=0.1, grid=4)
    first, second = (np.linspace(column.min(), column.max(), 4) for column in train.T)
    wanted = [(a, b) for a in first for b in second]
    np.testing.assert_allclose(reference.X_test, wanted)
    without = run("gpr", split, "rff", 32, noise=0.1)[1]
    assert found["rmse"] == without["rmse"]  # of test rows in both
    assert found["kl"] != without["kl"]


def test_a_grid_of_many_columns_is_refused(rfbench):
    done = rfbench("task=gpr", "dataset=diabetes", "sketch=rff", "features=8", "seeds=1", "task.grid=10")
    one_line(done, "10 was given for 10 columns")
