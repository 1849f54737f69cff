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
        ("favor", {"orthogonal": False}),
        ("favor", {"orthogonal": True}),
        ("exponential_rff", {}),
        ("exponential_rff", {"directions": "orthogonal"}),
    ],
)
def test_mean_is_the_kernel_and_variance_the_closed_form(name, options, wine):
    sketch = make_sketch(name, KERNEL, **options)
    k = stats.of_pairs(KERNEL.gram(wine, wine))
    values = stats.estimates(sketch, wine, D, 4000, seed=4)
    assert stats.z_of_mean(values, k, np.var(values, axis=0)) < LIMIT
    independent = {"orthogonal": False} if name == "favor" else {}
    closed = make_sketch(name, KERNEL, **independent)
    assert bool(sketch.closed_form) == (sketch == closed)
    ratio, error = stats.variance_ratio(values, k, stats.of_pairs(closed.closed_form.variance(wine, wine, D)))
    assert (0.9 < ratio < 1.1) if sketch == closed else ratio < 1, (ratio, error)


@pytest.mark.parametrize("orthogonal", [True, False])
@pytest.mark.parametrize("stabilized", [True, False])
def test_features_are_positive(orthogonal, stabilized, digits):
    sketch = make_sketch("favor", KERNEL, orthogonal=orthogonal, stabilized=stabilized)
    assert (sketch.sample(64, 100, np.random.default_rng(0))(digits.astype(np.float32)) > 0).all()


@pytest.mark.parametrize("orthogonal", [True, False])
def test_stabilized_mean_is_known_and_below(orthogonal, wine):
    """exp(−(‖x‖² + ‖y‖²)/2l²) E exp(√d ⟨s, x + y⟩/l), s uniform on the sphere: a Bessel function of ‖x + y‖."""
    d, X = 13, wine / KERNEL.length_scale
    z = np.sqrt(d) * stats.of_pairs(np.linalg.norm(X[:, None] + X, axis=2))
    mean = gamma(d / 2) * (2 / z) ** (d / 2 - 1) * iv(d / 2 - 1, z) * np.exp(-(X[0] @ X[0]))
    k = stats.of_pairs(KERNEL.gram(wine, wine))
    values = stats.estimates(
        make_sketch("favor", KERNEL, orthogonal=orthogonal, stabilized=True), wine, D, 4000, seed=5
    )
    assert stats.z_of_mean(values, mean, np.var(values, axis=0)) < LIMIT
    assert (mean < k).all()
    assert (mean > 0.9 * k).all()


def test_stabilized_features_are_bounded():
    """√d r − r²/2 is at most d/2, whatever the row."""
    sketch = make_sketch("favor", make_kernel("exponential", 3), stabilized=True)
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
    with pytest.raises(InputError, match="one of independent, orthogonal, structured"):
        make_sketch("exponential_rff", KERNEL, directions="sideways")
