"""Features of the exponential kernel: positive ones, and Fourier features with a radial factor."""

import numpy as np
import pytest
from scipy.special import gamma, iv
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch

LIMIT = 4.5
KERNEL = make_kernel("exponential", 3, length_scale=1.4)
D = 24


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("favor", {"directions": "independent"}),
        ("favor", {}),
        ("exponential_rff", {}),
        ("exponential_rff", {"directions": "orthogonal"}),
    ],
)
def test_mean_is_the_kernel_and_variance_the_closed_form(name, options, wine):
    sketch = make_sketch(name, KERNEL, **options)
    k = stats.of_pairs(KERNEL.gram(wine, wine))
    values = stats.estimates(sketch, wine, D, 4000, seed=4)
    assert stats.z_of_mean(values, k, np.var(values, axis=0)) < LIMIT
    ratio, error = stats.variance_ratio(values, k, stats.of_pairs(sketch.closed_form.variance(wine, wine, D)))
    assert abs(ratio - 1) < max(0.1, 4 * error), (ratio, error)
    independent = make_sketch(name, KERNEL, directions="independent").closed_form.variance(wine, wine, D)
    assert (sketch.closed_form.variance(wine, wine, D) <= independent + 1e-12).all()


@pytest.mark.parametrize("directions", ["orthogonal", "independent", "simplex", "sobol"])
@pytest.mark.parametrize("norms", [None, "independent"])
def test_features_are_positive(directions, norms, digits):
    sketch = make_sketch("favor", KERNEL, directions=directions, norms=norms)
    assert (sketch.sample(64, 100, np.random.default_rng(0))(digits.astype(np.float32)) > 0).all()


@pytest.mark.parametrize("directions", ["orthogonal", "independent"])
def test_mean_of_one_length_is_known_and_below(directions, wine):
    """exp(−(‖x‖² + ‖y‖²)/2l²) E exp(√d ⟨s, x + y⟩/l), s uniform on the sphere: a Bessel function of ‖x + y‖."""
    d, X = 13, wine / KERNEL.length_scale
    z = np.sqrt(d) * stats.of_pairs(np.linalg.norm(X[:, None] + X, axis=2))
    mean = gamma(d / 2) * (2 / z) ** (d / 2 - 1) * iv(d / 2 - 1, z) * np.exp(-(X[0] @ X[0]))
    k = stats.of_pairs(KERNEL.gram(wine, wine))
    values = stats.estimates(
        make_sketch("favor", KERNEL, directions=directions, norms="constant"), wine, D, 4000, seed=5
    )
    assert stats.z_of_mean(values, mean, np.var(values, axis=0)) < LIMIT
    assert (mean < k).all()
    assert (mean > 0.9 * k).all()


def test_features_of_one_length_are_bounded():
    """√d r − r²/2 is at most d/2, whatever the row."""
    sketch = make_sketch("favor", make_kernel("exponential", 3), norms="constant")
    X = np.random.default_rng(0).standard_normal((200, 16)) * np.linspace(0, 20, 200)[:, None]
    Phi = sketch.sample(16, 64, np.random.default_rng(1), np.float64)(X)
    assert Phi.max() * np.sqrt(64) <= np.exp(8)


@pytest.mark.parametrize("name", ["favor", "exponential_rff"])
def test_error_falls_with_the_square_root_of_the_features(name, digits):
    sketch, X = make_sketch(name, KERNEL), digits[:60]
    K, counts = KERNEL.gram(X, X), np.array([256, 1024, 4096])

    def error(D, seed):
        Phi = sketch.sample(64, D, np.random.default_rng(seed), np.float64)(X)
        return np.linalg.norm(Phi @ Phi.T - K)

    slope = np.polyfit(np.log(counts), np.log([np.mean([error(D, s) for s in range(12)]) for D in counts]), 1)[0]
    assert -0.6 < slope < -0.4, slope


