"""Theorems against values computed by hand, their proofs, and simulation."""

from math import e, exp, inf, log, sqrt

import numpy as np
import pytest
from support.stats import LIMIT
from support.zoo import kernel_of, sketch_of

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch, theorems_of
from rfbench.sketches.fourier.operator_valued import FieldFourier
from rfbench.sketches.theorems.uniform import sparse

RNG = np.random.default_rng(0)
HALF = np.full((2, 2), sqrt(0.5))  # twice the row (1, 1)/√2


def theorem(name, sketch, kernel, X):
    return next(one for one in theorems_of(sketch, kernel, X) if one.name == name)


def made(name, X, wanted, kernel="polynomial", degree=1, sketch_options=(), **options):
    kernel = make_kernel(kernel, degree, **options)
    return theorem(wanted, make_sketch(name, kernel, **dict(sketch_options)), kernel, X)


def test_tensorsketch_by_hand():
    """(2 + 3²)/(100 · 0.5²) = 0.44; 11/(0.1 · 0.25) = 440 features."""
    found = made("tensorsketch", np.eye(2)[:1], "wacker_2_2_1", degree=2, bias=0.0)
    assert found.bound(0.5, 100) == pytest.approx(0.44)
    assert found.demanded(0.5, 0.1) == 440


def test_tensorsketch_counts_the_appended_bias():
    """(x·y + 1)² of unit rows is ⟨·, ·⟩² of rows with the squared norm 2, whose size is 4."""
    found = made("tensorsketch", np.eye(2)[:1], "wacker_2_2_1", degree=2)
    assert found.bound(0.5, 100) == pytest.approx(11 * 16 / (100 * (0.5 * 4) ** 2))


@pytest.mark.parametrize(("name", "q"), [("rademacher", 1.0), ("complex_rademacher", 0.5), ("ctr_rademacher", 0.5)])
@pytest.mark.parametrize("p", [1, 3])
def test_rademacher_sketches_demand_what_equation_3_21_says(name, q, p):
    """Rows (1, …, 1)/√d have σ² = (3 − 2/d)ᵖ − 1 real and (2 − 1/d)ᵖ − 1 complex [Wacker 2022, 3.4]."""
    d, t, delta = 2, 0.5, 0.1
    found = made(name, HALF, "wacker_3_4_1", degree=p, bias=0.0)
    variance = ((3 - 2 / d) if q == 1 else (2 - 1 / d)) ** p - 1
    epsilon = t / d**p  # ‖x‖₁ = √d
    wanted = 2 * (2 / (3 * epsilon) + variance / epsilon**2) * log(2 / delta)
    wanted *= 2 if name.startswith("ctr") else 1  # a complex feature has two columns
    assert wanted <= found.demanded(t, delta) <= wanted + 4
    sharp = made(name, HALF, "bernstein", degree=p, bias=0.0)
    assert sharp.demanded(t, delta) < found.demanded(t, delta)


def test_uniform_bounds_by_hand():
    """d = 2, l = 1, σ² = 2, diameter 1, 1000 frequencies, ε = ½; one nonzero entry, so z = 2."""
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    options = {"kernel": "gaussian", "length_scale": 1.0}
    assert made("rff", X, "rahimi_recht", **options).bound(0.5, 2000) == pytest.approx(
        256 * 2 / 0.25 * exp(-1000 * 0.25 / 16)
    )
    chang = made("rff", X, "chang_1", **options).tail(0.5, 2000)
    assert chang == pytest.approx(3 * (6 * e * 2 * sqrt(2) / (2 * 0.5)) * exp(-1000 * 0.25 / 16))
    coupled = {"kernel": "decomposable", "length_scale": 1.0, "coupling": [[2.0, 1.0], [1.0, 2.0]]}
    brault = made("orff_decomposable", X, "brault_a_1_1", **coupled)
    assert brault.bound(0.5, 2000) == made("rff", X, "rahimi_recht", **options).bound(0.5, 2000)


