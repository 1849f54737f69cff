"""What of a polynomial kernel is known without a sketch, against loops over the definition."""

import numpy as np
import pytest
from support.kid import SKETCHES, run, sets, split_of, z

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.maclaurin.remainder import known_part
from rfbench.sketches.maclaurin.tangent import Tangent
from rfbench.tasks.kid.embedding import EmbeddingSums

X, Y = sets()
KERNEL = make_kernel("polynomial", 3, gamma=0.2, bias=0.7)
FRAME = Tangent(KERNEL, X.mean(0))


def test_turned_rows_have_the_same_kernel_and_their_mean_on_the_last_axis():
    Z, mean = FRAME.rows(X).copy(), FRAME.rows(X.mean(0, keepdims=True)).copy()
    np.testing.assert_allclose((Z @ Z.T) ** 3, KERNEL.gram(X, X))
    np.testing.assert_allclose(mean[0, :-1], 0, atol=1e-12)
    assert mean[0, -1] == pytest.approx(FRAME.length)
    assert np.abs(X.mean(0)).min() > 0.5  # which it was not before


def test_known_features_are_degrees_0_and_1():
    Z = FRAME.rows(X).copy()
    w, a = Z[:, :-1], Z[:, -1]
    known = [FRAME.sums(row[None])[0] for row in Z]
    np.testing.assert_allclose(np.inner(known, known), np.outer(a, a) ** 3 + 3 * np.outer(a, a) ** 2 * (w @ w.T))
    h, squares, rest = FRAME.sums(Z)
    np.testing.assert_allclose(h, np.sum(known, 0))
    assert squares == pytest.approx(np.sum(np.square(known)))
    assert squares + rest == pytest.approx(np.trace(KERNEL.gram(X, X)))


@pytest.mark.parametrize("p", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_their_sketch_is_the_product_with_at_most_one_factor_of_w(p, dtype):
    """Π (a u + ⟨v, w⟩) over the p weights (v, u), multiplied out by hand."""
    frame = Tangent(make_kernel("polynomial", p, gamma=0.2, bias=0.7), X.mean(0))
    features = frame.map(
        make_sketch("rademacher", make_kernel("polynomial", p)).sample(5, 16, np.random.default_rng(0), dtype)
    )
    Z = frame.rows(X).copy()
    wanted = 0
    for *w, a in Z:
        of_w = [v[:-1].T @ w for v in features.W]
        of_a = [a * v[-1] for v in features.W]
        wanted += np.prod(of_a, 0) + sum(of_w[i] * np.prod(of_a[:i] + of_a[i + 1 :], 0) for i in range(p))
    tolerance = 1e-10 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(frame.of(features, frame.sums(Z)[0]), wanted, atol=tolerance * np.abs(wanted).max())


ALONE = ("compressive", "mean_split", "anchored", "gegenbauer")  # their features have no such part


@pytest.mark.parametrize("name", [name for name in SKETCHES if name not in ALONE])
def test_of_every_sketch_only_higher_degrees_are_left(name):
    """Rows ever nearer to the centre: what is left falls as the square of the distance."""
    frame, sketch, _ = known_part(KERNEL, make_sketch(name, KERNEL).adapt(X, 64), X, 64, 1)
    inner, c = frame.map(sketch.sample(5, 64, np.random.default_rng(0), np.float64)), X.mean(0)

    def left(t):
        Z = frame.rows(c + t * (X - c)).copy()
        return inner(Z).sum(0) - frame.of(inner, frame.sums(Z)[0])

    assert np.linalg.norm(left(1e-3)) / np.linalg.norm(left(1e-2)) == pytest.approx(1e-2, rel=0.05)


def test_other_features_are_left_alone():
    for kernel, name in ((make_kernel("gaussian", 3), "rff"), (make_kernel("polynomial", 3, bias=0.0), "rademacher")):
        assert known_part(kernel, make_sketch(name, kernel), X, 8, 2) is None
    for name in ALONE:
        assert known_part(KERNEL, make_sketch(name, KERNEL).adapt(X, 64), X, 64, 2) is None


def test_the_deviation_is_a_fraction_of_what_it_was():
    """And no draw needs it where there is no other degree."""
    split = split_of(X, Y)
    for name in ("rademacher", "ctr_tensorsrht", "tensorsketch", "random_maclaurin"):
        before, now = (run(split, name, resamples=100, subsets=0, exact_degree=k)[0]["kid_std"] for k in (0, 1))
        assert now < before / 5
    found, _, _ = run(split, degree=1, resamples=2, subsets=0)
    assert found["kid"] == pytest.approx(found["exact_kid"], rel=1e-10)


def test_the_known_part_belongs_to_the_estimate(monkeypatch):
    """The negative control: without it the mean is another."""

    def forgetful(sums):
        total = finish(sums)
        total.known = None
        return total

    finish = EmbeddingSums.finish
    monkeypatch.setattr(EmbeddingSums, "finish", forgetful)
    found, _, _ = run(split_of(X, Y), resamples=100, subsets=0)
    assert abs(z(found, 100)) > 5
