"""Maclaurin sketches: unbiased for the truncated series, with the variance they state, and D columns in all."""

import numpy as np
import pytest
from support import oracles, stats
from support.stats import LIMIT

from rfbench.checks import InputError
from rfbench.kernels import kernel_recipe, make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.maclaurin.optimized import AllocatedMaclaurin
from rfbench.sketches.wrappers import ComplexToRealMap

pytestmark = pytest.mark.medium

KERNELS = {
    "polynomial": make_kernel("polynomial", 3),
    "polynomial_sphere": make_kernel("polynomial_sphere", 20, a=4),
    "exponential": make_kernel("exponential", 3, length_scale=1.2),
    "gaussian": make_kernel("gaussian", 3, length_scale=0.9),
}
BASES = ("rademacher", "stacked_tensorsrht", "complex_rademacher", "ctr_gaussian", "ctr_stacked_tensorsrht")
OTHERS = ("gaussian", "tensorsrht", "ahle_tensorsrht", "complex_stacked_tensorsrht", "ctr_rademacher", "ctr_tensorsrht")
TENSOR_SKETCHES = ("tensorsketch", "complex_tensorsketch", "ctr_tensorsketch")
D = 40


def optimized(kernel, X, base="rademacher", D=D, **options):
    return make_sketch("optimized_maclaurin", kernel, base=base, **options).adapt(X, D)


def squared_error(sketch, X, D):
    """Variance and squared bias, in the mean over pairs: another base may afford another p."""
    bias = oracles.truncated(sketch.kernel, np.flatnonzero(sketch.allocation), X) - sketch.kernel.gram(X, X)
    return stats.of_pairs(sketch.closed_form.variance(X, X, D) + bias**2).mean()


def judged(sketch, kernel, degrees, X, draws, seed=1):
    values = stats.estimates(sketch, X, D, draws, seed)
    k, V = (stats.of_pairs(M) for M in (oracles.truncated(kernel, degrees, X), sketch.closed_form.variance(X, X, D)))
    return stats.z_of_mean(values, k, V), stats.variance_ratio(values, k, V)[0]


@pytest.mark.parametrize(
    ("base", "kernel"),
    [(base, kernel) for base in BASES for kernel in ("polynomial", "gaussian")]
    + [(base, "polynomial_sphere") for base in OTHERS]
    + [("rademacher", "exponential")],
)
def test_optimized_has_the_mean_and_variance_of_its_degrees(base, kernel, wine):
    kernel = KERNELS[kernel]
    sketch = optimized(kernel, wine, base)
    z, ratio = judged(sketch, kernel, np.flatnonzero(sketch.allocation), wine, 1200)
    assert z < LIMIT
    assert 0.9 < ratio < 1.1, ratio


@pytest.mark.parametrize("base", TENSOR_SKETCHES)
def test_optimized_over_tensor_sketch_has_the_mean_and_variance_of_its_degrees(base, wine):
    kernel = KERNELS["polynomial"]
    sketch = optimized(kernel, wine, base, p_min=3)
    values = stats.estimates(sketch, wine, D, 400, 1)
    k, V = (stats.of_pairs(M) for M in (kernel.gram(wine, wine), sketch.closed_form.variance(wine, wine, D)))
    assert stats.z_of_mean(values, k, V) < LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < 4 * error < 0.4, (ratio, error)


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
@pytest.mark.parametrize(
    ("base", "columns"), [("rademacher", D), ("complex_gaussian", D), ("ctr_rademacher", D), ("ctr_rademacher", D + 1)]
)
def test_random_has_the_mean_and_variance_of_its_series(base, kernel, columns, wine):
    """Few features, so that degrees are often left without any; an odd column of pairs changes nothing."""
    kernel = KERNELS[kernel]
    sketch = make_sketch("random_maclaurin", kernel, base=base, p_max=3)
    values = stats.estimates(sketch, wine, columns, 1500, 2)
    k = stats.of_pairs(oracles.truncated(kernel, range(4), wine))
    V = stats.of_pairs(sketch.closed_form.variance(wine, wine, columns))
    assert stats.z_of_mean(values, k, V) < LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < max(4 * error, 0.1), (ratio, error)


