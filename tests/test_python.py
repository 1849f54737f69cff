"""The Python interface: docs/python.md shows what it does; here its mistakes are explained."""

import numpy as np
import pytest

from rfbench import InputError, make_kernel, make_sketch

KERNEL = make_kernel("polynomial", 3)
SKETCH = make_sketch("tensorsrht", KERNEL)
X = np.random.default_rng(0).random((20, 8))
FEATURES = SKETCH.draw(X, 64)

MISTAKES = [
    (lambda: make_kernel("polynomial"), r"needs a degree, as in make_kernel\('polynomial', degree=3\)"),
    (lambda: make_kernel("gaussian", 2.0), r"degree must be a whole number \(options such as length_scale are given"),
    (lambda: make_kernel("gaussian", length=2.0), "no 'kernel.length'; did you mean 'length_scale'"),
    (lambda: make_sketch("rff", KERNEL), "approximates the gaussian kernel; kernel 'polynomial' was asked for"),
    (lambda: make_sketch("tensorsrht", KERNEL, base="rademacher"), "no 'sketch.base'; it has no options"),
    (lambda: KERNEL.gram(X, X[:, :3]), r"with one d; \(20, 8\) and \(20, 3\) were given"),
    (lambda: make_kernel("gaussian").gram(X[0], X), r"with one d; \(8,\) and \(20, 8\) were given"),
    (lambda: SKETCH.closed_form.variance(X, X[:, :3], 64), "both arrays of rows must have shape"),
    (lambda: SKETCH.draw(X[0], 64), r"training rows must be numbers of shape \(n, d\); float64 \(8,\) was given"),
    (lambda: SKETCH.draw(X, 0), "the number of features must be a whole number above 0; 0 was given"),
    (lambda: SKETCH.draw(X, 6.5), "the number of features must be a whole number above 0; 6.5 was given"),
    (lambda: FEATURES(X[:, :5]), r"must be numbers of shape \(n, 8\); \(20, 5\) was given"),
    (lambda: FEATURES([["a"] * 8]), r"must be numbers of shape \(n, 8\); <U1 \(1, 8\) was given"),
    (lambda: FEATURES(X, np.empty((20, 3))), r"out must have shape \(20, 64\); \(20, 3\) was given"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes_are_explained(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_lists_and_whole_numbers_are_rows_too():
    np.testing.assert_array_equal(FEATURES(X.tolist()), FEATURES(X))
    assert FEATURES(np.ones((2, 8), int)).shape == (2, 64)