def test_fields_by_hand():
    """d = 2, l = 1, curl-free: ‖A‖ = 2, K(0) = 1, b = 2, σ² = 4 E‖ω‖² = 16, C = 2 · 2 · 2^3.5."""
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    found = made("orff_curl_free", X, "brault_3_1", kernel="curl_free", length_scale=1.0)
    m = 4 * (2 / log(2) + 1)
    u = 2 * m * log(2**1.5 * m**2 / 2)
    assert 0.3 * u > 4 * (e - 1) * 2  # the second line
    assert found.tail(0.3, 2000) == pytest.approx(2 * 2 * 2**3.5 * 4 / 0.3 * exp(-1000 * 0.3 / (4 * (e - 1) * u)))
    small = 0.01
    assert small * u < 4 * (e - 1) * 2
    assert found.tail(small, 2000) == pytest.approx(
        2 * 2 * 2**3.5 * 4 / small * exp(-1000 * small**2 / (32 * (2 + small * u / 6)))
    )


@pytest.mark.parametrize("name", ["curl_free", "div_free", "helmholtz"])
def test_bounds_of_fields_do_not_depend_on_the_unit(name):
    """As the paper prints it, with m²/b² for m²/b, the bound of a field would change with the unit of length."""
    X = RNG.standard_normal((4, 3))
    near, far = (
        made(f"orff_{name}", s * X, "brault_3_1", kernel=name, length_scale=0.7 * s).tail(0.5, 10**5)
        for s in (1.0, 10.0)
    )
    assert near == pytest.approx(far)


def test_the_moments_of_fields_are_those_of_draws():
    """‖A(ω)‖ and E‖ω‖²‖A‖², which the bound has in closed form, from the couplings of a draw."""
    d, kernel = 3, make_kernel("helmholtz", 1, length_scale=0.7, curl_free=0.3)
    features = make_sketch("orff_helmholtz", kernel).sample(d, 4000, np.random.default_rng(0), np.float64)
    Omega = features.base.base.W.T
    assert np.mean(np.sum(Omega**2, 1)) == pytest.approx((d + 2) / 0.49, rel=0.05)
    origin = np.zeros((1, d))
    K = features.product(features(origin), features(origin))
    assert np.linalg.norm(K, 2) == pytest.approx(np.linalg.norm(kernel.gram(origin, origin), 2), rel=0.1)


def test_gaussian_frequencies_of_fields_have_their_own_moments():
    """As published, A(ω) = ωωᵀ with Gaussian ω: unbounded, sub-exponential. d = 2, l = 1: b = 4, σ² = 48."""

    class Published(FieldFourier):
        def weighted(self, Omega):
            return Omega, Omega

    kernel, X = make_kernel("curl_free", 1, length_scale=1.0), np.array([[0.0, 0.0], [1.0, 0.0]])
    psi = 2 / (1 - 2 ** (-2 / 2))
    rho = np.sum(np.random.default_rng(0).standard_normal((10**6, 2)) ** 2, axis=1)
    assert np.mean(np.exp(rho / psi)) == pytest.approx(2, rel=0.02)
    assert [np.mean(rho**2) / 2, np.mean(rho**3)] == pytest.approx([4, 48], rel=0.05)
    m = 4 * (psi + 1)
    u = 2 * m * log(2**1.5 * m**2 / 4)
    wanted = 2 * 2 * 2**3.5 * sqrt(48) / 0.5 * exp(-1000 * 0.5 / (4 * (e - 1) * u))
    assert theorem("brault_3_1", Published(kernel), kernel, X).tail(0.5, 2000) == pytest.approx(wanted)


