"""Hyperparameters of largest marginal likelihood, against scikit-learn and finite differences."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from support.answers import one_line

from rfbench.engines.local import Local
from rfbench.kernels import make_kernel
from rfbench.results.rows import read_rows
from rfbench.sketches import make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.gp.feature_likelihood import SlopeSums, maximize_streamed
from rfbench.tasks.gp.likelihood import Hyperparameters, maximize, negative_log_marginal
from rfbench.tasks.rows import Held

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(120)
Y -= Y.mean()
KERNELS = {
    "gaussian": {},
    "exponential": {},
    "laplacian": {},
    "bessel": {},
    "b_spline": {},
    **{f"matern{nu}": {"nu": nu} for nu in (0.5, 1.5, 2.5)},
}


@pytest.fixture(params=KERNELS)
def kernel(request):
    return make_kernel(request.param.rstrip("0.5123"), 1, **KERNELS[request.param])


def test_gradients_are_finite_differences(kernel):
    theta = np.log([1.7, 0.8, 0.3])
    _, gradient = negative_log_marginal(kernel, X, Y, theta)
    for i, step in enumerate(1e-5 * np.eye(3)):
        up, down = (negative_log_marginal(kernel, X, Y, theta + sign * step)[0] for sign in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-5), i


def test_the_kernel_beside_its_slope_is_the_kernel(kernel):
    np.testing.assert_allclose(kernel.gram_and_slope(X)[0], kernel.gram(X, X), atol=1e-12)


def test_likelihood_and_its_maximum_are_those_of_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    theirs = GaussianProcessRegressor(ConstantKernel(0.8) * RBF(1.7) + WhiteKernel(0.3)).fit(X, Y)
    kernel = make_kernel("gaussian", 1)
    wanted = theirs.log_marginal_likelihood(np.log([0.8, 1.7, 0.3]))
    assert negative_log_marginal(kernel, X, Y, np.log([1.7, 0.8, 0.3]))[0] == pytest.approx(-wanted)
    found = maximize(kernel, X, Y, (None, None, None))
    value = negative_log_marginal(kernel, X, Y, np.log(found))[0]
    assert value == pytest.approx(-theirs.log_marginal_likelihood_value_, abs=1e-3)
    signal, l, noise = np.exp(theirs.kernel_.theta)
    assert found == pytest.approx((l, signal, noise), rel=0.02)


def test_what_is_given_stays():
    found = maximize(make_kernel("gaussian", 1), X, Y, (1.3, None, 0.2))
    assert (found.length_scale, found.noise) == pytest.approx((1.3, 0.2))
    nearby = [
        negative_log_marginal(make_kernel("gaussian", 1), X, Y, np.log([1.3, found.signal * s, 0.2]))[0]
        for s in (0.9, 1, 1.1)
    ]
    assert nearby[1] == min(nearby)


def test_the_short_length_scale_is_found_too():
    """A fast wave, for which a start at the median distance ends in noise."""
    x = np.sort(RNG.uniform(0, 40, 200))[:, None]
    y = np.sin(3 * x[:, 0]) + 0.1 * RNG.standard_normal(200)
    found = maximize(make_kernel("gaussian", 1), x, y - y.mean(), (None, None, None))
    assert found.length_scale < 1
    assert found.noise < 0.05


@pytest.fixture
def engine():
    with Local(2).running() as engine:
        yield engine


def drawn(name, D, **options):
    return Draw(make_sketch("rff", make_kernel(name, 1, length_scale=1.0, **options)), 3, D, 0, (), "float64")


def sums_at(draw, l, engine, parts=(slice(0, 50), slice(50, None))):
    """Those of the rows in two blocks, merged."""
    one, other = (SlopeSums(draw, l) for _ in parts)
    for sums, part in zip((one, other), parts, strict=True):
        sums.add(X[part], Y[part], engine)
    one.merge(other)
    return one


@pytest.mark.parametrize(("name", "options"), [("gaussian", {}), ("matern", {"nu": 1.5}), ("laplacian", {})])
def test_the_likelihood_through_features_is_that_of_their_kernel(name, options, engine):
    """Equation (1) against the n × n matrix, and its gradient against finite differences."""
    draw, theta = drawn(name, 40, **options), np.log([1.7, 0.8, 0.3])

    def value(theta):
        l, signal, noise = np.exp(theta)
        Phi = draw.features(X / l)
        C = signal * Phi @ Phi.T + noise * np.eye(len(X))
        return -multivariate_normal(cov=C).logpdf(Y)

    found, gradient = sums_at(draw, np.exp(theta[0]), engine).negative_log_marginal(*np.exp(theta[1:]))
    assert found == pytest.approx(value(theta))
    for i, step in enumerate(1e-5 * np.eye(3)):
        assert gradient[i] == pytest.approx((value(theta + step) - value(theta - step)) / 2e-5, rel=1e-4), i


def test_features_find_the_maximum_of_the_exact_process(engine):
    """With many features, from a wrong start, one pass over the rows for each length scale."""
    exact = maximize(make_kernel("gaussian", 1), X, Y, (None, None, None))
    start = Hyperparameters(2 * exact.length_scale, exact.signal / 3, 3 * exact.noise)
    found = maximize_streamed(drawn("gaussian", 800), Held(X, Y), start, (None, None, None), engine)
    assert np.log(found) == pytest.approx(np.log(exact), abs=0.15)
    fixed = maximize_streamed(drawn("gaussian", 200), Held(X, Y), start, (start.length_scale, None, None), engine)
    assert fixed.length_scale == pytest.approx(start.length_scale)
    sums = sums_at(drawn("gaussian", 200), start.length_scale, engine)
    value, gradient = sums.negative_log_marginal(fixed.signal, fixed.noise)
    assert value < sums.negative_log_marginal(start.signal, start.noise)[0] - 1
    assert gradient[1:] == pytest.approx([0, 0], abs=1e-2)


@pytest.mark.slow
def test_the_command_with_features(rfbench, tmp_path):
    """The noise of a wave, which is known."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(0, 1, (1200, 2))
    labels = np.sin(20 * rows[:, 0]) + 0.3 * rng.standard_normal(1200)
    np.savez(tmp_path / "wave.npz", X=rows, y=labels)
    assert rfbench("data", "add", "wave.npz", "--name", "wave").returncode == 0
    words = ("task=gpr", "dataset=wave", "dataset.prepare=[]", "sketch=rff", "features=64", "seeds=1",
             "kernel.length_scale=likelihood", "task.noise=likelihood", "task.signal=likelihood")  # fmt: skip
    done = rfbench(*words, "task.likelihood=features")
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    values = {row["metric"]: float(row["value"]) for row in read_rows(path)}
    assert values["noise_variance"] == pytest.approx(0.09, rel=0.15)
    one_line(rfbench("task=gpr", "kernel=exponential", "sketch=favor", "task.likelihood=features"),
             "task.likelihood=features needs kernel=gaussian, matern, laplacian")  # fmt: skip
    one_line(rfbench("task=gpr", "task.likelihood=all"), "task.likelihood must be exact or features")


def test_the_command(rfbench, tmp_path):
    words = ("task=gpr", "dataset=diabetes", "sketch=rff", "features=32", "seeds=1", "kernel.length_scale=likelihood")
    done = rfbench(*words, "task.noise=likelihood", "task.signal=likelihood")
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    values = {row["metric"]: float(row["value"]) for row in read_rows(path)}
    assert 2000 < values["noise_variance"] < 4000  # the labels' variance is 5930
