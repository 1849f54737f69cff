"""Compressive features: the projectors, and the bias that they bring."""

import numpy as np
import pytest
from scipy.special import hyp1f1
from support import stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.compressive import Compressed
from rfbench.sketches.fourier.directions import HAAR, INDEPENDENT
from rfbench.sketches.fourier.waves import FAMILIES, real_fourier
from rfbench.sketches.projectors import PROJECTORS

KERNEL = make_kernel("gaussian", 3, length_scale=1.2)


@pytest.mark.parametrize("projector", ["orthogonal", "bernoulli"])
@pytest.mark.parametrize("m", [1, 5, 13])
def test_rows_of_the_projector_are_orthonormal(projector, m):
    features = make_sketch("compressive_rff", KERNEL, measurements=m, projector=projector).sample(
        13, 8, np.random.default_rng(0), np.float64
    )
    P = features.first.W.T
    np.testing.assert_allclose(P @ P.T, 13 / m * np.eye(m), atol=1e-12)


def test_half_the_columns_by_default():
    features = make_sketch("compressive_rff", KERNEL).sample(13, 8, np.random.default_rng(0))
    assert features.first.D == features.base.d == 7


def test_all_columns_are_a_rotation(wine):
    """m = d keeps every distance, so the mean is the kernel."""
    sketch = make_sketch("compressive_rff", KERNEL, measurements=13)
    values = stats.estimates(sketch, wine, 24, 2000, seed=1)
    assert stats.z_of_mean(values, stats.of_pairs(KERNEL.gram(wine, wine)), np.var(values, axis=0)) < 4.5


@pytest.mark.parametrize("m", [2, 6])
def test_mean_is_the_known_bias(m, wine):
    sketch = make_sketch("compressive_rff", KERNEL, measurements=m)
    values = stats.estimates(sketch, wine, 24, 3000, seed=2)
    r2 = -2 * np.log(stats.of_pairs(KERNEL.gram(wine, wine)))
    mean = hyp1f1(m / 2, 13 / 2, -13 / m * r2 / 2)
    assert stats.z_of_mean(values, mean, np.var(values, axis=0)) < 4.5
    assert stats.z_of_mean(values, np.exp(-r2 / 2), np.var(values, axis=0)) > 9


@pytest.mark.medium
@pytest.mark.parametrize("projector", PROJECTORS)
@pytest.mark.parametrize("m", [1, 5, 13])
def test_measurements_alone_are_unbiased(projector, m, wine):
    """E PᵀP = I, and the variance is the closed form where there is one."""
    sketch = make_sketch("compressive_identity", make_kernel("linear", 1), measurements=m, projector=projector)
    assert sketch.count(13, 100) == m
    values, exact = stats.estimates(sketch, wine, m, 3000, seed=3), stats.of_pairs(wine @ wine.T)
    if m == 13 and projector in ("orthogonal", "bernoulli"):  # a rotation
        np.testing.assert_allclose(values, np.broadcast_to(exact, values.shape), atol=1e-6)
        return
    if projector == "bernoulli":
        assert sketch.closed_form is None
        V = np.var(values, axis=0)
    else:
        V = stats.of_pairs(sketch.closed_form.variance(wine, wine, m))
        ratio, error = stats.variance_ratio(values, exact, V)
        assert abs(ratio - 1) < 4 * error
        assert error < 0.05
        assert abs(stats.variance_ratio(values, exact, 1.25 * V)[0] - 1) > 4 * error  # the comparison can fail
    assert stats.z_of_mean(values, exact, V) < stats.LIMIT
    assert m == 1 or stats.z_of_mean(1.1 * values, exact, V) > stats.LIMIT


def test_one_column_is_measured_without_error():
    sketch, x = make_sketch("compressive_identity", make_kernel("linear", 1)), np.array([[3.0]])
    assert sketch.closed_form.variance(x, x, 1) == 0
    Phi = sketch.sample(1, 1, np.random.default_rng(0), np.float64)(x)
    np.testing.assert_allclose(Phi @ Phi.T, 9)


@pytest.mark.medium
@pytest.mark.parametrize("projector", [name for name in PROJECTORS if name != "bernoulli"])
def test_the_square_grows_by_the_variance_of_the_measurements(projector, wine):
    """E (γ⟨Px, Py⟩ + ν)² = k + γ² Var⟨Px, Py⟩, whatever unbiased sketch follows."""
    kernel, m = make_kernel("polynomial", 2, gamma=0.8, bias=0.5), 4
    alone = make_sketch("compressive_identity", make_kernel("linear", 1), measurements=m, projector=projector)
    growth = stats.of_pairs(0.8**2 * alone.closed_form.variance(wine, wine, m))
    sketch = make_sketch("compressive", kernel, base="ctr_tensorsrht", measurements=m, projector=projector)
    values, k = stats.estimates(sketch, wine, 16, 4000, seed=5), stats.of_pairs(kernel.gram(wine, wine))
    V = np.var(values, axis=0)
    assert stats.z_of_mean(values, k + growth, V) < stats.LIMIT
    assert stats.z_of_mean(values, k, V) > stats.LIMIT


def test_mean_of_gaussian_measurements_is_known_too(wine):
    sketch = make_sketch("compressive", KERNEL, base="orf", measurements=3, projector="gaussian")
    values = stats.estimates(sketch, wine, 24, 3000, seed=6)
    k = stats.of_pairs(KERNEL.gram(wine, wine))
    mean = (1 - 2 * np.log(k) / 3) ** (-3 / 2)
    assert stats.z_of_mean(values, mean, np.var(values, axis=0)) < stats.LIMIT
    assert stats.z_of_mean(values, k, np.var(values, axis=0)) > 2 * stats.LIMIT