@pytest.mark.slow
@pytest.mark.parametrize(("base", "columns"), [("rademacher", 8), ("ctr_rademacher", 13), ("ctr_rademacher", 14)])
def test_random_has_the_variance_of_its_degrees_alone_on_an_axis(base, columns):
    """There Rademacher features are exact, and all that varies is how many of them a degree has, in pairs or not."""
    X, kernel = np.diag([1.3, 0.0, 0.0])[[0, 0]] * [[1.0], [1.2]], make_kernel("polynomial", 3)
    sketch = make_sketch("random_maclaurin", kernel, base=base)
    values = stats.estimates(sketch, X, columns, 20_000, 5)
    k, V = (stats.of_pairs(M) for M in (kernel.gram(X, X), sketch.closed_form.variance(X, X, columns)))
    assert stats.z_of_mean(values, k, V) < LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < 4 * error < 0.1, (ratio, error)


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
@pytest.mark.parametrize("base", ["rademacher", "complex_gaussian", "ctr_rademacher"])
def test_random_with_an_exact_degree_1_has_the_mean_and_variance_of_the_others(base, kernel, wine):
    """H0/1 of Kar & Karnick: 13 columns, one constant, and features of degrees 2 and 3 only."""
    kernel = KERNELS[kernel]
    sketch = make_sketch("random_maclaurin", kernel, base=base, p_max=3, exact_degree=1)
    plain = make_sketch("random_maclaurin", kernel, base=base, p_max=3)
    assert sketch.support == [2, 3]
    features = sketch.sample(13, D, np.random.default_rng(0), np.float64)
    assert (features.counts[1], features.counts[0], sum(features.counts.values()), features.D) == (13, 1, D, D)
    values = stats.estimates(sketch, wine, D, 1500, 2)
    k = stats.of_pairs(oracles.truncated(kernel, range(4), wine))
    V, of_plain = (stats.of_pairs(s.closed_form.variance(wine, wine, D)) for s in (sketch, plain))
    assert stats.z_of_mean(values, k, V) < LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < max(4 * error, 0.1), (ratio, error)
    assert stats.z_of_mean(values, stats.of_pairs(oracles.truncated(kernel, (0, 2, 3), wine)), V) > LIMIT  # the control
    assert not 0.8 < stats.variance_ratio(values, k, of_plain)[0] < 1.2


def test_an_exact_degree_1_leaves_an_odd_column_of_pairs_out_and_needs_room():
    sketch = make_sketch("random_maclaurin", KERNELS["polynomial"], base="ctr_rademacher", exact_degree=1)
    assert [sketch.count(13, columns) for columns in (40, 41)] == [40, 40]
    assert sketch.sample(13, 40, np.random.default_rng(0)).D == 40
    with pytest.raises(InputError, match="of 13 columns needs at least 16 features"):
        sketch.count(13, 15)
    for kernel, options in ((make_kernel("polynomial", 1), {}), (KERNELS["gaussian"], {"p_max": 1})):
        with pytest.raises(InputError, match="leaves no degree"):
            make_sketch("random_maclaurin", kernel, exact_degree=1, **options)
    with pytest.raises(InputError, match="0 or 1"):
        make_sketch("random_maclaurin", KERNELS["gaussian"], exact_degree=2)
    homogeneous = make_sketch("random_maclaurin", make_kernel("polynomial", 3, bias=0.0), exact_degree=1)
    assert (homogeneous.linear, homogeneous.support) == (False, [3])


HADAMARD = ["stacked_tensorsrht", "complex_tensorsrht", "ctr_stacked_tensorsrht"]