def test_structured_directions_and_unknown_ones(digits):
    Phi = make_sketch("exponential_rff", KERNEL, directions="structured").sample(64, 4096, np.random.default_rng(0))(
        digits.astype(np.float32)
    )
    K = KERNEL.gram(digits, digits)
    assert np.linalg.norm(Phi @ Phi.T - K) < 0.02 * np.linalg.norm(K)
    with pytest.raises(InputError, match="'sideways'; choose from halton"):
        make_sketch("exponential_rff", KERNEL, directions="sideways")


@pytest.mark.parametrize("directions", ["independent", "orthogonal", "simplex"])
def test_optimal_features_have_the_closed_form_and_less_variance(directions, wine):
    sketch = make_sketch("favor_plus_plus", KERNEL, directions=directions).adapt(wine, D)
    plain = make_sketch("favor", KERNEL, directions=directions)
    k = stats.of_pairs(KERNEL.gram(wine, wine))
    V, larger = (stats.of_pairs(one.closed_form.variance(wine, wine, D)) for one in (sketch, plain))
    values = stats.estimates(sketch, wine, D, 1200, seed=6)
    assert stats.z_of_mean(values, k, V) < LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < max(0.1, 4 * error), (ratio, error)
    assert V.mean() < larger.mean()


@pytest.mark.parametrize("directions", ["orthogonal", "simplex"])
def test_what_coupling_gains_does_not_depend_on_the_parameter(directions):
    """Under the weight exp(A ‖z‖²) a Gaussian z is Gaussian again: E φ₁φ₂ of two features is that of A = 0."""
    from dataclasses import replace

    sketch, d = make_sketch("favor_plus_plus", make_kernel("exponential", length_scale=1.0), directions=directions), 64
    v2 = np.array([[1.0, 40.0, 250.0]])
    k, norms = np.exp(v2 / 4), v2 / 2  # of x = y
    wanted = sketch._coupling(k, norms, v2, d, d)
    for A in (-0.3, -1.1):
        np.testing.assert_allclose(replace(sketch, A=A)._coupling(k, norms, v2, d, d), wanted, rtol=1e-9)


def test_the_optimal_parameter_minimises_the_mean_exponent(wine):
    """Of all A, for a pair with the mean φ: equation (4) at neighbours is larger."""
    from rfbench.sketches.fourier.directions import INDEPENDENT
    from rfbench.sketches.fourier.favor import Favor, optimal_A

    x = wine[:1]
    A = optimal_A(x, x, KERNEL.l2)

    def variance(A):
        return Favor(KERNEL, INDEPENDENT, A).closed_form.variance(x, x, 1).item()

    assert A < 0
    assert variance(A) < min(variance(0.99 * A), variance(1.01 * A), variance(0.0))


def test_scaled_columns_are_unbiased_and_better_between_queries_and_keys():
    rng = np.random.default_rng(0)
    scale = np.array([3.0, 1, 1, 1, 1 / 3])
    Q, K = (0.4 * rng.standard_normal((7, 5)) * s for s in (scale, 1 / scale))
    kernel = make_kernel("exponential", length_scale=1.0)
    A, errors = kernel.gram(Q, K), {}
    for name in ("favor_plus_plus", "saderf"):
        sketch = make_sketch(name, kernel).between(Q, K)
        found = []
        for _ in range(1500):
            features = sketch.sample(5, 20, rng, np.float64)
            found.append(features.product(features.of_queries()(Q), features(K)))
        z = (np.mean(found, 0) - A) / (np.std(found, 0) / np.sqrt(len(found)))
        assert np.abs(z).max() < LIMIT
        errors[name] = np.mean((np.array(found) - A) ** 2)
        closed = sketch.closed_form.variance(Q, K, 20)
        assert 0.7 < np.median(np.var(found, 0) / closed) < 1.2
    assert errors["saderf"] < 0.6 * errors["favor_plus_plus"]
