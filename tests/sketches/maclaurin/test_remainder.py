"""Features of the degrees that are not known, against loops over the definition."""

from math import comb

import numpy as np
import pytest
from support.kid import MACLAURIN, run, sets, split_of, z

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.maclaurin.remainder import HigherDegrees, Remainder, by_degrees, known_part
from rfbench.sketches.maclaurin.series import SeriesMap
from rfbench.sketches.maclaurin.tangent import Tangent
from rfbench.sketches.products.tuples import BASES
from rfbench.sketches.wrappers import ComplexToRealMap

pytestmark = pytest.mark.medium

X, Y = sets()
P = 4
KERNEL = make_kernel("polynomial", P, gamma=0.2, bias=0.7)
FRAME = Remainder(KERNEL, X.mean(0), 2)


def terms(Z):
    """C(p, n) (a a')^{p−n} ⟨w, w'⟩ⁿ of all pairs for n = 0..p."""
    w, a = Z[:, :-1], Z[:, -1]
    return np.array([comb(P, n) * np.outer(a, a) ** (P - n) * (w @ w.T) ** n for n in range(P + 1)])


def test_known_features_are_degrees_0_to_2():
    Z = FRAME.rows(X).copy()
    known = [FRAME.sums(row[None])[0] for row in Z]
    np.testing.assert_allclose(np.inner(known, known), terms(Z)[:3].sum(0))
    h, squares, rest = FRAME.sums(Z)
    np.testing.assert_allclose(h, np.sum(known, 0))
    assert squares == pytest.approx(np.sum(np.square(known)))
    assert squares + rest == pytest.approx(np.trace(KERNEL.gram(X, X)))


def test_the_kernel_of_the_rest_is_its_series():
    rest = HigherDegrees(P, 2)
    assert rest.coefficients(np.arange(6)).tolist() == [0, 0, 0, 4, 1, 0]
    s = X @ Y.T
    np.testing.assert_allclose(rest.gram(X, Y), 4 * s**3 + s**4)


WHICH = [(name, 2) for name in ("gaussian", "complex_gaussian", "ctr_rademacher", "stacked_tensorsrht", *MACLAURIN)]


def by_loops(features, Z):
    """Features one by one, those of chains from the weights of every projection."""
    if isinstance(features, SeriesMap):
        parts = zip(features.counts, features.weights, features.maps, strict=True)
        columns = [weight * Z[:, -1:] ** (P - n) * part(Z[:, :-1]) for n, weight, part in parts]
        return np.concatenate(columns, 1)
    halves = isinstance(features, ComplexToRealMap)
    chains = features.base if halves else features
    places = np.split(np.arange(chains.W.shape[1]), chains.ends[:-1])
    columns = [
        chains.weights[n] * Z[:, -1] ** (P - n) * np.prod([Z[:, :-1] @ chains.W[:, at[j]] for at in places[:n]], 0)
        for n, D in chains.counts.items()
        for j in range(D)
    ]
    Phi = np.stack(columns, 1)
    return np.concatenate((Phi.real, Phi.imag), 1) if halves else Phi


@pytest.mark.parametrize(("name", "m"), WHICH + [(name, 1) for name in MACLAURIN])
def test_features_are_of_the_other_degrees_only(name, m):
    """Those of w, degree by degree, times a power of a; and their products in the mean."""
    D, draws = 32, 400
    frame, sketch, _ = known_part(KERNEL, make_sketch(name, KERNEL).adapt(X, D), X, D, m)
    Z = frame.rows(X[:3]).copy()
    every, found, seen = terms(Z), [], set()
    for k in range(draws):
        features = sketch.sample(5, D, np.random.default_rng(k), np.float64)
        Phi = frame.map(features)(Z)
        found.append(Phi @ Phi.conj().T)
        seen |= set(features.counts)
    np.testing.assert_allclose(Phi, by_loops(features, Z), rtol=1e-10)
    assert sorted(seen) == list(range(m + 1, P + 1))
    error = np.std(found, 0, ddof=1) / np.sqrt(draws)
    assert np.abs((np.mean(found, 0) - every[m + 1 :].sum(0)) / error).max() < 4
    assert np.abs((np.mean(found, 0) - every[m:].sum(0)) / error).max() > 5  # with the last known degree, the control


