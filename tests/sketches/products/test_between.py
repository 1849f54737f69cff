"""Weights between real and complex ones and on the unit circle: their moments, mean and variance as functions of q."""

import numpy as np
import pytest
from support import oracles, stats
from support.stats import LIMIT

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.products.between import Circle, MixedSigns, mixed
from rfbench.sketches.products.product import ProductSketch
from rfbench.sketches.products.tensor_srht import StackedTensorSRHT, TensorSRHT
from rfbench.sketches.products.weights import Law
from rfbench.sketches.wrappers import ComplexToReal

KERNEL = make_kernel("polynomial", 2, bias=0.0)
LAWS = {
    **{f"signs q={q}": mixed(q, False) for q in (0, 0.25, 0.5, 0.6, 0.75, 1)},
    **{f"gaussian q={q}": mixed(q, True) for q in (0.25, 0.5, 0.9, 1)},
    **{f"roots={k}": Law(Circle(k), 1, 0) for k in (0, 3, 4, 5)},
}
THIRDS = tuple(np.exp(2j * np.pi * np.arange(3) / 3))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_weights_have_the_moments_they_state(law):
    w, limit = law.draw((200_000,), np.random.default_rng(0), np.float64), 4.5 / np.sqrt(200_000)
    assert np.iscomplexobj(w) == (not law.real)
    assert abs(w.mean()) < limit
    assert abs((np.abs(w) ** 2).mean() - 1) < limit * max(np.sqrt(law.kurtosis - 1), 1e-12)
    assert abs((np.abs(w) ** 4).mean() - law.kurtosis) < limit * np.sqrt(96) * (law.kurtosis > 1) + 1e-12
    assert abs(abs((w**2).mean()) ** 2 - law.t) < 4 * limit


def test_weights_lie_where_they_should():
    rng = np.random.default_rng(0)
    assert set(MixedSigns(0.75)((200,), rng, np.float64)) == {1, -1, 1j, -1j}
    cubes = Circle(3)((200,), rng, np.float32)
    assert len(np.unique(cubes)) == 3
    np.testing.assert_allclose(cubes**3, 1, atol=1e-6)
    np.testing.assert_allclose(np.abs(Circle(0)((200,), rng, np.float64)), 1, rtol=1e-15)


def thesis(x, y, p, q, kurtosis):
    """Wacker 2022, Eq. 3.16, term by term."""
    S = sum(a**2 * b**2 for a, b in zip(x, y, strict=True))
    most = kurtosis * S + x @ x * (y @ y) - S + ((2 * q - 1) ** 2 + 1) * ((x @ y) ** 2 - S)
    return most**p - (x @ y) ** (2 * p)


@pytest.mark.parametrize("q", [0, 0.3, 0.5, 0.75, 1])
@pytest.mark.parametrize("is_gaussian", [False, True])
def test_the_variance_is_that_of_the_thesis(q, is_gaussian, wine):
    law = mixed(q, is_gaussian)
    kurtosis = 3 * q**2 + 3 * (1 - q) ** 2 + 2 * q * (1 - q) if is_gaussian else 1  # E(a² + b²)²
    V = ProductSketch(3, law).closed_form.variance(wine[:4], wine[:4], 1)
    np.testing.assert_allclose(V, oracles.kernel_matrix(wine[:4], lambda x, y: thesis(x, y, 3, q, kurtosis)))


@pytest.mark.parametrize(("law", "letters"), [("q=2/3", (1, -1, 1, -1, 1j, -1j)), ("roots=3", THIRDS)])
@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize(("d", "D"), [(2, 1), (2, 3), (2, 4), (4, 3)])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_variance_of_tensorsrht_is_exact_by_enumeration(law, letters, stacked, d, D, p):
    """All weights and all shuffles, one by one: no statistics."""
    x, y = np.random.default_rng(d).standard_normal((2, d))
    mean, second, pseudo = oracles.srht_moments(x, y, p, D, letters, stacked)
    law = Law(Circle(3), 1, 0) if law == "roots=3" else mixed(2 / 3, False)
    sketch, X, Y = (StackedTensorSRHT if stacked else TensorSRHT)(p, law), x[None], y[None]
    np.testing.assert_allclose(mean, (x @ y) ** p, atol=1e-12)
    np.testing.assert_allclose(sketch.closed_form.variance(X, Y, D)[0, 0], second - mean**2, atol=1e-12)
    np.testing.assert_allclose(sketch.closed_form.pseudo_variance(X, Y, D)[0, 0], pseudo - mean**2, atol=1e-12)
    ctr = ((second + pseudo) / 2 - mean**2).real
    np.testing.assert_allclose(ComplexToReal(sketch).closed_form.variance(X, Y, 2 * D)[0, 0], ctr, atol=1e-12)


