"""Operator-valued features: the fast operators against dense matrices, then as estimators of a matrix."""

import numpy as np
import pytest
from support import oracles, stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.couplings import Gradient
from rfbench.sketches.fourier.operator_valued import FieldFourier, OperatorMap

LIMIT = 4.8
KERNELS = {
    "decomposable": make_kernel("decomposable", 3, length_scale=0.9, coupling=[[2, 1, 0], [1, 2, 1], [0, 1, 1]]),
    "low_rank": make_kernel("decomposable", 3, length_scale=0.9, coupling=[[4, 2, 2], [2, 1, 1], [2, 1, 1]]),
    "curl_free": make_kernel("curl_free", 3, length_scale=0.9),
    "div_free": make_kernel("div_free", 3, length_scale=0.9),
    "helmholtz": make_kernel("helmholtz", 3, length_scale=0.9, curl_free=0.3),
}
X = np.random.default_rng(0).uniform(-1, 1, (6, 3))
KERNEL = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def sketch_of(kernel):
    return make_sketch(f"orff_{kernel.name}", kernel)


def dense(kernel, features):
    """Φ(x) = ⊕ φ_j(x) B(ω_j)ᵀ of every row, stacked, with B a numerical root of A(ω): (n p, D p)."""
    phi = features(X)
    Omega = np.tile(features.base.base.W.T, (2, 1))
    if kernel.name != "decomposable":  # A(ω) l^−2 d/‖ω‖²
        Omega *= np.sqrt(3) / 0.9 / np.linalg.norm(Omega, axis=1, keepdims=True)
    blocks = [
        [phi[i, j] * oracles.root(oracles.spectral(kernel, w)) for j, w in enumerate(Omega)] for i in range(len(X))
    ]
    return np.block(blocks)


@KERNEL
def test_block_gram_is_the_dense_definition(kernel):
    features = sketch_of(kernel).sample(3, 10, np.random.default_rng(1), np.float64)
    P, phi = dense(kernel, features), features(X)
    np.testing.assert_allclose(features.product(phi, phi), P @ P.T, atol=1e-12)
    np.testing.assert_allclose(features.product(phi[:2], phi), (P @ P.T)[:6], atol=1e-12)
    blocks = (P @ P.T).reshape(6, 3, 6, 3)
    pairs = np.array([blocks[i, :, i + 1].ravel() for i in range(5)])
    np.testing.assert_allclose(features.paired(phi[:-1], phi[1:]), pairs, atol=1e-12)


@KERNEL
def test_operators_are_the_dense_definition_and_each_others_adjoint(kernel):
    """P, Pᵀ and PᵀP; columns of P by unit vectors θ span what the dense Φ spans."""
    features = sketch_of(kernel).sample(3, 10, np.random.default_rng(1), np.float64)
    M, phi, rng = features.coupling, features(X), np.random.default_rng(2)
    units = np.eye(int(np.prod(M.shape))).reshape(-1, *M.shape)
    P = np.array([(phi @ M.forward(unit)).ravel() for unit in units]).T
    wanted = dense(kernel, features)
    np.testing.assert_allclose(P @ P.T, wanted @ wanted.T, atol=1e-12)
    theta, Y = rng.standard_normal(M.shape), rng.standard_normal((len(X), 3))
    np.testing.assert_allclose((phi @ M.forward(theta)).ravel(), P @ theta.ravel(), atol=1e-12)
    np.testing.assert_allclose(M.adjoint(phi.T @ Y).ravel(), P.T @ Y.ravel(), atol=1e-12)
    normal = M.adjoint((phi.T @ phi) @ M.forward(theta))
    np.testing.assert_allclose(normal.ravel(), P.T @ P @ theta.ravel(), atol=1e-12)
    assert np.vdot(phi @ M.forward(theta), Y) == pytest.approx(np.vdot(theta, M.adjoint(phi.T @ Y)))


def test_unknowns_are_no_more_than_the_rank():
    shapes = {
        name: sketch_of(kernel).sample(3, 10, np.random.default_rng(1)).coupling.shape
        for name, kernel in KERNELS.items()
    }
    assert shapes["curl_free"] == (10,)
    assert shapes["low_rank"] == (10, 1)
    assert shapes["div_free"] == shapes["decomposable"] == (10, 3)


def draws(sketch, D, count, seed, dtype=np.float64):
    """K̂ of all pairs i < j of rows, draw by draw, (count, pairs, p²)."""
    rng, (i, j) = np.random.default_rng(seed), np.triu_indices(len(X), 1)
    out = []
    for _ in range(count):
        features = sketch.sample(3, D, rng, dtype)
        phi = features(X)
        out.append(features.paired(phi[i], phi[j]))
    return np.array(out)


def exact(kernel):
    blocks = kernel.gram(X, X).reshape(6, 3, 6, 3)
    return np.array([blocks[i, :, j].ravel() for i, j in zip(*np.triu_indices(6, 1), strict=True)])


def z(values, K):
    """The largest |z| over pairs and entries, with the standard error of the draws; entries that are zero are exact."""
    error = np.maximum(values.std(0), 1e-12) / np.sqrt(len(values))
    return float(np.max(np.abs(values.mean(0) - K) / error))


