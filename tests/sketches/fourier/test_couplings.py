"""Couplings of frequencies: each keeps its law, together they lower the variance as the closed forms say."""

import numpy as np
import pytest
from scipy.special import hyp1f1
from scipy.stats import chi, f, kstest, norm
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.fourier.norms import paired_uniform
from rfbench.sketches.fourier.options import CHOICES, choose
from rfbench.sketches.fourier.pairs import independent_lengths, mean_of_pairs
from rfbench.sketches.fourier.quasi import POINTS, generator, worst_case
from rfbench.sketches.fourier.waves import Fourier

LIMIT = 4.5
GAUSSIAN = make_kernel("gaussian", length_scale=0.9)
MATERN = make_kernel("matern", nu=1.5, length_scale=0.9)
EXPONENTIAL = make_kernel("exponential", length_scale=1.4)
UNBIASED = [name for name in CHOICES if name not in ("structured", "matched")]


@pytest.mark.parametrize("norms", [None, "paired"])
@pytest.mark.parametrize("directions", UNBIASED)
@pytest.mark.parametrize(
    ("name", "kernel"), [("rff", GAUSSIAN), ("rff", MATERN), ("favor", EXPONENTIAL), ("exponential_rff", EXPONENTIAL)]
)
def test_every_coupling_is_unbiased(name, kernel, directions, norms, wine):
    if norms and directions in POINTS:
        pytest.skip("these points keep their lengths")
    sketch, X = make_sketch(name, kernel, directions=directions, norms=norms), wine[:5]
    k = stats.of_pairs(kernel.gram(X, X))
    values = stats.estimates(sketch, X, 20, 400, seed=1)
    assert stats.z_of_mean(values, k, np.var(values, axis=0)) < LIMIT
    assert stats.z_of_mean(1.3 * values, k, np.var(values, axis=0)) > LIMIT


@pytest.mark.parametrize("norms", ["independent", "paired"])
@pytest.mark.parametrize("directions", ["orthogonal", "simplex"])
@pytest.mark.parametrize(
    ("name", "kernel", "D"),
    [("rff", GAUSSIAN, 40), ("complex_rff", GAUSSIAN, 20), ("phase_rff", GAUSSIAN, 20), ("favor", EXPONENTIAL, 20)],
)
def test_variance_is_the_closed_form(name, kernel, D, directions, norms, wine):
    """20 frequencies of 13 columns: a whole block and a part of one."""
    sketch, X = make_sketch(name, kernel, directions=directions, norms=norms), wine[:8]
    values = stats.estimates(sketch, X, D, 1000, seed=2)
    k, V = stats.of_pairs(kernel.gram(X, X)), stats.of_pairs(sketch.closed_form.variance(X, X, D))
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < max(0.06, 4 * error), (ratio, error)


def test_the_closed_form_of_bessel_kernels(wine):
    kernel, X = make_kernel("bessel", length_scale=1.1), wine[:8]
    sketch = make_sketch("orf", kernel)
    values = stats.estimates(sketch, X, 26, 1000, seed=4)
    k, V = stats.of_pairs(kernel.gram(X, X)), stats.of_pairs(sketch.closed_form.variance(X, X, 26))
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < max(0.06, 4 * error), (ratio, error)


@pytest.mark.parametrize("d", [2, 5, 16, 40])
def test_the_mean_of_orthogonal_pairs_is_a_confluent_function(d):
    s = np.linspace(0, 9, 40)
    for sign in (-1, 1):
        found = mean_of_pairs(independent_lengths(d), d, 0.0, s, sign)
        np.testing.assert_allclose(found, hyp1f1(d, d / 2, sign * s / 2), rtol=1e-6, atol=1e-9)


def test_orders_of_the_couplings_at_16_columns_and_16_frequencies():
    """Orthogonal frequencies vary a sixth as much as independent ones, paired lengths lower it by a third more;
    a simplex is worse than orthogonal for waves and better for positive features."""
    X, Y = np.zeros((1, 16)), np.full((1, 16), np.sqrt(0.45) / 4)

    def variance(name, kernel, D, **options):
        form = make_sketch(name, make_kernel(kernel, length_scale=1.0), **options).closed_form
        return form.variance(X, Y, D).item()

    free, orthogonal, paired, simplex = (
        variance("rff", "gaussian", 32, **options)
        for options in (
            {},
            {"directions": "orthogonal"},
            {"directions": "orthogonal", "norms": "paired"},
            {"directions": "simplex"},
        )
    )
    np.testing.assert_allclose([free, orthogonal, paired], [4.1e-3, 5.9e-4, 3.6e-4], rtol=0.02)
    assert orthogonal < simplex < free
    assert variance("favor", "exponential", 16, directions="simplex") < variance("favor", "exponential", 16)


def test_frequencies_of_a_simplex():
    W = choose("simplex").draw(6, np.ones(15), np.random.default_rng(0), np.float64).W
    cosines = W.T @ W
    np.testing.assert_allclose(cosines[:6, :6], np.where(np.eye(6), 1, -0.2), atol=1e-12)
    np.testing.assert_allclose(cosines[12:, 12:], np.where(np.eye(3), 1, -0.2), atol=1e-12)
    assert choose("simplex").draw(1, np.ones(4), np.random.default_rng(0), np.float64).W.shape == (1, 4)


