"""Gaussian process classification: the transformed labels, one pass for all classes, the probabilities, the command."""

import numpy as np
import pytest
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
from rfbench.tasks.baseline import baseline
from rfbench.tasks.gp.classification import GPC, dirichlet, log_probabilities
from rfbench.tasks.scores import ClassScores, kl


def dataset(classes, n=400):
    rng = np.random.default_rng(5)
    y = rng.choice(classes, n, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum())
    rows = 1.5 * rng.standard_normal((classes, 4))[y] + rng.standard_normal((n, 4))
    return prepared_split(Dataset("made", InMemory(rows), InMemory(y), classes), Preparation(()), 0, np.float64)


@pytest.fixture(scope="module", params=[2, 3], ids=["2 classes", "3 classes"])
def split(request):
    return dataset(request.param)


def transformed(y, classes, alpha):
    """Labels and noises of every row and class, as Milios et al. 2018 print them."""
    one_hot = np.eye(classes)[y]
    noise = np.log(1 / (one_hot + alpha) + 1)
    return np.log(one_hot + alpha) - noise / 2, noise


def test_labels_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    y = rng.choice(4, 300, p=[0.1, 0.2, 0.3, 0.4])
    model, shift = dirichlet(np.bincount(y, minlength=4), 0.01, "label_variance")
    labels, noise = transformed(y, 4, 0.01)
    np.testing.assert_allclose(model.T[:, y].T + shift, labels)
    np.testing.assert_allclose(1 / model.W[:, y].T, noise)
    prior = np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(shift - prior, (labels - prior).mean())
    assert model.signal == pytest.approx(np.mean((labels - shift) ** 2))
    assert dirichlet(np.bincount(y), 0.01, 3.0)[0].signal == 3.0


def test_the_published_signal_of_mnist():
    counts = np.array([5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949])
    assert dirichlet(counts, 0.001, "label_variance")[0].signal == pytest.approx(9.03, abs=0.01)


def test_a_class_without_rows_does_no_harm():
    model, shift = dirichlet(np.array([10, 0, 5]), 0.01, "label_variance")
    assert np.isfinite(model.T).all()
    assert np.isfinite(shift).all()


