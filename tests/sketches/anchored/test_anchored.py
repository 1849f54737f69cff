"""Mean-split and anchored sketches: unbiased for every pair, with the stated variance, exact where they claim it."""

import numpy as np
import pytest
from support import oracles, stats

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.anchored.anchors import AnchoredMap

KERNELS = {
    "polynomial": make_kernel("polynomial", 3, gamma=0.5, bias=0.3),
    "degree_5": make_kernel("polynomial", 5),
    "homogeneous": make_kernel("polynomial", 2, bias=0.0),
    "polynomial_sphere": make_kernel("polynomial_sphere", 4),
    "exponential": make_kernel("exponential", 1, length_scale=1.5),
    "gaussian": make_kernel("gaussian", 1, length_scale=0.8),
    "linear": make_kernel("linear", 1),
}
NAMES = ("mean_split", "anchored")
D = 90


def fitted(name, kernel, X, D, **options):
    return make_sketch(name, kernel, **options).adapt(X, D)


@pytest.fixture(scope="module")
def rows(digits):
    """Training rows, and rows to test: some like them, some of them, Gaussian ones of other lengths, negated ones."""
    X = digits / np.linalg.norm(digits, axis=1)[:, None]
    noise = np.random.default_rng(3).standard_normal((3, X.shape[1])) / 8
    return X[20:], np.concatenate((X[:4], X[20:22], noise * [[0.6], [1.0], [1.5]], -X[4:6]))


def draws_of(sketch, Y, D, draws, change=lambda features: None, seed=1):
    """k̂ of all pairs of rows, a row with itself too, draw by draw."""
    rng, pairs, values = np.random.default_rng(seed), np.triu_indices(len(Y)), []
    for _ in range(draws):
        features = sketch.sample(Y.shape[1], D, rng, np.float64)
        change(features)
        Phi = features(Y)
        values.append((Phi @ Phi.T)[pairs])
    return np.array(values)


def z_of_mean(values, kernel, Y):
    """The largest |z| over all pairs, with the standard error of the draws themselves."""
    k = kernel.gram(Y, Y)[np.triu_indices(len(Y))]
    error = np.maximum(values.std(0, ddof=1), 1e-8 * np.abs(k)) / np.sqrt(len(values))
    return float(np.max(np.abs(values.mean(0) - k) / error))


@pytest.mark.medium
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("which", "base"), [*((which, "ctr_tensorsrht") for which in KERNELS), ("degree_5", "tensorsrht")]
)
def test_the_mean_is_the_kernel_for_every_pair(which, base, name, rows):
    X, Y = rows
    if which == "polynomial_sphere":
        Y = Y / np.linalg.norm(Y, axis=1)[:, None]
    sketch = fitted(name, KERNELS[which], X, D, base=base)
    assert z_of_mean(draws_of(sketch, Y, D, 150), KERNELS[which], Y) < stats.LIMIT


def forget_the_anchors(features):
    features.correction[...] = 0