@pytest.mark.parametrize("base", [*HADAMARD, *TENSOR_SKETCHES])
def test_random_over_features_that_depend_on_each_other_is_unbiased(base, wine):
    kernel = KERNELS["polynomial"]
    sketch = make_sketch("random_maclaurin", kernel, base=base)
    assert sketch.closed_form is None
    values = stats.estimates(sketch, wine, D, 300 if base in TENSOR_SKETCHES else 1000, 3)
    k = stats.of_pairs(kernel.gram(wine, wine))
    assert stats.z_of_mean(values, k, np.mean(np.abs(values - k) ** 2, axis=0)) < LIMIT


def test_degrees_are_drawn_from_mu(wine):
    """μ(n) ∝ c^−(n+1) on the degrees of the kernel."""
    sketch = make_sketch("random_maclaurin", KERNELS["polynomial"], c=3)
    mu = sketch.draws(D)[0]
    np.testing.assert_allclose(mu, np.array([9, 3, 1]) / 13)
    rng = np.random.default_rng(0)
    counts = np.array(
        [[m.W.shape[0] for m in sketch.sample(13, D, rng).maps[:-1] for _ in range(m.D)] for _ in range(400)]
    )
    found = np.bincount(counts.ravel(), minlength=4)[1:] / counts.size
    np.testing.assert_allclose(found, mu, atol=4 * np.sqrt(0.25 / counts.size))


@pytest.mark.parametrize("name", ["random_maclaurin", "optimized_maclaurin"])
@pytest.mark.parametrize("base", [*BASES, *OTHERS, *TENSOR_SKETCHES])
def test_there_are_D_columns_and_degree_zero_is_one_of_them(name, base, wine):
    for kernel in (KERNELS["polynomial_sphere"], KERNELS["gaussian"]):
        for columns in (D, D + 1):
            sketch = make_sketch(name, kernel, base=base).adapt(wine, columns)
            features = sketch.sample(13, columns, np.random.default_rng(0), np.float64)
            Phi = features(wine)
            assert Phi.shape == (15, columns)
            np.testing.assert_allclose(Phi[:, -1], np.sqrt(kernel.coefficients(np.array([0]))) * kernel.radial(wine))
            assert all(part.D > 0 for part in features.maps)


def test_degrees_without_a_coefficient_have_no_feature(wine):
    sketch = optimized(make_kernel("polynomial", 3, bias=0.0), wine, "ctr_rademacher")
    assert sketch.allocation == (0, 0, 0, D)
    assert sketch.facts() == {"allocation": {"3": D}}
    random = make_sketch("random_maclaurin", make_kernel("polynomial", 3, bias=0.0))
    assert random.support == [3]
    assert [part.D for part in random.sample(13, D, np.random.default_rng(0)).maps] == [D]


def test_the_polynomial_caps_the_degree_and_p_min_holds_it(wine):
    assert len(optimized(make_kernel("polynomial", 1), wine).allocation) == 2
    assert len(optimized(KERNELS["polynomial"], wine, p_min=3).allocation) == 4
    assert len(optimized(KERNELS["polynomial_sphere"], wine, p_min=7).allocation) >= 8


@pytest.mark.parametrize("columns", [D, D + 1])
def test_complex_to_real_features_come_in_pairs_of_complex_weights(columns, wine):
    sketch = optimized(KERNELS["polynomial_sphere"], wine, "ctr_rademacher", columns)
    assert sum(sketch.allocation) == columns
    assert all(D_n % 2 == 0 for D_n in sketch.allocation[2:])
    first, *pairs, constant = sketch.sample(13, columns, np.random.default_rng(0)).maps
    assert constant.D == 1
    assert not isinstance(first, ComplexToRealMap)  # degree 1, where a pair is two real features
    assert pairs
    for part in pairs:
        assert isinstance(part, ComplexToRealMap)
        assert part.base.D == part.D // 2
        assert {1, -1, 1j, -1j} == set(np.unique(part.base.W[1]).tolist())