def test_measures_are_a_direct_fit_of_every_class(split):
    classes = split.train.part.dataset.classes
    reference, found = run("gpc", split, "rff", 32, alpha=0.02, samples=4000)
    (rows, y), (new, y_new) = (next(iter(part.blocks())) for part in (split.train, split.test))
    labels, noise = transformed(y, classes, 0.02)
    centred = labels - reference.shift
    signal = np.mean(centred**2)
    sketch = make_sketch("rff", make_kernel("gaussian", 1, length_scale=2.0))
    draw = drawn(sketch, 4, 32)
    Phi, Psi = draw(rows), draw(new)
    K, cross = (np.exp(-((a[:, None] - rows) ** 2).sum(-1) / 8) for a in (rows, new))
    mean, variance, divergences = np.empty((len(new), classes)), np.empty((len(new), classes)), []
    for c in range(classes):
        A = np.linalg.inv(Phi.T / noise[:, c] @ Phi + np.eye(32) / signal)
        mean[:, c], variance[:, c] = Psi @ A @ (Phi.T @ (centred[:, c] / noise[:, c])), (Psi @ A * Psi).sum(1)
        B = np.linalg.inv(signal * K + np.diag(noise[:, c]))
        exact = signal * cross @ B @ centred[:, c], signal - signal**2 * (cross @ B * cross).sum(1)
        np.testing.assert_allclose(reference.mean[:, c], exact[0], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(reference.variance[:, c], exact[1], rtol=1e-6)
        divergences.append(kl(mean[:, c], variance[:, c], *exact).mean())
    assert found["kl"] == pytest.approx(np.mean(divergences), rel=1e-6)

    rng = np.random.default_rng(0)
    f = mean + reference.shift + np.sqrt(variance) * rng.standard_normal((20_000, len(new), classes))
    p = np.exp(f) / np.exp(f).sum(-1, keepdims=True)
    own = p[:, np.arange(len(new)), y_new]
    spread = np.sqrt(np.sum((own.std(0) / own.mean(0)) ** 2 * (1 / 4000 + 1 / 20_000))) / len(new)
    assert found["mnll"] == pytest.approx(-np.log(own.mean(0)).mean(), abs=4 * spread)
    assert found["error"] == pytest.approx(np.mean(p.mean(0).argmax(1) != y_new), abs=1 / len(new))


def test_probabilities_are_expectations_of_the_softmax():
    """One class against another: E σ(f₁ − f₀) of a Gaussian by quadrature; a certain and wrong row is not clipped."""
    mean, variance = (
        np.array([[0.0, 1.0], [3.0, -2.0], [-900.0, 900.0]]),
        np.array([[0.5, 2.0], [1.0, 0.1], [1.0, 1.0]]),
    )
    with Local(1).running() as engine:
        log_p = log_probabilities(mean, variance, 200_000, (0, 0), engine)
    t, w = np.polynomial.hermite_e.hermegauss(60)
    for row in range(2):
        gap = mean[row, 1] - mean[row, 0] + np.sqrt(variance[row].sum()) * t
        wanted = w @ (1 / (1 + np.exp(-gap))) / w.sum()
        assert np.exp(log_p[row, 1]) == pytest.approx(wanted, abs=4 * 0.35 / np.sqrt(200_000))
    np.testing.assert_allclose(np.exp(log_p).sum(1), 1, rtol=1e-5)
    assert -1800 < log_p[2, 0] < -1700


def test_scores_of_classes():
    scores, y = ClassScores(), np.array([0, 1, 1, 0])
    p = np.array([[0.9, 0.1], [0.3, 0.7], [0.55, 0.45], [0.95, 0.05]])
    for part in (slice(0, 1), slice(1, 4)):
        scores.add(y[part], np.log(p[part]))
    assert scores.error == 0.25
    assert scores.mnll == pytest.approx(-np.log([0.9, 0.7, 0.45, 0.95]).mean())
    # bins of 1/15: 0.9 and 0.95 share one
    assert scores.calibration_error == pytest.approx((abs(0.9 + 0.95 - 2) + abs(0.7 - 1) + 0.55) / 4)


def test_bins_of_the_calibration_error_are_not_rounded():
    """0.61 and 0.65 lie in the lower and in the upper half of the tenth bin of 15."""
    scores, p = ClassScores(), np.array([0.61, 0.65])
    scores.add(np.array([0, 1]), np.log(np.c_[p, 1 - p]))
    assert scores.calibration_error == pytest.approx(abs(0.61 + 0.65 - 1) / 2)


def test_the_exact_sketch_does_not_diverge(split):
    _, found = run("gpc", split, "exact", 0, alpha=0.01, reference_rows=150)
    assert abs(found["kl"]) < 1e-12


@pytest.mark.parametrize("name", ["rff", "complex_rff"])
def test_divergence_falls_as_features_grow(split, name):
    kls = [run("gpc", split, name, D, reference_rows=300, alpha=0.01)[1]["kl"] for D in (16, 128, 1024)]
    assert kls[0] > 3 * kls[1] > 9 * kls[2] > 0


def losses_of(draw, train, held_out, counts, samples=20_000):
    """The MNLL of every α on held-out rows, by fitting each as a task of its own would."""
    (rows, y), (new, y_new) = (next(iter(part.blocks())) for part in (train, held_out))
    Phi, Psi, losses = draw.features(rows), draw.features(new), []
    for alpha in 10.0 ** np.arange(-5, 1):
        model, shift = dirichlet(counts, alpha, "label_variance")
        mean, variance = np.empty((2, len(new), len(counts)))
        for c in range(len(counts)):
            w = model.W[c, y]
            A = np.linalg.inv(Phi.T * w @ Phi + np.eye(Phi.shape[1]) / model.signal)
            mean[:, c], variance[:, c] = Psi @ A @ (Phi.T @ (w * model.T[c, y])), (Psi @ A * Psi).sum(1)
        with Local(1).running() as engine:
            log_p = log_probabilities(mean + shift, variance, samples, (1, 0), engine)
        losses.append(-log_p[np.arange(len(new)), y_new].mean())
    return losses


def counts_of(split):
    return np.bincount(np.concatenate([y for _, y in split.train.blocks()]))


def test_the_chosen_alpha_has_the_least_loss(split):
    auto = run("gpc", split, "rff", 64)[0].model.W
    rest, held_out = split.train.divided(0.1, rng_for(0, "gpc", "validation"))
    assert len(rest) == 324
    draw, counts = baseline(make_kernel("gaussian", 1, length_scale=2.0), 4, 0, np.float64, ""), counts_of(split)
    alpha = 10.0 ** (np.argmin(losses_of(draw, rest, held_out, counts)) - 5)
    np.testing.assert_allclose(auto, dirichlet(counts, alpha, "label_variance")[0].W)


def test_held_out_rows_are_not_trained_on():
    """Classes by chance with more features than rows: a fit that saw the held-out rows would be certain of them."""
    rng = np.random.default_rng(0)
    data = Dataset("made", InMemory(rng.standard_normal((200, 4))), InMemory(rng.integers(0, 3, 200)), 3)
    split = prepared_split(data, Preparation(()), 0, np.float64)
    kernel = make_kernel("gaussian", 1, length_scale=0.2)
    draw, counts = baseline(kernel, 4, 0, np.float64, "", (300, 300)), counts_of(split)
    rest, held_out = split.train.divided(0.1, rng_for(0, "gpc", "validation"))
    with Local(2).running() as engine:
        found = GPC()._best_alpha(draw, split.train, counts, 0, engine)
    honest, leaky = (10.0 ** (np.argmin(losses_of(draw, part, held_out, counts)) - 5) for part in (rest, split.train))
    assert found == pytest.approx(honest)
    assert honest > 5 * leaky


def test_the_cached_alpha_depends_on_the_signal(monkeypatch, tmp_path):
    split = dataset(2, 120)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    found = [run("gpc", split, "rff", 16, signal=signal)[1]["alpha"] for signal in (1e-3, 1000.0)]
    assert found[0] != found[1]
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "empty"))
    assert run("gpc", split, "rff", 16, signal=1000.0)[1]["alpha"] == found[1]


def test_workers_change_no_measure(split):
    one, four = (
        without_times(run("gpc", split, "complex_rff", 100, workers=workers, reference_rows=80)[1])
        for workers in (1, 4)
    )
    assert one == four


def test_the_command(rfbench, tmp_path):
    done = rfbench("task=gpc", "features=[1d,4d]", "seeds=2")
    assert done.returncode == 0, done.stderr
    for word in ("error", "mnll", "calibration_error", "kl", "rel_frobenius", "fit [s]", "predict [s]"):
        assert word in done.stdout
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    errors = {row["features"]: float(row["value"]) for row in read_rows(path) if row["metric"] == "error"}
    assert errors["256"] < errors["64"] < 0.1


def test_mistakes_are_one_line(rfbench):
    one_line(rfbench("task=gpc", "dataset=diabetes"), "dataset 'diabetes' has numbers to predict; use task=gpr")
    one_line(
        rfbench("task=gpc", "sketch=orff_decomposable"), "kernel 'decomposable' has several; use task=vector_field"
    )
    one_line(rfbench("task=gpc", "task.alpha=-1"), "task.alpha must be auto or a number above 0; -1 was given")
