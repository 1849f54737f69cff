"""Operator-valued features: the fast operators against dense matrices, then as estimators of a matrix."""

import numpy as np
import pytest
from support import oracles, stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.couplings import Gradient
from rfbench.sketches.fourier.operator_valued import BoundedField, FieldFourier, OperatorMap, QuasiRandom

LIMIT = 4.8
KERNELS = {
    "decomposable": make_kernel("decomposable", 3, length_scale=0.9, coupling=[[2, 1, 0], [1, 2, 1], [0, 1, 1]]),
    "low_rank": make_kernel("decomposable", 3, length_scale=0.9, coupling=[[4, 2, 2], [2, 1, 1], [2, 1, 1]]),
    "curl_free": make_kernel("curl_free", 3, length_scale=0.9),
    "div_free": make_kernel("div_free", 3, length_scale=0.9),
    "helmholtz": make_kernel("helmholtz", 3, length_scale=0.9, curl_free=0.3),
}
X = np.random.default_rng(0).uniform(-1, 1, (6, 3))
FIELDS = ("curl_free", "div_free", "helmholtz")
KERNEL = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
FIELD = pytest.mark.parametrize("kernel", [KERNELS[name] for name in FIELDS], ids=FIELDS)
SKETCHES = {name: make_sketch(f"orff_{kernel.name}", kernel) for name, kernel in KERNELS.items()}
SKETCHES |= {f"{name}, gaussian": make_sketch(f"orff_{name}", KERNELS[name], density="gaussian") for name in FIELDS}
SKETCH = pytest.mark.parametrize("sketch", SKETCHES.values(), ids=SKETCHES)


def sketch_of(kernel):
    return make_sketch(f"orff_{kernel.name}", kernel)


def dense(sketch, features):
    """Φ(x) = ⊕ φ_j(x) B(ω_j)ᵀ of every row, stacked, with B a numerical root of A(ω): (n p, D p)."""
    phi, kernel = features(X), sketch.kernel
    Omega = np.tile(features.base.base.W.T, (2, 1))
    if isinstance(sketch, BoundedField):  # A(ω) l^−2 d/‖ω‖²
        Omega *= np.sqrt(3) / 0.9 / np.linalg.norm(Omega, axis=1, keepdims=True)
    blocks = [
        [phi[i, j] * oracles.root(oracles.spectral(kernel, w)) for j, w in enumerate(Omega)] for i in range(len(X))
    ]
    return np.block(blocks)


@SKETCH
def test_block_gram_is_the_dense_definition(sketch):
    features = sketch.sample(3, 10, np.random.default_rng(1), np.float64)
    P, phi = dense(sketch, features), features(X)
    np.testing.assert_allclose(features.product(phi, phi), P @ P.T, atol=1e-12)
    np.testing.assert_allclose(features.product(phi[:2], phi), (P @ P.T)[:6], atol=1e-12)
    blocks = (P @ P.T).reshape(6, 3, 6, 3)
    pairs = np.array([blocks[i, :, i + 1].ravel() for i in range(5)])
    np.testing.assert_allclose(features.paired(phi[:-1], phi[1:]), pairs, atol=1e-12)


@SKETCH
def test_operators_are_the_dense_definition_and_each_others_adjoint(sketch):
    """P, Pᵀ and PᵀP; columns of P by unit vectors θ span what the dense Φ spans."""
    features = sketch.sample(3, 10, np.random.default_rng(1), np.float64)
    M, phi, rng = features.coupling, features(X), np.random.default_rng(2)
    units = np.eye(int(np.prod(M.shape))).reshape(-1, *M.shape)
    P = np.array([(phi @ M.forward(unit)).ravel() for unit in units]).T
    wanted = dense(sketch, features)
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


def ratio(values, sketch, D, factor=1.0):
    """Empirical variance over the closed form times a factor, averaged over pairs, and its standard error."""
    V = factor * stats.of_pairs(sketch.closed_form.variance(X, X, D))
    per_draw = (((values - exact(sketch.kernel)) ** 2).sum(2) / V).mean(1)
    return per_draw.mean(), per_draw.std() / np.sqrt(len(per_draw))


@SKETCH
def test_mean_is_the_kernel_and_variance_the_closed_form(sketch):
    values = draws(sketch, 24, 3000, seed=1)
    assert z(values, exact(sketch.kernel)) < LIMIT
    assert z(1.1 * values, exact(sketch.kernel)) > LIMIT
    found, error = ratio(values, sketch, 24)
    assert abs(found - 1) < 4 * error
    assert error < 0.02  # ten percent is five standard errors
    for factor in (0.9, 1.1):
        wrong, error = ratio(values, sketch, 24, factor)
        assert abs(wrong - 1) > 4 * error


class Halfway(BoundedField):
    """They have another density, but are used as if they were Gaussian."""

    def weighted(self, Omega):
        return super().weighted(Omega)[0], Omega


