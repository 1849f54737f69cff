"""Fourier features: mean, variance, rate, and the geometry of their frequencies."""

import numpy as np
import pytest
from scipy.stats import chi, kstest
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.fourier.directions import HAAR, HADAMARD, INDEPENDENT, Linear
from rfbench.sketches.fourier.fastfood import FASTFOOD, Fastfood
from rfbench.sketches.fourier.waves import Fourier, FourierMap, PhaseFourier, PhaseFourierMap, RealFourier

pytestmark = pytest.mark.medium

LIMIT = 4.5  # about 3,000 comparisons
GAUSSIAN = make_kernel("gaussian", 3, length_scale=0.9)
KERNELS = {
    "gaussian": GAUSSIAN,
    "matern12": make_kernel("matern", 3, nu=0.5, length_scale=1.1),
    "matern32": make_kernel("matern", 3, nu=1.5, length_scale=0.8),
    "matern52": make_kernel("matern", 3, nu=2.5, length_scale=0.8),
    "laplacian": make_kernel("laplacian", 3, length_scale=1.1),
    "bessel": make_kernel("bessel", 3, length_scale=1.1),
    "triangle": make_kernel("b_spline", 3, length_scale=1.1, order=0),
    "b_spline": make_kernel("b_spline", 3, length_scale=0.9, order=1),
}


def empirical_z(values, kernel):
    """The largest |z| with the standard error of the draws themselves."""
    return stats.z_of_mean(values, kernel, np.var(values, axis=0))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("name", ["rff", "complex_rff", "phase_rff"])
def test_mean_and_variance_are_the_closed_forms(name, kernel, wine):
    sketch, D = make_sketch(name, kernel), 24
    k, V = stats.of_pairs(kernel.gram(wine, wine)), stats.of_pairs(sketch.closed_form.variance(wine, wine, D))
    values = stats.estimates(sketch, wine, D, 3000, seed=1)
    assert stats.z_of_mean(values, k, V) < LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert 0.9 < ratio < 1.1, (ratio, error)


@pytest.mark.parametrize("kernel", [KERNELS["gaussian"], KERNELS["matern32"]], ids=["gaussian", "matern"])
@pytest.mark.parametrize("name", ["orf", "complex_orf", "phase_orf"])
def test_orthogonal_frequencies_have_the_same_mean_and_no_more_variance(name, kernel, wine):
    k = stats.of_pairs(kernel.gram(wine, wine))
    values = stats.estimates(make_sketch(name, kernel), wine, 24, 3000, seed=2)
    assert empirical_z(values, k) < LIMIT
    independent = make_sketch(name.replace("orf", "rff"), kernel)
    assert stats.variance_ratio(values, k, stats.of_pairs(independent.closed_form.variance(wine, wine, 24)))[0] < 1


def test_real_variance_is_the_formula(wine):
    """(2/D) [(1 + k(2δ))/2 − k(δ)²] and (1 − k²)/D  [Wacker 2022, 2.1]; with phases (1 + k(2δ)/2 − k(δ)²)/D."""
    for kernel in KERNELS.values():
        k, doubled = kernel.gram(wine, wine), kernel.gram(2 * wine, 2 * wine)
        real_, complex_, phase = (
            make_sketch(name, kernel).closed_form.variance(wine, wine, 32)
            for name in ("rff", "complex_rff", "phase_rff")
        )
        np.testing.assert_allclose(real_, ((1 + doubled) / 2 - k**2) / 16, atol=1e-14)
        np.testing.assert_allclose(complex_, (1 - k**2) / 32, atol=1e-14)
        np.testing.assert_allclose(phase, (1 + doubled / 2 - k**2) / 32, atol=1e-14)


class Coordinatewise(Fourier):
    """Matérn frequencies with a t for each coordinate: right for d = 1 only."""

    def sample(self, d, D, rng, dtype=np.float32):
        t = self.kernel.mixing(d * D, rng).reshape(d, D)
        return FourierMap(Linear(rng.standard_normal((d, D)) * t / np.sqrt(self.kernel.l2)))


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern_in_three_dimensions_and_the_coordinatewise_control(nu):
    X = np.array([[0.0, 0, 0], [0.5, 0.5, 0.5], [1, 0, 0], [0.3, -0.8, 1.0]])
    kernel = make_kernel("matern", 3, nu=nu, length_scale=1.0)
    k = stats.of_pairs(kernel.gram(X, X))
    right, wrong = (
        empirical_z(stats.estimates(cls(kernel, INDEPENDENT), X, 100, 500, seed=3), k)
        for cls in (Fourier, Coordinatewise)
    )
    assert right < LIMIT
    assert wrong > 2 * LIMIT