def test_sparse_rows_keep_their_kernel_better(wine):
    """The point of the paper: what m measurements do to a distance does not depend on the columns that are zero."""
    linear, m = make_kernel("linear", 1), 8
    sketch = make_sketch("compressive_identity", linear, measurements=m)
    x = np.zeros((1, 512))
    x[0, :2] = 1
    relative = [sketch.closed_form.variance(rows, rows, m)[0, 0] / 4 for rows in (x[:, :16], x[:, :64], x)]
    np.testing.assert_allclose(relative, [2 * (d - m) / (m * (d + 2)) for d in (16, 64, 512)])
    assert relative[2] < 2 / m  # the limit of many columns


@pytest.mark.parametrize("base", ["rff", "phase_rff"])
def test_the_base_by_its_name_is_the_same_sketch(base, digits):
    rngs = (np.random.default_rng(7) for _ in range(2))
    one, other = (
        make_sketch(name, KERNEL, measurements=9, **options).sample(64, 32, rng)(digits.astype(np.float32))
        for rng, name, options in zip(rngs, (f"compressive_{base}", "compressive"), ({}, {"base": base}), strict=True)
    )
    np.testing.assert_array_equal(one, other)
    rng = np.random.default_rng(7)
    W = HAAR.draw(64, np.full(9, np.sqrt(64 / 9)), rng, np.float32).W
    features = FAMILIES[base].make(KERNEL).sample(9, 32, rng)
    np.testing.assert_allclose(one, features(digits.astype(np.float32) @ W), atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "base"),
    [
        ("polynomial", "hierarchical"), ("polynomial", "complex_tensorsketch"), ("polynomial", "optimized_maclaurin"),
        ("gaussian", "sorf"), ("gaussian", "optimized_maclaurin"), ("exponential", "favor"), ("optical", "optical"),
    ],
)  # fmt: skip
def test_given_the_measurements_any_base_estimates_their_kernel(kernel, base, digits):
    X, kernel, errors = digits[:20], make_kernel(kernel, 2), []
    sketch = make_sketch("compressive", kernel, base=base, measurements=32, projector="hadamard").adapt(digits, 2048)
    for seed in range(5):
        features = sketch.sample(64, 2048, np.random.default_rng(seed), np.float64)
        Z, Phi = features.first(X), features(X)
        K = kernel.gram(Z, Z)
        errors.append(
            [np.linalg.norm(K_hat - K) / np.linalg.norm(K) for K_hat in (Phi @ Phi.conj().T, kernel.gram(X, X))]
        )
        assert np.iscomplexobj(Phi) == sketch.is_complex
    given, of_projector = np.median(errors, axis=0)  # a collision of two large columns spoils a count sketch
    assert given < 0.1
    assert given < of_projector


def test_the_kernel_of_measurements(wine):
    features = make_sketch("compressive_exact", KERNEL, measurements=5).sample(
        13, 0, np.random.default_rng(4), np.float64
    )
    Z, Phi = wine @ features.first.W, features(wine)
    K = KERNEL.gram(Z, Z)
    np.testing.assert_allclose(features.product(Phi, Phi), K)
    np.testing.assert_allclose(features.paired(Phi, Phi[::-1])[:, 0], np.diagonal(K[:, ::-1]))
    assert np.abs(K - KERNEL.gram(wine, wine)).max() > 0.01
    with pytest.raises(AssertionError, match="not measurements"):
        features.product(wine, wine)


def test_measurements_out_of_range_are_refused_in_words():
    with pytest.raises(InputError, match="at most 13"):
        make_sketch("compressive_rff", KERNEL, measurements=14).sample(13, 8, np.random.default_rng(0))
    with pytest.raises(InputError, match="at least 1"):
        make_sketch("compressive_rff", KERNEL, measurements=0)


def test_what_cannot_be_compressed_is_refused_in_words():
    with pytest.raises(InputError, match="orthogonal, bernoulli, gaussian, rademacher, hadamard"):
        make_sketch("compressive_rff", KERNEL, projector="fourier")
    for base in ("localized_maclaurin", "compressive", "compressive_rff"):
        kernel = make_kernel("polynomial", 3) if base == "compressive" else KERNEL
        with pytest.raises(InputError, match="a sketch of single rows that is neither compressive nor nystrom"):
            make_sketch("compressive", kernel, base=base)
    with pytest.raises(InputError, match="did you mean 'rff'"):
        make_sketch("compressive", KERNEL, base="rfff")
    with pytest.raises(InputError, match="kernel 'gaussian' was asked for"):
        make_sketch("compressive", KERNEL)
    with pytest.raises(InputError, match="is for one output"):
        make_sketch("compressive", make_kernel("curl_free", 1), base="orff_curl_free")


def test_error_falls_to_the_bias_of_one_projector(digits):
    """Given P the rate is −½ towards the kernel of P x."""
    base, X, counts = real_fourier(INDEPENDENT, KERNEL), digits[:60], np.array([256, 1024, 4096])
    errors = []
    for D in counts:
        each = []
        for seed in range(8):
            features = Compressed(base, 32).sample(64, D, np.random.default_rng(seed), np.float64)
            Phi, Z = features(X), features.first(X)
            each.append(np.linalg.norm(Phi @ Phi.T - KERNEL.gram(Z, Z)))
        errors.append(np.mean(each))
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert -0.6 < slope < -0.4, slope
