"""Stochastic variational classification: gradients by finite differences, the bound against quadrature, the command."""

import numpy as np
import pytest
from support.answers import one_line
from support.trial import make_trial, measured

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.results.rows import read_rows
from rfbench.results.series import read_series
from rfbench.sketches import make_sketch
from rfbench.tasks import make_task
from rfbench.tasks.gp import svi
from rfbench.tasks.gp.variational import (
    Adam,
    Weights,
    affine_map,
    bound_gradient,
    likelihood,
    log_softmax,
    start,
)

D, C, DEGREE, DRAWS = 24, 3, 4, 6


def problem(name, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 5)) / 2, rng.integers(0, C, 40)
    features = make_sketch(name, make_kernel("polynomial", DEGREE, gamma=0.7, bias=0.4)).sample(5, D, rng, np.float64)
    weights = Weights(rng.standard_normal((D, C)), rng.standard_normal((D, C)) - 1, np.log([0.7, 0.4]))
    return features, weights, X, y, rng.standard_normal((DRAWS, 40, C))


def bound(features, weights, X, y, noise, scale):
    """Equation (1) with the draws given, row by row and class by class."""
    Phi = affine_map(features, weights)(X)
    total = 0.0
    for i, phi in enumerate(Phi):
        mean = phi @ weights.m
        deviation = np.sqrt(phi**2 @ np.exp(2 * weights.log_s))
        for e in noise[:, i]:
            f = mean + deviation * e
            total += (f[y[i]] - np.log(np.exp(f).sum())) / len(noise)
    s2 = np.exp(2 * weights.log_s)
    return scale * total - 0.5 * np.sum(s2 + weights.m**2 - 1 - np.log(s2))


@pytest.mark.parametrize("name", ["rademacher", "ctr_tensorsrht", "stacked_tensorsrht", "tensorsketch"])
def test_gradients_are_finite_differences(name):
    features, weights, X, y, noise = problem(name)
    halves = [
        likelihood(affine_map(features, weights), DEGREE, weights, X[rows], y[rows], noise[:, rows])
        for rows in (slice(0, 15), slice(15, 40))
    ]
    gradient = bound_gradient(halves, weights, 2.5)
    rng, h = np.random.default_rng(1), 1e-5
    for w, g in zip(weights.arrays(), gradient.arrays(), strict=True):
        for _ in range(6):
            direction = rng.standard_normal(w.shape)
            values = []
            for sign in (1, -1):
                w += sign * h * direction
                values.append(bound(features, weights, X, y, noise, 2.5))
                w -= sign * h * direction
            assert np.vdot(g, direction) == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-5, abs=1e-6)


def test_the_likelihood_is_an_expectation():
    """Two classes: E log σ(f₁ − f₀) by quadrature."""
    rng = np.random.default_rng(0)
    mu, v = np.array([[0.2, 1.0]]), np.array([[0.7, 1.8]])
    noise = rng.standard_normal((400_000, 1, 2))
    value, d_mu, d_v = log_softmax(mu, v, np.array([1]), noise)
    t, w = np.polynomial.hermite_e.hermegauss(60)

    def exact(mu, v):
        return w @ -np.log1p(np.exp(-(mu[0, 1] - mu[0, 0] + np.sqrt(v.sum()) * t))) / w.sum()

    assert value[0] == pytest.approx(exact(mu, v), abs=0.004)
    step = np.array([[0.0, 1e-4]])
    assert d_mu[0, 1] == pytest.approx((exact(mu + step, v) - exact(mu - step, v)) / 2e-4, abs=0.004)
    assert d_v[0, 1] == pytest.approx((exact(mu, v + step) - exact(mu, v - step)) / 2e-4, abs=0.004)