@pytest.mark.parametrize("name", ["rff", "complex_rff", "orf", "complex_orf", "sorf", "complex_sorf", "phase_rff"])
def test_error_falls_with_the_square_root_of_the_features(name, digits):
    sketch, X = make_sketch(name, GAUSSIAN), digits[:60]
    assert -0.6 < stats.rate(sketch, X, GAUSSIAN.gram(X, X), seeds=8) < -0.4


def frequencies(directions, d, radius, seed=0):
    return directions.draw(d, radius, np.random.default_rng(seed), np.float64)(np.eye(d))  # (d, D)


def test_orthogonal_blocks_and_norms():
    rng = np.random.default_rng(0)
    radius = HAAR.norms(13, 13 * 300, rng)
    W = HAAR.draw(13, radius, rng, np.float64).W
    np.testing.assert_allclose(np.linalg.norm(W, axis=0), radius)
    first = W[:, :13] / radius[:13]
    np.testing.assert_allclose(first.T @ first, np.eye(13), atol=1e-12)
    assert abs(first.T @ W[:, 13:26]).max() > 0.1  # another block, another rotation
    assert kstest(radius, chi(13).cdf).pvalue > 0.001
    # Every entry of a Haar matrix is symmetric; the first of a plain Householder Q is always negative.
    assert abs((W.reshape(13, 300, 13)[0, :, 0] > 0).mean() - 0.5) < 0.12


def test_structured_frequencies_are_the_matrix_product():
    """h^{−3/2} H D₁ H D₂ H D₃, by dense matrices; a cut last block keeps its first rows."""
    from support.oracles import hadamard

    radius = np.arange(1.0, 41)
    features = HADAMARD.draw(13, radius, np.random.default_rng(0), np.float64)
    H = hadamard(16)
    blocks = [H @ np.diag(s[2]) @ H @ np.diag(s[1]) @ H @ np.diag(s[0]) / 64 for s in features.signs]
    W = np.concatenate(blocks)[:40] * radius[:, None]
    np.testing.assert_allclose(features(np.eye(13)), W[:, :13].T, atol=1e-12)
    np.testing.assert_allclose(blocks[0] @ blocks[0].T, np.eye(16), atol=1e-12)


class SharedPhase(PhaseFourier):
    """One phase for all features, as Chang et al. 2016 print it."""

    def sample(self, d, D, rng, dtype=np.float32):
        features = super().sample(d, D, rng, dtype)
        return PhaseFourierMap(features.base, np.full_like(features.phases, features.phases[0]))


def test_every_feature_needs_its_own_phase(digits):
    X = digits[:60]
    assert stats.rate(SharedPhase(Fourier(GAUSSIAN, INDEPENDENT)), X, GAUSSIAN.gram(X, X), seeds=8) > -0.2


def test_features_with_phases_are_those_of_scikit_learn(wine):
    """The same frequencies and phases in RBFSampler; any number of features."""
    from sklearn.kernel_approximation import RBFSampler

    features = make_sketch("phase_rff", GAUSSIAN).sample(13, 21, np.random.default_rng(0), np.float64)
    sampler = RBFSampler(n_components=21).fit(wine)
    sampler.random_weights_, sampler.random_offset_ = features.base.W, features.phases
    np.testing.assert_allclose(features(wine), sampler.transform(wine), rtol=1e-12)
    assert make_sketch("phase_rff", GAUSSIAN).objection(21) is None


def test_fastfood_is_the_matrix_product():
    """S H G Π H B by dense matrices; a cut last block keeps its first rows, and every row has the length S."""
    from support.oracles import hadamard

    radius = np.arange(1.0, 41)
    features = FASTFOOD.draw(13, radius, np.random.default_rng(0), np.float64)
    H, I = hadamard(16), np.eye(16)
    signs = np.pad(features.signs, ((0, 0), (0, 3)), constant_values=1)
    blocks = [
        H @ np.diag(g) @ I[at] @ H @ np.diag(b) for g, at, b in zip(features.G, features.places, signs, strict=True)
    ]
    W = np.concatenate(blocks)[:40] * radius[:, None]
    np.testing.assert_allclose(features(np.eye(13)), W[:, :13].T, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(W, axis=1), radius)
    assert all(sorted(at) == list(range(16)) for at in features.places)