@pytest.mark.parametrize("z", [1, 2, 6])
def test_the_constant_of_chang_is_that_of_its_proof(z):
    """2α r^−z + β r², least over r: ours is above it with a net of (3l/r)ᶻ balls, the printed one below its own."""
    d, size, epsilon, n = 8, 5.0, 0.1, 4000
    r = np.logspace(-8, 2, 4001)

    def least(net):
        alpha = z * np.log(net * e * d * size / z) - n * epsilon**2 / 8
        return np.min(2 * np.exp(alpha) * r**-z + (2 / epsilon) ** 2 * r**2)

    printed = 3 * (2 * e * d * size / (z * epsilon)) ** (2 * z / (z + 2)) * exp(-n * epsilon**2 / (4 * (z + 2)))
    assert least(3) <= sparse(epsilon, n, d, z, size) * 1.001
    assert printed < 0.8 * least(2)


def test_the_union_bound_of_the_optical_paper_fails():
    """Ohana et al. 2019, Eq. 28, at one standard deviation for x = y: |⟨u, x⟩|² is exponential."""
    m, D, rng = 2, 1000, np.random.default_rng(0)
    W = rng.exponential(size=(4000, D))
    k, k2 = 2, 24  # E Wⁿ = n!
    t = sqrt((k2 - k**2) / D)
    truth = np.mean((W**m).mean(1) - k >= t)
    claimed = D * exp(-((D * t) ** (1 / m) + k ** (1 / m)))
    assert truth > 0.08
    assert claimed < 0.05 * truth


def test_optical_bound_by_hand():
    """x = y = e₁, m = 2: k = 2, V = 24 − 4, s = 1; terms above w² have the probability 2 exp(−w) or less."""
    found = made("optical", np.eye(2)[:1], "wacker_6_2_3", kernel="optical", exponent=2.0)
    D, t = 10**6, 0.5
    w = np.linspace(1, 100, 199)
    above = 2 * D * np.exp(-w) + np.exp(-D * t**2 / (2 * (20 + t * np.maximum(w**2 - 2, 0) / 3)))
    assert found.bound(t / 2, D) == pytest.approx(above.min() + np.exp(-D * t**2 / (2 * (20 + t * 2 / 3))))
    assert found.bound(t / 2, D) < 1e-20


def test_measurements_by_hand_and_above_the_measured_tail():
    """One nonzero entry, so z = 2; rows that differ in one entry each have ⟨x, y⟩ = 0 and the largest errors."""
    d, m, epsilon = 256, 192, 0.9
    X = np.eye(d)[:12]
    found = made("compressive_identity", X, "chang_3", kernel="linear", sketch_options={"measurements": m})
    by_hand = 2 * (12 / 0.9) ** 2 * (e * d / 2) ** 2 * exp(-(0.9**2 / 16 - 0.9**3 / 48) * 2000)
    big = made("compressive_identity", np.eye(4000)[:2], "chang_3", kernel="linear")
    assert big.tail(epsilon, 2000) == pytest.approx(by_hand * (4000 / d) ** 2)
    assert found.demanded(0.1, 0.1) == inf  # more than the columns
    assert big.demanded(0.9, 0.1) < 1000 < big.demanded(0.5, 0.1) < 4000
    sketch, rng = (
        make_sketch("compressive_identity", make_kernel("linear", 1), measurements=m),
        np.random.default_rng(5),
    )
    largest = np.array([np.abs(matrix(sketch.sample(d, m, rng, np.float64), X) - np.eye(12)).max() for _ in range(10)])
    for level in (0.1, 0.2, 0.5, 0.9):
        assert (largest > level).mean() <= found.bound(level, m)
    assert largest.max() < 0.3  # the theorem is far from tight: it guarantees nothing below 0.9 here
    assert not theorems_of(make_sketch("compressive_identity", make_kernel("linear", 1), projector="bernoulli"),
                           make_kernel("linear", 1), X)  # fmt: skip


