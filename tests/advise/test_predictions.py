"""Predicted errors against draws, known constants and definitions."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from rfbench.advise.candidates import MOST_FEATURES, Candidate, has_error
from rfbench.advise.cost import Cost, Curve, arrays_of
from rfbench.advise.evidence import Evidence
from rfbench.advise.ranking import front
from rfbench.advise.tails import Tails, one_feature, simulated, tails
from rfbench.kernels import make_kernel
from rfbench.seeds import rng_for
from rfbench.sketches import make_sketch
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, GAUSSIAN, RADEMACHER


class Rows:
    """Rows that are fitted, in place of a dataset."""

    def __init__(self, X):
        self.X = X

    def __len__(self):
        return len(self.X)

    def sample(self, count, rng):
        return self.X[:count], None


def evidence_of(X, kernel, n=100):
    return Evidence(kernel, Rows(X[: len(X) // 2]), X[len(X) // 2 :], n, np.dtype("float64"))


def candidate(name, X, kernel, n=100):
    return Candidate(name, make_sketch(name, kernel), evidence_of(X, kernel, n))


def measured(one, D, draws):
    """Errors of a kernel matrix of all held-out rows."""
    X, kernel, sketch = one.evidence.X, one.evidence.kernel, one.fitted(D)
    K = kernel.gram(X, X)
    for k in range(draws):
        features = sketch.sample(X.shape[1], D, rng_for(k, "test"), "float64")
        Phi = features(X)
        yield np.linalg.norm(features.product(Phi, Phi).real - K) / np.linalg.norm(K)


CASES = [
    ("ctr_tensorsrht", "polynomial", 3, 128, 60),
    ("gaussian", "polynomial", 6, 256, 60),
    ("rademacher", "polynomial", 3, 64, 60),
    ("optimized_maclaurin", "polynomial", 6, 64, 40),  # ends before degree 6: mostly bias
    ("mean_split", "polynomial", 3, 128, 30),
    ("anchored", "polynomial", 3, 128, 30),
    ("rff", "gaussian", 3, 64, 60),
    ("orf", "gaussian", 3, 64, 30),
    ("sorf", "gaussian", 3, 64, 30),  # from draws
]


@pytest.mark.medium
@pytest.mark.parametrize(("name", "kernel", "degree", "D", "draws"), CASES)
def test_the_mean_of_measured_errors_is_predicted(name, kernel, degree, D, draws, digits):
    one = candidate(name, digits, make_kernel(kernel, degree), n=150)
    found = np.array(list(measured(one, D, draws)))
    error = found.std() / draws**0.5
    assert one.error(D) == pytest.approx(found.mean(), rel=0.2, abs=3 * error)
    assert one.closed_form == (name != "sorf")


@pytest.mark.medium
def test_the_root_mean_square_alone_would_not_predict_products_of_six(digits, monkeypatch):
    """Negative control of the test above."""
    one = candidate("gaussian", digits, make_kernel("polynomial", 6), n=150)
    monkeypatch.setattr(one, "_shape", lambda law: None)
    found = np.array(list(measured(one, 256, 60)))
    assert one.error(256) > 1.5 * found.mean() + 3 * found.std() / 60**0.5


def test_complex_features_are_twice_as_many_real_ones(digits):
    kernel = make_kernel("polynomial", 3)
    errors = [candidate(f"{kind}rademacher", digits, kernel).error(D) for kind, D in (("complex_", 64), ("ctr_", 128))]
    assert errors[0] == pytest.approx(errors[1])


@pytest.mark.parametrize("law", [RADEMACHER, COMPLEX_RADEMACHER, GAUSSIAN])
def test_the_variance_of_simulated_features_is_known(law, wine):
    G, p, nu = wine @ wine.T, 2, 1.0
    Phi = simulated(G, p, nu, law)
    i, j = np.triu_indices(len(G), 1)
    estimates = (Phi[i] * Phi[j].conj()).real
    z = (estimates.var(axis=1) - one_feature(G, p, nu, law)[i, j]) / (estimates**2).std(axis=1) * len(Phi.T) ** 0.5
    assert abs(z).max() < 5
    assert (estimates.mean(axis=1) - (G + nu)[i, j] ** p).std() < 0.05


def test_rows_that_are_alike_err_together():
    """All entries are one number: the mean of D products of two squared Gaussian ones, whose variance is 3² − 1."""
    X = np.tile(np.eye(1, 6), (40, 1))
    found = tails(evidence_of(np.concatenate((X, X)), make_kernel("polynomial", 2, bias=0.0)), GAUSSIAN)
    squares = np.random.default_rng(0).standard_normal((2, 1000, 512)) ** 2
    for D in (512, 8):
        means = squares.prod(0).reshape(-1, D).mean(1)
        rms = (8 / D) ** 0.5
        assert found(rms) == pytest.approx(np.abs(means - 1).mean() / rms, rel=0.1)
    assert found(1.0) < found(0.125) < (2 / np.pi) ** 0.5 + 0.05  # that of a Gaussian number


def test_tails_of_other_kernels_are_unknown(wine):
    assert tails(evidence_of(wine, make_kernel("gaussian", 1)), GAUSSIAN) is None
    assert Tails(np.array([0.1, 1.0]), np.array([0.9, 0.5]))(5.0) == 0.5


def test_a_sample_stands_for_a_larger_matrix():
    A = np.full((10, 10), 2.0) + np.diag(np.full(10, 5.0))
    evidence = SimpleNamespace(n=100)
    larger = np.full((100, 100), 2.0) + np.diag(np.full(100, 5.0))
    assert Evidence.total(evidence, A) == pytest.approx(larger.sum() / 100 * 10)


@pytest.mark.parametrize("name", ["ctr_tensorsrht", "rademacher", "mean_split"])
def test_no_fewer_features_reach_the_error(name, digits):
    one = candidate(name, digits, make_kernel("polynomial", 3))
    D = one.needed(0.1)
    assert one.error(D) <= 0.1
    assert one.error(max(one.count(int(0.9 * D) // 2 * 2), 2)) > 0.09
    assert one.needed(1e-5) is None
    assert max(one.errors) <= MOST_FEATURES + 2


def test_draws_say_little_about_many_features(digits):
    """A sketch that is drawn is not said to reach what its draws do not show."""
    one = candidate("compressive", digits, make_kernel("polynomial", 3))
    assert one.needed(0.01) is None
    assert not one.closed_form


def test_the_error_of_nystrom_falls_faster_than_with_the_square_root(digits):
    """It is drawn where it is asked for, or lies between two that were; the square root would say half."""
    one = candidate("nystrom", digits, make_kernel("polynomial", 3))
    few, more = one.error(16), one.error(64)
    found = np.mean(list(measured(one, 64, 4)))
    assert more == pytest.approx(found, rel=0.2)
    assert more < 0.75 * few / 2
    between, drawn = one.error(40), np.mean(list(measured(one, 40, 4)))
    assert len(one.drawn) == 2
    assert between == pytest.approx(drawn, rel=0.2)


def test_bytes_are_those_of_the_weights(digits):
    features = make_sketch("rademacher", make_kernel("polynomial", 3)).sample(64, 128, rng_for(0), "float32")
    assert sum(arrays_of(features).values()) == 3 * 65 * 128 * 4
    seconds, fit, sizes = (Curve.through((64, 256), np.array(y)) for y in ([2, 5], [0, 9], [64 * 780, 256 * 780]))
    cost = Cost(seconds, fit, sizes, 4)
    assert cost.bytes_of(128) == 128 * 780 + 4 * 128 * 10**6
    assert cost.total(128) == seconds(128) + fit(128) == 3 + 3
    assert cost.within_bytes(cost.bytes_of(128)) == 128
    assert cost.within_bytes(cost.bytes_of(9999)) == 9999


def test_a_curve_goes_through_what_was_measured_and_never_falls():
    curve = Curve.through((256, 1024, 4096), np.array([2.0, 5.0, 4.0]))
    assert [curve(D) for D in (0, 256, 640, 1024, 4096, 9999)] == pytest.approx([4 / 3, 2, 3, 4, 4, 4])
    assert Curve.through((256, 1024), np.array([1.0, 9.0]))(0) == 0  # a negative start would be -5/3
    assert Curve.through((256,), np.array([2.0]))(512) == 4


@pytest.mark.parametrize("y", [[2.0, 5.0, 9.0], [2.0, 2.0, 9.0], [0.0, 3.0, 8.0]])
def test_the_most_features_within_a_time_take_no_more(y):
    curve = Curve.through((256, 1024, 4096), np.array(y))
    for D in (100, 256, 700, 1024, 3000, 4096, 20_000):
        most = curve.within(curve(D))
        assert most >= D
        assert curve(most) <= curve(D) + 1e-9 < curve(most + 1) + 1e-9
    assert Curve.through((256, 1024), np.array([5.0, 6.0])).within(4.0) == 0


def test_the_front_has_no_choice_that_another_beats():
    rng = np.random.default_rng(0)
    choices = [SimpleNamespace(seconds=a, error=b) for a, b in rng.random((30, 2))]
    beaten = [c for c in choices if any(o.seconds < c.seconds and o.error < c.error for o in choices)]
    assert front(choices) == sorted((c for c in choices if c not in beaten), key=lambda c: c.seconds)


def test_shapes_are_shared(digits):
    one = candidate("rademacher", digits, make_kernel("polynomial", 3))
    other = replace(one, name="tensorsrht", sketch=make_sketch("tensorsrht", one.evidence.kernel))
    one.error(64)
    other.error(64)
    assert len(one.shapes) == 1


@pytest.mark.parametrize("name", ["random_maclaurin", "optimized_maclaurin"])
def test_a_series_that_ends_too_early_misses_all_of_the_kernel(name, digits):
    """With a short length scale no degree that is drawn contributes: the estimate is 0, and the error 1."""
    one = candidate(name, digits, make_kernel("gaussian", 1, length_scale=0.05))
    assert one.error(64) == pytest.approx(1.0)


def test_a_grid_has_an_error_and_the_kernel_itself_has_none():
    """Neither is random, but one has a bias."""
    gaussian = make_kernel("gaussian", length_scale=1.5)
    assert has_error(make_sketch("quadrature", gaussian))
    assert has_error(make_sketch("rff", gaussian))
    assert not has_error(make_sketch("identity", make_kernel("linear")))
    assert not has_error(make_sketch("exact", gaussian))