@FIELD
def test_a_density_with_the_coupling_or_the_variance_of_the_other_is_seen(kernel):
    assert z(draws(Halfway(kernel), 24, 400, seed=1), exact(kernel)) > 2 * LIMIT
    for drawn, stated in ((FieldFourier, BoundedField), (BoundedField, FieldFourier)):
        found, error = ratio(draws(drawn(kernel), 24, 400, seed=1), stated(kernel), 24)
        assert abs(found - 1) > 2 * LIMIT * error


@pytest.mark.parametrize("d", [2, 3, 20])
@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
def test_the_bounded_density_has_less_variance_at_every_distance(c, d):
    """At δ = 0 and c = 1 by (d − 1)/(d + 1), at c = 0 by a third, and far away by d/(d + 2)."""
    Y = np.zeros((1000, d))
    Y[:, 0] = np.linspace(0, 9, 1000)
    kernel = make_kernel("helmholtz", 3, length_scale=0.9, curl_free=c)
    ours, theirs = (sketch(kernel).closed_form.variance(Y[:1], Y, 2)[0] for sketch in (BoundedField, FieldFourier))
    assert (ours < theirs).all()
    if c in (0, 1):
        assert ours[0] / theirs[0] == pytest.approx((d - 1) / (d + 1) if c else 1 / 3)
    assert ours[-1] / theirs[-1] == pytest.approx(d / (d + 2))


def norms(values, K):
    """‖E(K̂ − K)²‖₂ of each pair."""
    E = (values - K).reshape(len(values), -1, 3, 3)
    return np.linalg.norm((E @ E).mean(0), 2, axis=(1, 2))


@SKETCH
def test_the_norm_of_the_covariance_is_below_its_bound(sketch):
    """Ten percent are for Monte Carlo; for a constant A(ω) the bound is the norm itself."""
    found = norms(draws(sketch, 24, 2000, seed=3), exact(sketch.kernel))
    bound = stats.of_pairs(sketch.closed_form.norm_bound(X, X, 24))
    assert (found < 1.1 * bound).all()
    if sketch.kernel.name == "decomposable":
        np.testing.assert_allclose(found, bound, rtol=0.1)
    else:  # without the variance of A(ω) it would be none
        drawn = np.linalg.norm(sketch.second_moment(3) - np.linalg.matrix_power(sketch.kernel.gram(X[:1], X[:1]), 2), 2)
        assert (found > 1.1 * (bound - drawn / 12)).any()


@SKETCH
def test_the_second_moment_is_the_mean_square_of_the_coupling(sketch):
    features = sketch.sample(3, 40_000, np.random.default_rng(1), np.float64)
    columns = features.coupling.columns()  # B(ω_j) e_a
    A = np.einsum("ajp,ajq->jpq", columns, columns)[:20_000]
    squares = A @ A
    error = np.maximum(squares.std(0), 1e-12) / np.sqrt(len(squares))
    assert (np.abs(squares.mean(0) - sketch.second_moment(3)) < LIMIT * error + 1e-9).all()


@pytest.mark.parametrize("points", ["independent", "sobol"])
@pytest.mark.parametrize(("density", "right", "wrong"), [("bounded", 5, 3), ("gaussian", 3, 5)])
def test_radii_are_chi_with_two_more_degrees_of_freedom_where_bounded(density, right, wrong, points):
    from scipy.stats import chi, kstest

    features = make_sketch("orff_curl_free", KERNELS["curl_free"], points=points, density=density)
    W = features.sample(3, 4000, np.random.default_rng(0), np.float64).base.base.W
    radii = 0.9 * np.linalg.norm(W, axis=0)
    assert kstest(radii, chi(right).cdf).pvalue > 0.01
    assert kstest(radii, chi(wrong).cdf).pvalue < 1e-9


@SKETCH
def test_sobol_points_have_the_same_mean_and_less_variance(sketch):
    K, even = exact(sketch.kernel), QuasiRandom(sketch)
    ours, theirs = (draws(one, 64, 600, seed=1) for one in (even, sketch))
    assert z(ours, K) < LIMIT
    assert z(1.1 * ours, K) > LIMIT
    assert ((ours - K) ** 2).sum() < 0.7 * ((theirs - K) ** 2).sum()
    assert even.closed_form is None


def test_wrong_words_for_points_and_density():
    with pytest.raises(InputError, match=r"no sketch\.points 'sobel'; did you mean 'sobol'"):
        make_sketch("orff_curl_free", KERNELS["curl_free"], points="sobel")
    with pytest.raises(InputError, match=r"no sketch\.density 'gausian'; did you mean 'gaussian'"):
        make_sketch("orff_curl_free", KERNELS["curl_free"], density="gausian")
    with pytest.raises(InputError, match=r"no 'sketch\.density'"):
        make_sketch("orff_decomposable", KERNELS["decomposable"], density="gaussian")


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