CASES = {
    "rademacher": ("chebyshev", "wacker_3_4_1", "bernstein"),
    "ctr_rademacher": ("chebyshev", "bernstein"),
    "complex_rademacher": ("bernstein",),
    "tensorsketch": ("wacker_2_2_1",),
    "tensorsrht": ("chebyshev",),
    "optical": ("chebyshev", "ohana_c", "wacker_6_2_3"),
    "rff": ("chebyshev",),
}


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_above_the_measured_tails(name):
    """Of every pair, at the ε where the bound is 0.5, 0.1 and 0.02; a tenth of Chebyshev's is not above."""
    X = np.abs(np.random.default_rng(1).standard_normal((5, 4)))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    kernel = kernel_of(name, 2, **({"exponent": 1.0} if name == "optical" else {}))
    sketch, pairs = make_sketch(name, kernel), np.triu_indices(5)
    D, draws, rng = 32, 1000, np.random.default_rng(2)
    K = kernel.gram(X, X)
    size = np.sqrt(np.outer(np.diag(K), np.diag(K)))[pairs]
    errors = np.array([np.abs(matrix(sketch.sample(4, D, rng, np.float64), X) - K)[pairs] for _ in range(draws)]) / size
    for wanted in CASES[name]:
        found = theorem(wanted, sketch, kernel, X)
        for epsilon in (np.quantile(errors, level) for level in (0.5, 0.9, 0.98)):
            bound, tail = np.clip(found.tail(epsilon, D), 1e-6, 1), (errors > epsilon).mean(0)
            assert np.max((tail - bound) / np.sqrt(bound * (1 - bound) / draws + 1e-9)) < LIMIT, (wanted, epsilon)
            if wanted == "chebyshev" and name != "optical":
                low = np.clip(bound / 20, 1e-6, 1)
                assert np.max((tail - low) / np.sqrt(low * (1 - low) / draws)) > LIMIT


def matrix(features, X):
    Phi = features(X)
    return features.product(Phi, Phi).real


def test_uniform_bounds_are_above_the_measured_tail():
    X = np.random.default_rng(3).uniform(size=(30, 1))
    kernel = make_kernel("gaussian", 1, length_scale=1.0)
    sketch, K, rng = make_sketch("rff", kernel), kernel.gram(X, X), np.random.default_rng(4)
    largest = np.array([np.abs(matrix(sketch.sample(1, 1000, rng, np.float64), X) - K).max() for _ in range(300)])
    for name in ("rahimi_recht", "chang_1"):
        found = theorem(name, sketch, kernel, X)
        for epsilon in np.linspace(0.05, 0.8, 16):
            assert (largest > epsilon).mean() <= found.bound(epsilon, 1000) + 3 * sqrt(0.25 / 300)
        assert found.bound(0.6, 1000) < 0.5


@pytest.mark.parametrize(
    "name", [*CASES, "compressive_rff", "compressive_identity", "orff_curl_free", "orff_div_free", "orff_decomposable"]
)
def test_bounds_fall_with_features_and_with_the_error(name):
    X = np.random.default_rng(0).standard_normal((4, 5))
    for found in theorems_of(sketch_of(name), kernel_of(name), X):
        # Hash functions of two values collide as often as they please: the variance of TensorSketch may rise to four.
        by_features = [found.bound(0.3, 2**n) for n in range(2, 40)]
        by_error = [found.bound(epsilon, 4096) for epsilon in np.logspace(-2, 2, 30)]
        for values in (by_features, by_error):
            assert (np.diff(values) <= 1e-12).all(), found.name
        demanded = found.demanded(0.3, 0.1)
        if demanded < inf:
            assert found.bound(0.3, demanded) <= 0.1 < found.bound(0.3, max(demanded - 2, 1))
            assert demanded % 2 == 0


def test_compressive_features_have_a_vacuous_bound():
    """Its second term does not fall with the features."""
    X = np.eye(6)[:3]
    assert theorem("chang_2", sketch_of("compressive_rff"), kernel_of("compressive_rff"), X).demanded(0.3, 0.1) == inf


@pytest.mark.parametrize("name", ["sorf", "phase_sorf", "hierarchical", "fastfood"])
def test_other_sketches_have_no_theorem(name):
    assert not theorems_of(sketch_of(name), kernel_of(name), np.eye(3))