@KERNEL
def test_mean_is_the_kernel_and_variance_the_closed_form(kernel):
    sketch, K = sketch_of(kernel), exact(kernel)
    values = draws(sketch, 24, 3000, seed=1)
    assert z(values, K) < LIMIT
    assert z(1.1 * values, K) > LIMIT
    V = stats.of_pairs(sketch.closed_form.variance(X, X, 24))
    per_draw = (((values - K) ** 2).sum(2) / V).mean(1)
    error = per_draw.std() / np.sqrt(len(per_draw))
    assert abs(per_draw.mean() - 1) < 4 * error
    assert error < 0.02  # ten percent is five standard errors


class Unweighted(FieldFourier):
    """Gaussian frequencies, as in the paper: also unbiased."""

    def weighted(self, Omega):
        return Omega, Omega


class Halfway(FieldFourier):
    """They have another density, but are used as if they were Gaussian."""

    def weighted(self, Omega):
        return super().weighted(Omega)[0], Omega


@pytest.mark.parametrize("name", ["curl_free", "div_free", "helmholtz"])
def test_weighted_frequencies_have_the_same_mean_and_less_variance(name):
    kernel, K = KERNELS[name], exact(KERNELS[name])
    ours, theirs = (draws(sketch(kernel), 24, 1000, seed=1) for sketch in (FieldFourier, Unweighted))
    assert z(theirs, K) < LIMIT
    assert ((ours - K) ** 2).sum() < 0.7 * ((theirs - K) ** 2).sum()
    assert z(draws(Halfway(kernel), 24, 1000, seed=1), K) > 2 * LIMIT


def test_radii_are_chi_with_two_more_degrees_of_freedom():
    from scipy.stats import chi, kstest

    for points in ("independent", "sobol"):
        features = make_sketch("orff_curl_free", KERNELS["curl_free"], points=points)
        W = features.sample(3, 4000, np.random.default_rng(0), np.float64).base.base.W
        radii = 0.9 * np.linalg.norm(W, axis=0)
        assert kstest(radii, chi(5).cdf).pvalue > 0.01
        assert kstest(radii, chi(3).cdf).pvalue < 1e-9


@KERNEL
def test_sobol_points_have_the_same_mean_and_less_variance(kernel):
    K, even = exact(kernel), make_sketch(f"orff_{kernel.name}", kernel, points="sobol")
    ours, theirs = (draws(sketch, 64, 600, seed=1) for sketch in (even, sketch_of(kernel)))
    assert z(ours, K) < LIMIT
    assert z(1.1 * ours, K) > LIMIT
    assert ((ours - K) ** 2).sum() < 0.7 * ((theirs - K) ** 2).sum()
    assert not hasattr(even, "variance")


def test_a_wrong_word_for_points():
    with pytest.raises(InputError, match=r"no sketch\.points 'sobel'; did you mean 'sobol'"):
        make_sketch("orff_curl_free", KERNELS["curl_free"], points="sobel")


class AsPrinted(FieldFourier):
    """The divergence-free root I − ωωᵀ without norms, as in Table 1 of the paper: c = 0 with unit frequencies."""

    def sample(self, d, D, rng, dtype=np.float32):
        features = super().sample(d, D, rng, dtype)
        Omega = features.coupling.Omega
        return OperatorMap(features.base, type(features.coupling)(Omega / np.linalg.norm(Omega, axis=1)[:, None], 0.0))


class Swapped(FieldFourier):
    """The curl-free root under the name of the other, as in Examples 2.2 and 2.3."""

    def coupling(self, Omega):
        return Gradient(Omega)


@pytest.mark.parametrize("wrong", [AsPrinted, Swapped])
def test_the_mistakes_of_the_paper_are_seen(wrong):
    kernel = KERNELS["div_free"]
    assert z(draws(wrong(kernel), 24, 500, seed=1), exact(kernel)) > 2 * LIMIT


@KERNEL
def test_error_falls_with_the_square_root_of_the_features(kernel):
    counts, K = np.array([64, 512, 4096]), exact(kernel)
    errors = [np.sqrt(((draws(sketch_of(kernel), D, 40, seed=D) - K) ** 2).sum((1, 2)).mean()) for D in counts]
    assert -0.57 < np.polyfit(np.log(counts), np.log(errors), 1)[0] < -0.43


def test_helmholtz_has_both_ends():
    for name, c in (("curl_free", 1.0), ("div_free", 0.0)):
        combined = make_kernel("helmholtz", 3, length_scale=0.9, curl_free=c)
        np.testing.assert_array_equal(combined.gram(X, X), KERNELS[name].gram(X, X))
        ours, theirs = (
            sketch_of(k).sample(3, 8, np.random.default_rng(1), np.float64) for k in (combined, KERNELS[name])
        )
        np.testing.assert_array_equal(ours.product(ours(X), ours(X)), theirs.product(theirs(X), theirs(X)))


def test_odd_features_are_refused():
    assert "pairs" in sketch_of(KERNELS["curl_free"]).objection(7)