def test_complex_to_real_wins_on_rows_without_signs(digits):
    """At degree 6 of non-negative rows [Wacker 2022, 4.2]; both have 256 columns."""
    kernel, X = make_kernel("polynomial", 6), digits[:100]
    for base in ("rademacher", "stacked_tensorsrht"):
        real, ctr = (squared_error(optimized(kernel, X, name, 256), X, 256) for name in (base, f"ctr_{base}"))
        assert ctr < real


def test_the_radial_factor_multiplies_rows(wine):
    """The Gaussian kernel is the exponential one between rows scaled by g."""
    X = 1.7 * wine
    options = {"length_scale": 1.3}
    plain, radial = (
        AllocatedMaclaurin(make_kernel(name, 3, **options), "ctr_rademacher", (1, 11, 16, 12))
        for name in ("exponential", "gaussian")
    )
    Phi, Psi = (s.sample(13, D, np.random.default_rng(5), np.float64)(X) for s in (plain, radial))
    g = np.exp(-np.sum(X**2, axis=1) / (2 * 1.3**2))
    np.testing.assert_allclose(Psi, g[:, None] * Phi)
    np.testing.assert_allclose(
        radial.closed_form.variance(X, X, D), np.outer(g, g) ** 2 * plain.closed_form.variance(X, X, D)
    )


def test_more_features_are_never_allocated_worse(digits):
    kernel, X = KERNELS["polynomial_sphere"], digits[:100]
    errors = [squared_error(optimized(kernel, X, D=columns), X, columns) for columns in (20, 80, 320, 1280)]
    assert sorted(errors, reverse=True) == errors


def test_sorted_rows_are_sampled(digits):
    """500 rows, alike at the start, are not judged by those."""
    X = np.concatenate((np.repeat(digits[:1], 600, axis=0), digits))
    allocations = [optimized(KERNELS["gaussian"], Z, D=400).allocation for Z in (X, X[::-1])]
    np.testing.assert_allclose(*allocations, atol=40)


MISTAKES = [
    ({"base": "rademacer"}, D, "did you mean 'rademacher'"),
    ({"p_min": 5, "p_max": 4}, D, "sketch.p_min must be from 1 to sketch.p_max=4"),
    ({"p_max": 2.5}, D, "a whole number"),
    ({"rows": 1}, D, "at least 2"),
    ({}, 2, "at least 3 features"),
    ({"base": "ctr_gaussian"}, 3, "at least 5 features"),
]


@pytest.mark.parametrize(("options", "columns", "words"), MISTAKES)
def test_mistakes_are_named(options, columns, words, wine):
    with pytest.raises(InputError, match=words):
        make_sketch("optimized_maclaurin", KERNELS["polynomial"], **options).adapt(wine, columns)


def test_other_mistakes_are_named(wine):
    homogeneous = make_kernel("polynomial", 3, bias=0.0)
    for name in ("random_maclaurin", "optimized_maclaurin"):
        assert "even number" in make_sketch(name, homogeneous, base="ctr_rademacher").objection(7)
        assert make_sketch(name, homogeneous, base="ctr_rademacher").objection(8) is None
        with pytest.raises(InputError, match="at least 3"):
            make_sketch(name, homogeneous, p_max=2).objection(8)
    with pytest.raises(InputError, match=r"sketch\.c must be above 1"):
        make_sketch("random_maclaurin", homogeneous, c=1)
    with pytest.raises(InputError, match="call adapt"):
        make_sketch("optimized_maclaurin", homogeneous).sample(13, D, np.random.default_rng(0))
    with pytest.raises(InputError, match="is for 40 features; 41"):
        optimized(homogeneous, wine).sample(13, 41, np.random.default_rng(0))
    with pytest.raises(InputError, match="training rows"):
        optimized(homogeneous, wine[:1])


def test_a_median_length_scale_is_not_needed_to_count_features():
    kernel = kernel_recipe("gaussian", 3, length_scale="median").provisional()
    for name in ("random_maclaurin", "optimized_maclaurin"):
        assert make_sketch(name, kernel).objection(D) is None
