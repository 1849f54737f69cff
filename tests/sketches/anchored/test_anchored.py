"""Mean-split and anchored sketches: unbiased for every pair, with the stated variance, exact where they claim it."""

import numpy as np
import pytest
from support import oracles, stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch

KERNELS = {
    "polynomial": make_kernel("polynomial", 3, gamma=0.5, bias=0.3),
    "degree_5": make_kernel("polynomial", 5),
    "homogeneous": make_kernel("polynomial", 2, bias=0.0),
    "polynomial_sphere": make_kernel("polynomial_sphere", 4),
    "exponential": make_kernel("exponential", 1, length_scale=1.5),
    "gaussian": make_kernel("gaussian", 1, length_scale=0.8),
    "linear": make_kernel("linear", 1),
}
NAMES = ("mean_split", "anchored")


def fitted(name, kernel, X, D, **options):
    return make_sketch(name, kernel, **options).adapt(X, D)


@pytest.fixture(scope="module")
def rows(digits):
    """Training rows, and rows to test: some like them, some of them, Gaussian ones of other lengths, negated ones."""
    X = digits / np.linalg.norm(digits, axis=1)[:, None]
    noise = np.random.default_rng(3).standard_normal((3, X.shape[1])) / 8
    return X[20:], np.concatenate((X[:4], X[20:22], noise * [[0.6], [1.0], [1.5]], -X[4:6]))


def judged(sketch, Y, D, kernel, draws, seed=1, change=lambda features: None):
    """The largest |z| of the mean over all pairs, with the standard error of the draws themselves."""
    rng, pairs = np.random.default_rng(seed), np.triu_indices(len(Y))
    values = []
    for _ in range(draws):
        features = sketch.sample(Y.shape[1], D, rng, np.float64)
        change(features)
        Phi = features(Y)
        values.append((Phi @ Phi.T)[pairs])
    values = np.array(values)
    error = np.maximum(values.std(0, ddof=1), 1e-9) / np.sqrt(draws)
    return float(np.max(np.abs(values.mean(0) - kernel.gram(Y, Y)[pairs]) / error)), values


@pytest.mark.medium
@pytest.mark.parametrize("base", ["ctr_tensorsrht", "tensorsrht"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", KERNELS)
def test_the_mean_is_the_kernel_for_every_pair(which, name, base, rows):
    X, Y = rows
    if which == "polynomial_sphere":
        Y = Y / np.linalg.norm(Y, axis=1)[:, None]
    D, kernel = 90, KERNELS[which]
    z, _ = judged(fitted(name, kernel, X, D, base=base), Y, D, kernel, 600)
    assert z < stats.LIMIT