RECIPES = [
    ("mixed_weights", {"base": "complex_rademacher", "q": 0.75}),
    ("mixed_weights", {"base": "ctr_gaussian", "q": 0.8}),
    ("mixed_weights", {"base": "ctr_tensorsrht", "q": 0.9}),
    ("circle_weights", {"base": "ctr_rademacher"}),
    ("circle_weights", {"base": "complex_tensorsrht"}),
    ("circle_weights", {"base": "complex_ahle_tensorsrht", "roots": 3}),
]


@pytest.mark.medium
@pytest.mark.parametrize(("name", "options"), RECIPES, ids=str)
def test_mean_and_variance(name, options, wine):
    sketch = make_sketch(name, KERNEL, **options)
    k, V = stats.of_pairs(KERNEL.gram(wine, wine)), stats.of_pairs(sketch.closed_form.variance(wine, wine, 24))
    values = stats.estimates(sketch, wine, 24, 1500, seed=4)
    assert stats.z_of_mean(values, k, V) < LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < 4 * error, (ratio, error)
    assert error < 0.04


@pytest.mark.medium
@pytest.mark.parametrize("base", ["complex_rademacher", "ctr_tensorsrht"])
def test_the_variance_of_another_q_is_refuted(base, digits):
    """Draws of q = 0.75 against the closed forms of q = 0.5 and q = 1, on rows where they differ."""
    X, k = digits[:15], stats.of_pairs(KERNEL.gram(digits[:15], digits[:15]))
    values = stats.estimates(make_sketch("mixed_weights", KERNEL, base=base, q=0.75), X, 32, 1500, seed=4)
    z = {}
    for q in (0.5, 0.75, 1.0):
        V = make_sketch("mixed_weights", KERNEL, base=base, q=q).closed_form.variance(X, X, 32)
        ratio, error = stats.variance_ratio(values, k, stats.of_pairs(V))
        z[q] = (ratio - 1) / error
    assert abs(z[0.75]) < 4
    assert z[0.5] > 5
    assert z[1.0] < -5


def test_the_ends_are_the_real_and_the_complex_sketch(wine):
    for family in ("gaussian", "rademacher", "tensorsrht", "ahle_tensorsrht"):
        for q, wanted in ((1, family), (0, family), (0.5, f"complex_{family}")):
            V, W = (
                make_sketch(*args, **options).closed_form.variance(wine, wine, 40)
                for args, options in (
                    (("mixed_weights", KERNEL), {"base": f"complex_{family}", "q": q}),
                    ((wanted, KERNEL), {}),
                )
            )
            np.testing.assert_allclose(V, W)


def test_the_variance_grows_with_q_on_non_negative_rows(digits):
    """Wacker 2022, 3.3: complex weights are the best for pairs that satisfy Eq. 3.20."""
    V = np.array(
        [
            make_sketch("mixed_weights", KERNEL, base="complex_rademacher", q=q).closed_form.variance(digits, digits, 1)
            for q in (0.5, 0.6, 0.7, 0.8, 0.9, 1)
        ]
    )
    assert (np.diff(V, axis=0) >= -1e-12).all()


def test_mistakes_are_refused_in_words():
    for name, options, words in (
        ("mixed_weights", {"q": 1.2}, "sketch.q must be from 0 to 1"),
        ("mixed_weights", {"base": "rademacher"}, "use ctr_rademacher"),
        ("mixed_weights", {"base": "ctr_rademacker"}, "did you mean 'ctr_rademacher'"),
        ("circle_weights", {"roots": 2}, "at least 3"),
        ("circle_weights", {"base": "ctr_gaussian"}, "use sketch.base=ctr_rademacher"),
    ):
        with pytest.raises(InputError, match=words):
            make_sketch(name, KERNEL, **options)