def test_every_batch_stands_for_all_rows_and_has_its_own_draws(monkeypatch):
    """The last batch of 250 rows in batches of 100 has 50 rows, each of which stands for five."""
    rng = np.random.default_rng(0)
    data = Dataset("made", InMemory(rng.standard_normal((260, 5))), InMemory(rng.integers(0, C, 260)), C, 250)
    split = prepared_split(data, Preparation(()), 0, np.float64)
    scales, noises, batches = [], [], []

    def recorded_likelihood(features, degree, weights, X, y, noise):
        noises.append(noise[:DRAWS, :50])
        batches.append(len(X))
        return likelihood(features, degree, weights, X, y, noise)

    def recorded_gradient(parts, weights, scale):
        scales.append(scale)
        return bound_gradient(parts, weights, scale)

    monkeypatch.setattr(svi, "likelihood", recorded_likelihood)
    monkeypatch.setattr(svi, "bound_gradient", recorded_gradient)
    kernel = make_kernel("polynomial", DEGREE, gamma=0.7, bias=0.4)
    task = make_task("gpc_svi", epochs=2, batch=100, draws=DRAWS, samples=10)
    with Local(1).running() as engine:
        trial = make_trial(split, kernel, make_sketch("rademacher", kernel), 16, engine)
        measured(task, trial, task.reference(split, kernel, 0, engine))
    assert batches == [100, 100, 50] * 2
    assert scales == [2.5, 2.5, 5] * 2
    for i, one in enumerate(noises):
        for other in noises[:i]:
            assert np.abs(one - other).min() > 0


def test_adam_is_the_algorithm_of_its_paper():
    weights, ascent = start(1, 1, 1.0, 1.0, np.float64), Adam(0.1)
    rng = np.random.default_rng(0)
    m = v = 0.0
    wanted = weights.m.item()
    for t in range(1, 6):
        g = rng.standard_normal()
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        wanted += 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        ascent.step(weights, Weights(np.full((1, 1), g), np.zeros((1, 1)), np.zeros(2)))
    assert weights.m.item() == pytest.approx(wanted)


def results(tmp_path):
    rows = [row for path in tmp_path.glob("outputs/*-gpc_svi/*/results.csv") for row in read_rows(path)]
    return {row["metric"]: float(row["value"]) for row in rows}


def epochs(tmp_path, name):
    """Epoch → value."""
    (path,) = tmp_path.rglob("series.csv")
    return {float(row["x"]): float(row["y"]) for row in read_series(path.parent) if row["name"] == name}


def test_the_command(rfbench, tmp_path):
    words = ("task=gpc_svi", "features=128", "seeds=1", "task.batch=100", "task.epochs=12", "task.rate=0.003")
    one, two = (rfbench(*words, f"engine.workers={workers}", cwd=_made(tmp_path / str(workers))) for workers in (1, 2))
    assert one.returncode == 0, one.stderr
    found, again = results(tmp_path / "1"), results(tmp_path / "2")
    errors, times = (epochs(tmp_path / "1", name) for name in ("error", "seconds"))
    assert list(errors) == list(times) == list(range(1, 13))
    assert found["error"] == errors[12] < 0.15 < errors[1]
    assert list(times.values()) == sorted(times.values())
    assert times[12] == found["fit_seconds"]
    assert errors == epochs(tmp_path / "2", "error")
    assert found["gamma"] != 1 != found["bias"]
    assert two.returncode == 0
    assert {k: v for k, v in found.items() if "seconds" not in k} == {
        k: v for k, v in again.items() if "seconds" not in k
    }
    assert next((tmp_path / "1").glob("outputs/*/*/figure.png")).exists()


def _made(path):
    path.mkdir()
    return path


def test_mistakes_are_one_line(rfbench):
    words = "learns γ and ν of the polynomial kernel"
    one_line(rfbench("task=gpc_svi", "sketch=rff"), words)
    one_line(rfbench("task=gpc_svi", "kernel.bias=0"), words)
    one_line(rfbench("task=gpc_svi", "sketch=hierarchical"), words)
    one_line(rfbench("task=gpc_svi", "sketch=complex_rademacher"), "use the ctr_ form of this sketch")
    one_line(rfbench("task=gpc_svi", "task.batch=0"), "task.batch must be at least 1")
    one_line(rfbench("task=gpc_svi", "dataset=diabetes"), "task=gpc_svi needs classes", "use task=gpr")