def test_a_chain_serves_all_degrees():
    """Those of degree 4 go on where those of degree 3 have come to, and features vary no more for it."""
    frame, sketch, _ = known_part(KERNEL, make_sketch("rademacher", KERNEL), X, 32, 2)
    chains = sketch.sample(5, 32, np.random.default_rng(0), np.float64)
    assert chains.W.shape == (5, 3 * chains.counts[3] + chains.counts[4])
    Z = frame.rows(X).copy()

    def deviation(recipe):
        maps = [frame.map(recipe.sample(5, 32, np.random.default_rng(k), np.float64)) for k in range(1000)]
        return np.std([(features(Z).mean(0) ** 2).sum() for features in maps])

    assert deviation(sketch) == pytest.approx(deviation(sketch.series), rel=0.15)


def test_every_product_sketch_has_its_degrees():
    for base in BASES:
        sketch = by_degrees(KERNEL, make_sketch(base, KERNEL), 2)
        assert (sketch.base, sketch.degrees(P)) == (base, [3, 4])
    for name in ("tensorsketch", "hierarchical", "craft"):
        assert by_degrees(KERNEL, make_sketch(name, KERNEL), 2) is None
    assert by_degrees(make_kernel("polynomial", 2), make_sketch("gaussian", make_kernel("polynomial", 2)), 2) is None


def test_rows_across_the_mean_are_no_harm():
    """⟨z, e⟩ = 0 and below it, where a ratio to it would be none."""
    A, B = np.random.default_rng(0).standard_normal((2, 40, 3)) + np.array([0.5, 0, 0])
    c = A[2:].mean(0)
    A[0] = -3 * c / (c @ c)  # γ⟨x, c⟩ + ν = 0 with γ = 1/3, ν = 1
    A[1] = 2 * c - A[0]  # and c is still the mean
    kernel = make_kernel("polynomial", 5, gamma=1 / 3)
    np.testing.assert_allclose(Remainder(kernel, A.mean(0), 2).rows(A)[0, -1], 0, atol=1e-12)
    found, _, _ = run(split_of(A, B), "gaussian", degree=5, resamples=200, subsets=0, exact_degree=2)
    assert abs(z(found, 200)) < 4


@pytest.mark.parametrize("name", ["gaussian", "rademacher", "ctr_rademacher", *MACLAURIN])
def test_the_deviation_is_a_fraction_of_that_with_degree_1(name):
    split = split_of(*sets(d=12, n=300, m=200))
    one, two = (run(split, name, degree=6, resamples=200, subsets=0, exact_degree=k)[0]["kid_std"] for k in (1, "auto"))
    assert two < one / 2


def test_few_features_and_wide_rows_do_with_degree_1(monkeypatch):
    def last_known(name, data=(X, Y), **options):
        return run(split_of(*data), name, subsets=0, **{"resamples": 2} | options)[1]["kid"][-1]

    assert last_known("gaussian") == "2"
    assert last_known("gaussian", sets(d=40)) == "1"
    assert last_known("gaussian", D=2, degree=6, resamples=20, exact_degree=2) == "1"  # four degrees need four features
    assert last_known("ctr_tensorsrht", resamples=20) == "1"
    monkeypatch.setattr("rfbench.tasks.kid.task.MATRICES_BYTES", 16 * 2 * 5**2 - 1)
    assert last_known("gaussian") == "1"


def test_an_odd_column_of_pairs_is_left_out():
    """It is of degree 1, which is known."""
    sketch = make_sketch("random_maclaurin", KERNEL, base="ctr_rademacher")
    assert [known_part(KERNEL, sketch, X, 33, m)[2] for m in (1, 2)] == [32, 32]


def test_no_degree_is_left_out():
    """Whatever p_max was given to the sketch of the kernel."""
    sketch = make_sketch("random_maclaurin", KERNEL, p_max=3)
    assert known_part(KERNEL, sketch, X, 32, 2)[1].series.support == [3, 4]


def test_single_precision_rounds_nothing_that_is_known(monkeypatch):
    """Rows for which (x·y/d + 1)ᵖ is nearly linear: draws differ by less than single precision rounds their mean."""
    A, B = (rows / 40 for rows in sets(n=2000, m=1500, d=8))

    def found():
        split = split_of(A, B, np.float32)
        return run(split, "gaussian", D=16, dtype=np.float32, resamples=50, subsets=0)[0]

    exactly = found()
    assert exactly["kid_std"] < 1e-7 * exactly["kid"]
    assert abs(z(exactly, 50)) < 4
    monkeypatch.setattr(Remainder, "rows", Tangent.rows)  # the negative control
    assert abs(z(found(), 50)) > 5
