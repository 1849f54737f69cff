"""Features on a grid against the product of one-dimensional rules and against the kernel."""

from itertools import product

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.fourier.quadrature import allocated, half_grid

RNG = np.random.default_rng


def fitted(X, D, length_scale=1.5):
    kernel = make_kernel("gaussian", length_scale=length_scale)
    sketch = make_sketch("quadrature", kernel).adapt(X, D)
    return kernel, sketch, sketch.sample(X.shape[1], D, RNG(0), np.float64)


@pytest.mark.parametrize("nodes", [(1,), (2,), (3,), (4, 1, 3), (3, 1, 5), (2, 2)])
def test_half_a_grid_stands_for_all_of_it(nodes):
    Omega, W, origin = half_grid(nodes)
    delta = RNG(0).standard_normal(len(nodes))
    wanted = 0.0
    for point in product(*(zip(*hermegauss(q), strict=True) for q in nodes)):
        t, w = np.array(point).T
        wanted += w.prod() / np.sqrt(2 * np.pi) ** len(nodes) * np.cos(t @ delta)
    assert 2 * len(W) + (origin > 0) == np.prod(nodes)
    assert W @ np.cos(delta @ Omega) + origin == pytest.approx(wanted, abs=1e-13)
    assert W.sum() + origin == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("D", [1, 2, 7, 64, 100])
def test_features_are_the_stated_mean(D):
    X = RNG(1).standard_normal((30, 3))
    _, sketch, features = fitted(X, D)
    assert np.prod(sketch.nodes) <= D
    Phi = features(X)
    np.testing.assert_allclose(Phi @ Phi.T, sketch.closed_form.mean(X, X, D), atol=1e-13)
    np.testing.assert_array_equal(sketch.closed_form.variance(X, X, D), 0)
    assert not Phi[:, np.prod(sketch.nodes) :].any()


def test_two_columns_need_few_features():
    """The error falls exponentially, where that of random frequencies falls with the root of their number."""
    X = RNG(2).standard_normal((200, 2))
    errors = []
    for D in (16, 64, 256):
        kernel, _, features = fitted(X, D)
        K, Phi = kernel.gram(X, X), features(X)
        errors.append(np.linalg.norm(Phi @ Phi.T - K) / np.linalg.norm(K))
    assert errors[1] < errors[0] / 10
    assert errors[2] < errors[1] / 1000


def test_columns_that_vary_get_the_nodes():
    delta = RNG(3).standard_normal((500, 3)) * [0.01, 3.0, 0.5]
    nodes = allocated(delta, 60)
    assert nodes[0] == 1
    assert nodes[1] > nodes[2] > 1
    assert allocated(np.zeros((5, 2)), 60) == (1, 1)


def test_what_cannot_be_is_refused_in_words():
    kernel = make_kernel("gaussian", length_scale=1.0)
    with pytest.raises(InputError, match="needs training rows first"):
        make_sketch("quadrature", kernel).sample(2, 8, RNG(0))
    with pytest.raises(InputError, match="approximates the gaussian kernel"):
        make_sketch("quadrature", make_kernel("matern"))