def test_frequencies_of_fastfood_are_gaussian():
    """Exactly, though its blocks are structured: against the distribution function, padded or not."""
    for d in (3, 4):
        W = frequencies(FASTFOOD, d, FASTFOOD.norms(d, 4000, np.random.default_rng(0)))[:, ::4]  # one of each block
        for u in (W[0], W.sum(0) / np.sqrt(d), (W[0] - W[1]) / np.sqrt(2)):
            assert kstest(u, "norm").pvalue > 0.001


class OneRadius(Fastfood):
    """Without the scale S: rows of the length √h."""

    def norms(self, d, n, rng):
        return np.full(n, np.sqrt(self.dimension(d)))


@pytest.mark.parametrize("name", ["fastfood", "complex_fastfood", "phase_fastfood"])
def test_fastfood_is_unbiased_even_for_few_columns(name):
    """Where frequencies of one length, as those of SORF, are biased."""
    X = np.random.default_rng(0).standard_normal((8, 3))
    k = stats.of_pairs(GAUSSIAN.gram(X, X))
    sketch = make_sketch(name, GAUSSIAN)
    assert empirical_z(stats.estimates(sketch, X, 16, 2000, seed=5), k) < LIMIT
    if name == "complex_fastfood":
        assert empirical_z(stats.estimates(Fourier(GAUSSIAN, OneRadius()), X, 16, 2000, seed=5), k) > 2 * LIMIT


@pytest.mark.parametrize("nu", [0.5, 2.5])
def test_fastfood_of_matern_kernels(nu, wine):
    kernel = make_kernel("matern", 3, nu=nu, length_scale=0.8)
    values = stats.estimates(make_sketch("fastfood", kernel), wine, 64, 1000, seed=6)
    assert empirical_z(values, stats.of_pairs(kernel.gram(wine, wine))) < LIMIT


def test_structured_marginals():
    """Mean 0, covariance I, and nearly a Gaussian tail: what makes SORF nearly unbiased."""
    d, n = 64, 64 * 1500
    W = frequencies(HADAMARD, d, HADAMARD.norms(d, n, np.random.default_rng(0)))
    assert abs(W.mean(1)).max() < 4.5 / np.sqrt(n)
    C = W @ W.T / n
    assert abs(C - np.eye(d)).max() < 6 * np.sqrt(2 / n)
    x = np.random.default_rng(1).standard_normal(d)
    u = x @ W / np.linalg.norm(x)
    assert abs((u**4).mean() - 3 * d / (d + 2)) < 0.1  # the fourth moment of a uniform direction
    np.testing.assert_allclose(np.linalg.norm(W, axis=0), 8)


@pytest.mark.parametrize("name", ["sorf", "complex_sorf"])
def test_structured_bias_is_small(name, digits):
    X = digits[:20]
    values = stats.estimates(make_sketch(name, GAUSSIAN), X, 512, 200, seed=5)
    assert abs(values.mean(0) - stats.of_pairs(GAUSSIAN.gram(X, X))).max() < 0.01


def test_real_map_is_cosines_then_sines(wine):
    for directions in (INDEPENDENT, HAAR, HADAMARD):
        base = Fourier(GAUSSIAN, directions)
        Z = base.sample(13, 20, np.random.default_rng(1), np.float64)(wine)
        Phi = RealFourier(base).sample(13, 40, np.random.default_rng(1), np.float64)(wine)
        np.testing.assert_allclose(Phi, np.concatenate((Z.real, Z.imag), axis=1), atol=1e-14)
        np.testing.assert_allclose((Phi**2).sum(1), 1)


@pytest.mark.parametrize("name", ["rff", "orf", "sorf", "compressive_rff", "exponential_rff", "srf"])
def test_an_odd_number_of_real_features_is_refused_in_words(name):
    kind = {"exponential_rff": "exponential", "srf": "polynomial_sphere"}.get(name, "gaussian")
    sketch = make_sketch(name, make_kernel(kind, 3))
    assert "pairs" in sketch.objection(7)
    assert sketch.objection(8) is None


def test_another_kernel_is_refused_in_words():
    with pytest.raises(InputError, match="approximates the gaussian kernel"):
        make_sketch("rff", make_kernel("linear", 3))


def test_coincident_rows_have_no_matern_distance(digits):
    """One part in 10¹⁶ lost by cancellation would be 10⁻⁸ under the root."""
    for X in (digits, (1000 + digits).astype(np.float32)):
        K = make_kernel("laplacian", 3).gram(X, X.copy())
        np.testing.assert_array_equal(np.diag(K), 1)
