"""Nyström features against dense formulas, scikit-learn, and what theory says of landmarks."""

import tracemalloc

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from rfbench.checks import InputError
from rfbench.kernels import SCALAR, kernel_recipe, make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.nystrom.leverage import by_leverage, scores
from rfbench.sketches.nystrom.sketch import LANDMARKS, NystromMap

GAUSSIAN = make_kernel("gaussian", 1, length_scale=1.0)
CUBIC = make_kernel("polynomial", 3)


def drawn(X, D, landmarks="rpcholesky", kernel=CUBIC, seed=0, dtype=np.float64, **options):
    sketch = make_sketch("nystrom", kernel, landmarks=landmarks, **options)
    return sketch.adapt(X, D).sample(X.shape[1], D, np.random.default_rng(seed), dtype)


def estimate(features, X, Y):
    return features(X) @ features(Y).T


@pytest.mark.parametrize("landmarks", LANDMARKS)
@pytest.mark.parametrize("name", [cls.name for cls in SCALAR])
def test_the_estimate_is_the_dense_formula_for_every_kernel(name, landmarks, digits):
    kernel, X = kernel_recipe(name, 3).fit(digits), digits[::5]
    features = drawn(digits, 12, landmarks, kernel)
    Z = features.Z
    wanted = kernel.gram(X, Z) @ np.linalg.pinv(kernel.gram(Z, Z), 1e-12, hermitian=True) @ kernel.gram(Z, X)
    np.testing.assert_allclose(estimate(features, X, X), wanted, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("landmarks", LANDMARKS)
def test_it_is_exact_on_landmarks_and_below_the_kernel_elsewhere(landmarks, digits):
    features = drawn(digits, 48, landmarks)
    Z = features.Z
    np.testing.assert_allclose(estimate(features, Z, digits), CUBIC.gram(Z, digits), atol=1e-9)
    left = CUBIC.gram(digits, digits) - estimate(features, digits, digits)
    values = np.linalg.eigvalsh(left)
    assert values[0] > -1e-9
    assert values.sum() > 0.1  # it has a bias
    np.testing.assert_allclose(
        features.facts["residual_trace"], np.trace(left) / np.trace(CUBIC.gram(digits, digits)), rtol=1e-6
    )


def test_scikit_learn_has_the_same_estimate_for_the_same_components(digits):
    peer = Nystroem("poly", degree=3, gamma=1, coef0=1, n_components=40, random_state=0).fit(digits)
    ours = NystromMap(CUBIC, peer.components_, 40, np.float64)
    Phi = peer.transform(digits)
    np.testing.assert_allclose(estimate(ours, digits, digits), Phi @ Phi.T, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_without_an_eigenvalue_are_zero(dtype, wine):
    """Of rows in two dimensions, x·y has rank 2; and there may be fewer rows than features."""
    X = np.concatenate((wine[:, :2], wine[:, :2])).astype(dtype)
    kernel = make_kernel("linear", 1)
    features = NystromMap(kernel, X[:9], 12, dtype)
    Phi = features(X)
    assert Phi.shape == (len(X), 12)
    assert not Phi[:, 2:].any()
    np.testing.assert_allclose(Phi @ Phi.T, X @ X.T, rtol=1e-4)
    assert drawn(X, 12, "uniform", kernel, dtype=dtype).facts["rank"] == 2
    assert drawn(X[:5], 12, kernel=kernel, dtype=dtype).facts["landmarks"] == 2  # nothing is left for a third pivot
    few = drawn(X[:5], 12, "uniform", kernel, dtype=dtype)
    assert few.facts["landmarks"] == 5
    assert few(X).shape == Phi.shape


@pytest.mark.parametrize("landmarks", LANDMARKS)
def test_only_greedy_landmarks_are_the_same_for_every_seed(landmarks, digits):
    one, two = (drawn(digits, 16, landmarks, seed=seed)(digits) for seed in (0, 1))
    assert np.allclose(one, two) == (landmarks == "greedy")
    assert make_sketch("nystrom", CUBIC, landmarks=landmarks).random == (landmarks != "greedy")


def clusters():
    """Many rows at one place, few at nineteen others."""
    rng = np.random.default_rng(0)
    centres = 10 * rng.standard_normal((20, 5))
    of = np.concatenate((np.zeros(1810, int), np.repeat(np.arange(1, 20), 10)))
    return centres[of] + 0.05 * rng.standard_normal((len(of), 5))


def left(landmarks, X, D, seed=0):
    return drawn(X, D, landmarks, GAUSSIAN, seed).facts["residual_trace"]


@pytest.mark.medium
@pytest.mark.parametrize("landmarks", ["rpcholesky", "leverage", "greedy"])
def test_landmarks_that_see_the_kernel_find_small_clusters(landmarks):
    X = clusters()
    ours, uniform = (np.mean([left(name, X, 40, seed) for seed in range(5)]) for name in (landmarks, "uniform"))
    assert ours < uniform / 2
    assert uniform > 0.04


@pytest.mark.parametrize("landmarks", LANDMARKS)
def test_more_landmarks_leave_less(landmarks, digits):
    traces = [drawn(digits, D, landmarks, GAUSSIAN).facts["residual_trace"] for D in (5, 20, 80)]
    assert traces[0] > 1.5 * traces[1] > 2.25 * traces[2]


def test_leverage_scores_of_all_rows_are_those_of_the_dense_matrix(digits):
    K, rank = GAUSSIAN.gram(digits, digits), 10
    ridge = np.linalg.eigvalsh(K)[:-rank].sum() / rank
    wanted = np.diag(K @ np.linalg.inv(K + ridge * np.eye(len(K))))
    ours = scores(GAUSSIAN, digits, digits, np.ones(len(digits)), rank)
    np.testing.assert_allclose(ours, wanted, rtol=1e-8)
    S = digits[::3]  # a third of the rows, each for three
    estimated = scores(GAUSSIAN, digits, S, np.full(len(S), np.sqrt(3)), rank)
    assert np.corrcoef(estimated, wanted)[0, 1] > 0.5


def test_leverage_takes_different_rows_of_the_training_rows(digits):
    Z = by_leverage(GAUSSIAN, digits, 30, np.random.default_rng(0))
    assert len(np.unique(Z, axis=0)) == 30
    assert {row.tobytes() for row in Z} <= {row.tobytes() for row in digits}


@pytest.mark.medium
@pytest.mark.parametrize("landmarks", LANDMARKS)
def test_the_fit_takes_the_memory_that_is_stated(landmarks):
    """8 n (D + d) bytes for pivots; blocks of rows for the others."""
    n, d, D = 20_000, 16, 128
    X = np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
    tracemalloc.start()
    drawn(X, D, landmarks, GAUSSIAN)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pivoted = landmarks in ("rpcholesky", "greedy")
    assert peak < 8 * n * (d + 6) + 4 * 8 * 4096 * D + 8 * n * D * pivoted


def test_wrong_options_are_refused_in_words():
    with pytest.raises(InputError, match=r"no sketch.landmarks 'kmeans'; did you mean 'k_means'"):
        make_sketch("nystrom", CUBIC, landmarks="kmeans")
    with pytest.raises(InputError, match=r"sketch.block must be at least 1"):
        make_sketch("nystrom", CUBIC, block=0)
    with pytest.raises(InputError, match=r"sketch.sample_rows must be at least 1000"):
        make_sketch("nystrom", CUBIC, sample_rows=999)
    with pytest.raises(InputError, match="one output, and kernel 'curl_free' has several"):
        make_sketch("nystrom", make_kernel("curl_free", 1))
    with pytest.raises(InputError, match="neither compressive nor nystrom"):
        make_sketch("compressive", CUBIC, base="nystrom")
    with pytest.raises(InputError, match="needs training rows"):
        make_sketch("nystrom", CUBIC).sample(3, 4, np.random.default_rng(0))
