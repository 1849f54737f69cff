"""Hyperparameters of largest marginal likelihood, against scikit-learn and finite differences."""

import numpy as np
import pytest

from rfbench.kernels import make_kernel
from rfbench.results.rows import read_rows
from rfbench.tasks.gp.likelihood import maximize, negative_log_marginal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(120)
Y -= Y.mean()
KERNELS = {
    "gaussian": {},
    "exponential": {},
    "laplacian": {},
    "bessel": {},
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


def test_the_command(rfbench, tmp_path):
    words = ("task=gpr", "dataset=diabetes", "sketch=rff", "features=32", "seeds=1", "kernel.length_scale=likelihood")
    done = rfbench(*words, "task.noise=likelihood", "task.signal=likelihood")
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    values = {row["metric"]: float(row["value"]) for row in read_rows(path)}
    assert 2000 < values["noise_variance"] < 4000  # the labels' variance is 5930