def test_paired_lengths_are_those_of_the_law_and_of_each_other():
    u = paired_uniform(1001, 7, np.random.default_rng(0))
    np.testing.assert_allclose(u[:3] + u[3:6], 1)
    np.testing.assert_allclose(u[7:10] + u[10:13], 1)
    assert kstest(u, "uniform").pvalue > 0.001
    gaussian, matern = (
        Fourier(kernel, choose("orthogonal", "paired")).radius(7, 4200, np.random.default_rng(1)) * 0.9
        for kernel in (GAUSSIAN, MATERN)
    )
    assert kstest(gaussian, chi(7).cdf).pvalue > 0.001
    assert kstest(matern**2 / 7, f(7, 3).cdf).pvalue > 0.001


@pytest.mark.parametrize("directions", POINTS)
def test_points_are_gaussian_and_differ_between_draws(directions):
    draw = choose(directions).draw
    first, second = (draw(3, np.ones(400), np.random.default_rng(seed), np.float64).W for seed in (0, 1))
    assert np.isfinite(first).all()
    assert not np.allclose(first, second)
    assert all(kstest(column, norm.cdf).pvalue > 0.5 for column in first)  # more even than chance
    on_sphere = choose(directions).on_sphere().draw(3, np.full(9, 2.0), np.random.default_rng(0), np.float64).W
    np.testing.assert_allclose(np.linalg.norm(on_sphere, axis=0), 2)


@pytest.mark.parametrize("directions", POINTS)
def test_points_lower_the_variance_for_few_columns(directions):
    X = np.random.default_rng(0).standard_normal((8, 2))
    k = stats.of_pairs(GAUSSIAN.gram(X, X))
    values = stats.estimates(make_sketch("rff", GAUSSIAN, directions=directions), X, 128, 100, seed=3)
    independent = stats.of_pairs(make_sketch("rff", GAUSSIAN).closed_form.variance(X, X, 128))
    assert stats.variance_ratio(values, k, independent)[0] < 0.5


def test_the_lattice_is_better_than_the_worst_of_its_candidates():
    z = generator(512, 6)
    assert worst_case(z, 512) < 0.5 * worst_case(np.ones(6, int), 512)
    assert len(generator(5, 12)) == 12
    assert generator(1, 3).shape == (3,)


@pytest.mark.parametrize("name", ["srf", "complex_srf"])
@pytest.mark.parametrize("options", [{"directions": "simplex"}, {"directions": "lattice"}, {"norms": "paired"}])
def test_spherical_features_keep_their_mean(name, options, wine):
    kernel = make_kernel("polynomial_sphere", 6, a=2.0)
    sketch, X = make_sketch(name, kernel, **options), wine[:6]
    base = getattr(sketch, "base", sketch)
    values = stats.estimates(sketch, X, 16, 300, seed=5)
    assert stats.z_of_mean(values, stats.of_pairs(base.mean(X, X)), np.var(values, axis=0)) < LIMIT


def test_matched_moments_are_exact_and_lower_the_variance_of_near_rows(wine):
    """The second moment of frequencies is that of the kernel at distance 0: near rows gain, the bias falls with D."""
    W = choose("matched").draw(5, np.ones(40), np.random.default_rng(0), np.float64).W
    np.testing.assert_allclose(W.mean(1), 0, atol=1e-12)
    np.testing.assert_allclose(W @ W.T / 40, np.eye(5), atol=1e-12)
    X, kernel = 0.2 * wine[:6, :4], make_kernel("gaussian", length_scale=0.9)
    k = stats.of_pairs(kernel.gram(X, X))
    values = stats.estimates(make_sketch("rff", kernel, directions="matched"), X, 80, 300, seed=8)
    independent = stats.of_pairs(make_sketch("rff", kernel).closed_form.variance(X, X, 80))
    assert stats.variance_ratio(values, k, independent)[0] < 0.2
    with pytest.raises(InputError, match="more features than columns"):
        choose("matched").draw(5, np.ones(5), np.random.default_rng(0), np.float64)


def test_what_cannot_be_is_refused_in_words():
    with pytest.raises(InputError, match="sobol points keep their lengths"):
        make_sketch("rff", GAUSSIAN, directions="sobol", norms="paired")
    with pytest.raises(InputError, match="truncation=null"):
        make_sketch("rff", make_kernel("bessel"), truncation=3.0).sample(4, 8, np.random.default_rng(0))
    with pytest.raises(InputError, match="use sketch=orf"):
        make_sketch("rff", make_kernel("bessel"), directions="structured")
    with pytest.raises(InputError, match="without options"):
        make_sketch("rff", make_kernel("b_spline", order=1), directions="orthogonal")
    with pytest.raises(InputError, match="independent or paired"):
        make_sketch("srf", make_kernel("polynomial_sphere", 3), norms="constant")
