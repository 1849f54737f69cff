"""Squares of sketches: never negative, and biased upwards by a variance that is known."""

import numpy as np
import pytest
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch

KERNEL = make_kernel("polynomial", 4, gamma=0.5, bias=0.5)


def test_estimates_are_squares_and_their_mean_is_known(wine):
    X, r = wine[:6] - wine.mean(0), 12
    sketch = make_sketch("polysketch", KERNEL, base="rademacher")
    root = make_sketch("rademacher", make_kernel("polynomial", 2, gamma=0.5, bias=0.5))
    values = stats.estimates(sketch, X, r * r, 3000, seed=1)
    assert (values.real >= 0).all()
    mean = KERNEL.gram(X, X) + root.closed_form.variance(X, X, r)
    assert stats.z_of_mean(values, stats.of_pairs(mean), np.var(values, axis=0)) < stats.LIMIT
    assert stats.z_of_mean(values, stats.of_pairs(KERNEL.gram(X, X)), np.var(values, axis=0)) > stats.LIMIT


def test_features_are_the_outer_square(wine):
    features = make_sketch("polysketch", KERNEL).sample(13, 25, np.random.default_rng(0), np.float64)
    Phi = features(wine)
    assert np.linalg.matrix_rank(Phi[0].reshape(5, 5)) == 1
    assert (Phi @ Phi.T >= 0).all()


def test_what_cannot_be_is_refused_in_words():
    sketch = make_sketch("polysketch", KERNEL, base="ctr_tensorsrht")
    assert sketch.count(16, 70) == 64
    assert "Use features=64" in sketch.objection(70)
    assert "even" in sketch.objection(49)
    with pytest.raises(InputError, match="even for sketch=polysketch"):
        make_sketch("polysketch", make_kernel("polynomial", 3))
    with pytest.raises(InputError, match="a real sketch"):
        make_sketch("polysketch", KERNEL, base="complex_rademacher")