def forget_the_mean(features):
    """All features with the first sign pattern: an inner product of explicit features becomes another number."""
    split = features.base if isinstance(features, AnchoredMap) else features
    for _, weights in split.terms:
        weights[...] = np.abs(weights[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_forgotten_term_is_seen(name, rows):
    (X, Y), kernel = rows, KERNELS["polynomial"]
    for mistake in (forget_the_mean, *([forget_the_anchors] if name == "anchored" else [])):
        values = draws_of(fitted(name, kernel, X, D), Y, D, 200, mistake)
        assert z_of_mean(values, kernel, Y) > 2 * stats.LIMIT


@pytest.mark.medium
@pytest.mark.parametrize(
    ("which", "base"),
    [
        ("polynomial", "ctr_tensorsrht"),
        ("polynomial", "tensorsrht"),
        ("homogeneous", "ctr_tensorsrht"),
        ("gaussian", "ctr_tensorsrht"),
    ],
)
def test_the_variance_of_a_mean_split_is_the_closed_form(which, base, rows):
    (X, Y), kernel = rows, KERNELS[which]
    sketch, pairs = fitted("mean_split", kernel, X, D, base=base), np.triu_indices(len(Y))
    k, V = kernel.gram(Y, Y)[pairs], sketch.closed_form.variance(Y, Y, D)[pairs]
    ratio, error = stats.variance_ratio(draws_of(sketch, Y, D, 700), k, V)
    assert abs(ratio - 1) < 3.5 * error
    assert error < 0.08


@pytest.mark.parametrize("D", [28, 64, 101])
@pytest.mark.parametrize("p", [1, 2])
def test_the_closed_form_is_exact_with_one_explicit_feature(p, D):
    """A homogeneous kernel on rows without a mean along u is a TensorSRHT of r, whose variance others have tested."""
    from rfbench.sketches.products.tensor_srht import TensorSRHT
    from rfbench.sketches.products.weights import RADEMACHER

    X = np.random.default_rng(0).standard_normal((40, 6))
    X[:, 0] = 1
    X[:, 1:] -= X[:, 1:].mean(0)  # the mean direction is the first axis
    Y = X[:5] * (np.arange(6) > 0)
    sketch = fitted("mean_split", make_kernel("polynomial", p, bias=0.0), X, D, base="tensorsrht")
    expected = TensorSRHT(p, RADEMACHER).closed_form.variance(Y, Y, sketch.counts[-1])
    np.testing.assert_allclose(sketch.closed_form.variance(Y, Y, D), expected, rtol=1e-9, atol=1e-14)


@pytest.mark.medium
@pytest.mark.parametrize("base", ["ctr_tensorsrht", "tensorsrht"])
def test_the_variance_beside_anchors_is_approximated_within_a_tenth(base, rows):
    """On average over pairs of rows like the training rows, and over pairs with a row unlike them."""
    (X, Y), kernel = rows, KERNELS["polynomial"]
    sketch, (i, j) = fitted("anchored", kernel, X, D, base=base), np.triu_indices(len(Y))
    k, V = kernel.gram(Y, Y)[i, j], sketch.closed_form.variance(Y, Y, D)[i, j]
    ratios = ((draws_of(sketch, Y, D, 1000) - k) ** 2).mean(0) / V
    like = (j < 4) & (i < j)
    for kind in (like, ~like & (i < j)):
        assert 0.9 < ratios[kind].mean() < 1.1
        assert ratios[kind].std() < 0.25  # of single pairs
    assert ratios[i == j].mean() < 1.1


@pytest.mark.medium
@pytest.mark.parametrize("name", NAMES)
def test_rows_unlike_the_training_rows_keep_a_bounded_error(name, digits):
    """Against ctr_tensorsrht: far smaller on rows like the training rows, at most twice as large on all others."""
    kernel, D = make_kernel("polynomial", 6), 512
    noise = np.random.default_rng(0).standard_normal((60, 64))
    noise /= np.linalg.norm(noise, axis=1)[:, None]
    sketches = fitted(name, kernel, digits[60:], D), make_sketch("ctr_tensorsrht", kernel)
    for Y, limit in ((digits[:60], 0.4), (-digits[:60], 2), (noise, 2)):
        K, rng = kernel.gram(Y, Y), np.random.default_rng(1)
        ours, theirs = (
            np.mean(
                [np.linalg.norm(Phi @ Phi.T - K) for Phi in (s.sample(64, D, rng, np.float64)(Y) for _ in range(8))]
            )
            for s in sketches
        )
        assert ours < limit * theirs, (ours, theirs)


def test_what_anchors_know_is_exact(rows):
    (X, _), kernel = rows, KERNELS["polynomial"]
    sketch = fitted("anchored", kernel, X, D)
    Z = sketch.anchors.Z
    values = draws_of(sketch, Z, D, 2)
    np.testing.assert_allclose(
        values, np.tile(kernel.gram(Z, Z)[np.triu_indices(len(Z))], (2, 1)), rtol=2e-4, atol=1e-6
    )
    assert sketch.closed_form.variance(Z, Z, D).max() < 1e-5


def test_degree_one_is_made_of_full_hadamard_matrices():
    X = np.random.default_rng(0).standard_normal((60, 8)) + 1
    counts = [fitted("mean_split", make_kernel("polynomial", 2), X, D).counts[0] for D in (400, 401)]
    assert sorted(count % 8 for count in counts) == [0, 7]  # the other degree has pairs of columns
    linear = fitted("mean_split", KERNELS["linear"], X, 9)  # one explicit feature: exact
    np.testing.assert_allclose(draws_of(linear, X[:5], 9, 1)[0], (X[:5] @ X[:5].T)[np.triu_indices(5)], atol=1e-12)


def test_features_by_the_definition(rows):
    """Every column again, by slow loops over signs, rows and powers."""
    (X, Y), p = rows, 3
    sketch = fitted("mean_split", make_kernel("polynomial", p), X, 60)
    features = sketch.sample(64, 60, np.random.default_rng(0), np.float64)
    Phi, split = features(Y), sketch.split
    c, r = Y @ split.u, Y - np.outer(Y @ split.u, split.u)
    start = p + 1
    for products, weights in features.terms:
        e = np.array([[sum(w * (x / split.of_mean) ** i for i, w in enumerate(row)) for row in weights] for x in c])
        expected = oracles.srht_features(r / split.of_rest, products.signs, products.index) * e
        columns = [expected.real, expected.imag] if np.iscomplexobj(products.signs) else [expected.real]
        width = sum(part.shape[1] for part in columns)
        np.testing.assert_allclose(Phi[:, start : start + width], np.concatenate(columns, axis=1), atol=1e-12)
        start += width
    assert start == features.D


@pytest.mark.parametrize("D", [12, 13, 40, 1000])
@pytest.mark.parametrize("name", NAMES)
def test_the_features_are_as_many_as_asked(name, D, rows):
    X, Y = rows
    sketch = fitted(name, KERNELS["polynomial"], X, D)
    assert sketch.sample(64, D, np.random.default_rng(0))(Y).shape == (len(Y), D)
    anchors = sketch.facts().get("anchors", 0)
    assert sum(sketch.facts()["allocation"].values()) + anchors == D
    assert anchors <= D // 4 + 1
    assert all(count % 2 == 0 for count in list(sketch.facts()["allocation"].values())[2:])


@pytest.mark.parametrize("name", NAMES)
def test_mistakes_are_explained(name, rows):
    X, kernel = rows[0], KERNELS["polynomial"]
    assert "at least 10 features" in make_sketch(name, kernel).objection(9)
    with pytest.raises(InputError, match="needs at least"):
        fitted(name, KERNELS["gaussian"], X, 9)
    with pytest.raises(InputError, match="training rows first"):
        make_sketch(name, kernel).sample(64, D, np.random.default_rng(0))
    with pytest.raises(InputError, match="did you mean 'tensorsrht'"):
        make_sketch(name, kernel, base="tensorsrth")
    with pytest.raises(InputError, match="from 0 to 1"):
        make_sketch(name, kernel, safety=1.5)
    with pytest.raises(InputError, match="at least 2"):
        fitted(name, kernel, X[:1], D)
    with pytest.raises(InputError, match="allocation is for"):
        fitted(name, kernel, X, D).sample(64, D + 2, np.random.default_rng(0))


def test_mistakes_about_anchors_are_explained():
    with pytest.raises(InputError, match="did you mean 'k_means'"):
        make_sketch("anchored", KERNELS["polynomial"], centroids="kmeans")
    with pytest.raises(InputError, match="mean_split has none"):
        make_sketch("anchored", KERNELS["polynomial"], anchors=0)
    assert "30 anchors need at least 41 features" in make_sketch(
        "anchored", KERNELS["polynomial"], anchors=30
    ).objection(40)


def test_as_many_anchors_as_asked(rows):
    assert fitted("anchored", KERNELS["polynomial"], rows[0], 41, anchors=30).facts()["anchors"] == 31
