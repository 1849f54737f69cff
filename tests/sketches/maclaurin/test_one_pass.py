"""Allocation from the scale of the rows against Algorithm 5, which evaluates all pairs."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.maclaurin.allocation import statistics
from rfbench.sketches.maclaurin.one_pass import WEIGHTS, from_scale, scale, stand_ins
from rfbench.sketches.maclaurin.series import term


@pytest.mark.parametrize("n", [30, 300])  # fewer rows than columns, and more
def test_moments_of_the_cosine_are_those_of_all_pairs(n, digits):
    X = digits[:n] * np.linspace(0.5, 2, n)[:, None]
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = (U @ U.T)[~np.eye(n, dtype=bool)]
    lengths, found = scale(X)
    mean = np.average(found, weights=WEIGHTS)
    np.testing.assert_allclose(mean, cosines.mean(), rtol=1e-3)  # cosines above 1 are cut off
    np.testing.assert_allclose(np.average((found - mean) ** 2, weights=WEIGHTS), cosines.var(), rtol=0.02)
    np.testing.assert_allclose(lengths, np.quantile(np.linalg.norm(X, axis=1), (np.arange(8) + 0.5) / 8))


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_stand_ins_have_the_lengths_and_cosines(d):
    lengths, cosines = np.array([0.5, 2.0]), np.array([-1.0, 1.0]) if d == 1 else np.array([-1.0, 0.1, 0.8])
    A, B = stand_ins(lengths, cosines, d)
    np.testing.assert_allclose(np.linalg.norm(A, axis=1), lengths)
    np.testing.assert_allclose(np.linalg.norm(B, axis=1), np.repeat(lengths, len(cosines)))
    np.testing.assert_allclose(A @ B.T, np.outer(lengths, np.outer(lengths, cosines)), atol=1e-12)


@pytest.mark.parametrize("base", ["rademacher", "tensorsrht", "ctr_rademacher"])
def test_statistics_of_gaussian_rows_are_those_of_all_pairs(base):
    """Up to cosines that are nearly normal, which they are where columns are many; other lengths have other ones."""
    rng = np.random.default_rng(0)
    X, kernel = rng.standard_normal((200, 256)) / 16, make_kernel("gaussian", 3)
    terms = {n: term(base, n, 256) for n in (1, 2, 3)}
    (curves, biases), (others, biases_of_others) = from_scale(kernel, terms, X), statistics(kernel, terms, X)
    np.testing.assert_allclose([c.V for c in curves], [c.V for c in others], rtol=0.1)
    np.testing.assert_allclose(biases, biases_of_others, rtol=0.3)
    far = from_scale(kernel, terms, 1.5 * X)[0]
    assert all(abs(c.V / other.V - 1) > 0.2 for c, other in zip(far, others, strict=True))


def test_it_allocates_as_algorithm_5_does_where_cosines_are_nearly_normal(digits):
    kernel = make_kernel("gaussian", 3, length_scale=0.8)
    one, other = (
        make_sketch("optimized_maclaurin", kernel, allocation=how).adapt(digits, 256).allocation
        for how in ("one_pass", "pairs")
    )
    assert sum(one) == sum(other) == 256
    assert len(one) == len(other)
    assert max(abs(a - b) for a, b in zip(one, other, strict=True)) <= 4


def test_what_it_cannot_do_is_refused():
    kernel = make_kernel("gaussian", 3)
    with pytest.raises(InputError, match="pairs or one_pass"):
        make_sketch("optimized_maclaurin", kernel, allocation="two_pass")
    with pytest.raises(InputError, match=r"pairs for sketch\.diagonal=true"):
        make_sketch("optimized_maclaurin", kernel, allocation="one_pass", diagonal=True)
