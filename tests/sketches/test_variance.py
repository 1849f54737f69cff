"""Empirical over closed-form variance, averaged over 105 real pairs, for every sketch, degree and layout."""

import numpy as np
import pytest
from support import oracles, stats, zoo

from rfbench.sketches.products.tensor_srht import AhleTensorSRHT, StackedTensorSRHT, TensorSRHT
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, RADEMACHER
from rfbench.sketches.wrappers import ComplexToReal

pytestmark = pytest.mark.medium

PADDED = 16  # of 13 columns, with the bias or without


def measure(name, degree, multiple, draws, wine, estimates=stats.estimates):
    sketch, D = zoo.sketch_of(name, degree), int(multiple * PADDED)
    k, V = (
        stats.of_pairs(m)
        for m in (zoo.kernel_of(name, degree).gram(wine, wine), sketch.closed_form.variance(wine, wine, D))
    )
    values = estimates(sketch, wine, D, draws, seed=int(degree * 10 + multiple))
    return values, k, V


@pytest.mark.parametrize("name", zoo.POLYNOMIAL)
@pytest.mark.parametrize("multiple", [1, 1.5, 2, 4])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_ratio_is_one(name, degree, multiple, wine):
    draws = 12_000 if name in zoo.HEAVY and degree == 3 else 2_000
    values, k, V = measure(name, degree, multiple, draws, wine)
    if V.max() < 1e-12:  # full Hadamard blocks of degree 1
        np.testing.assert_allclose(values, np.broadcast_to(k, values.shape), atol=1e-12)
        return
    ratio, error = stats.variance_ratio(values, k, V)
    assert 0.9 < ratio < 1.1, (ratio, error)


# At degree 6 the tails are heavy.  Draws at D = d (real, ctr, complex) with which 10 % is three standard errors; the
# Gaussian products would need many more for that.
DRAWS_6 = {
    "tensorsrht": (45_000, 16_000, 12_000),
    "rademacher": (150_000, 60_000, 30_000),
    "gaussian": (400_000, 200_000, 200_000),
}


# Degree 3 tells the layouts apart at every multiple; one of them suffices here but in CI.
@pytest.mark.parametrize("multiple", [*(pytest.param(m, marks=pytest.mark.slow) for m in (1, 1.5, 2)), 4])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in zoo.HEAVY else [])
        for name in zoo.POLYNOMIAL
        if "ahle" not in name  # of the thesis
    ],
)
def test_ratio_is_one_at_degree_6(name, multiple, wine):
    family = name.rpartition("_")[2]
    real, ctr, complex_ = DRAWS_6[family]
    draws = int((complex_ if name.startswith("complex_") else ctr if name.startswith("ctr_") else real) / multiple)
    estimates = stats.estimates if family == "tensorsrht" else stats.estimates_at_once
    ratio, error = stats.variance_ratio(*measure(name, 6, multiple, draws, wine, estimates))
    assert abs(ratio - 1) < 3 * error, (ratio, error)
    assert name in zoo.HEAVY or error < 1 / 30, error


@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize(("d", "D"), [(1, 3), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (4, 3), (4, 4)])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_closed_form_is_exact_by_enumeration(stacked, d, D, p):
    """All signs and all shuffles, one by one: no statistics."""
    rng = np.random.default_rng(d)
    x, y = rng.standard_normal((2, d))
    cls = StackedTensorSRHT if stacked else TensorSRHT
    X, Y = x[None], y[None]
    mean, second, _ = oracles.srht_moments(x, y, p, D, (1, -1), stacked)
    np.testing.assert_allclose(mean, (x @ y) ** p)
    np.testing.assert_allclose(cls(p, RADEMACHER).closed_form.variance(X, Y, D)[0, 0], second - mean**2, atol=1e-12)
    mean, second, pseudo = oracles.srht_moments(x, y, p, D, (1, -1, 1j, -1j), stacked)
    complex_ = cls(p, COMPLEX_RADEMACHER)
    np.testing.assert_allclose(complex_.closed_form.variance(X, Y, D)[0, 0], second - mean**2, atol=1e-12)
    np.testing.assert_allclose(complex_.closed_form.pseudo_variance(X, Y, D)[0, 0], pseudo - mean**2, atol=1e-12)
    ctr = ((second + pseudo) / 2 - mean**2).real
    np.testing.assert_allclose(ComplexToReal(complex_).closed_form.variance(X, Y, 2 * D)[0, 0], ctr, atol=1e-12)


@pytest.mark.parametrize(("d", "p", "D"), [(4, 1, 1), (4, 1, 2), (4, 1, 3), (4, 1, 4), (2, 2, 1), (2, 2, 3), (2, 3, 5)])
def test_the_closed_form_of_ahle_is_exact_by_enumeration(d, p, D):
    x, y = np.random.default_rng(d).standard_normal((2, d))
    X, Y = x[None], y[None]
    for law, letters in ((RADEMACHER, (1, -1)), (COMPLEX_RADEMACHER, (1, -1, 1j, -1j))):
        mean, second, pseudo = oracles.ahle_moments(x, y, p, D, letters)
        form = AhleTensorSRHT(p, law).closed_form
        np.testing.assert_allclose(mean, (x @ y) ** p, atol=1e-12)
        np.testing.assert_allclose(form.variance(X, Y, D)[0, 0], second - mean**2, atol=1e-12)
        np.testing.assert_allclose(form.pseudo_variance(X, Y, D)[0, 0], pseudo - mean**2, atol=1e-12)


def test_degree_one_complex_to_real_is_no_better_than_real(wine):
    """At p = 1 both halves of a complex feature are real features [Wacker 2022, 4.2.1]."""
    for family in ("gaussian", "rademacher"):
        real, ctr = (zoo.sketch_of(name, 1).closed_form.variance(wine, wine, 32) for name in (family, f"ctr_{family}"))
        np.testing.assert_allclose(real, ctr)


def test_complex_to_real_gaussian_always_wins(wine):
    """Theorem 4.2.4."""
    for p in (2, 3, 6):
        real, ctr = (
            zoo.sketch_of(name, p).closed_form.variance(wine, wine, 32) for name in ("gaussian", "ctr_gaussian")
        )
        assert (ctr <= real * (1 + 1e-12)).all()
