"""Localized Maclaurin features: clusters, mean and variance of the estimate, and what it cures."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from support import stats
from support.gp import run
from support.oracles import truncated
from support.stats import LIMIT
from support.trial import drawn

from rfbench.arrays import squared_distances
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.kernels import make_kernel
from rfbench.sketches import SKETCHES, make_sketch
from rfbench.sketches.maclaurin.centroids import farthest_points, k_means, nearest, random_rows
from rfbench.sketches.maclaurin.localized import LocalizedMaclaurin
from rfbench.tasks.scores import kl

pytestmark = pytest.mark.medium

KERNEL = make_kernel("gaussian", 3, length_scale=0.7)
D = 40


def localized(X, D=D, **options):
    return make_sketch("localized_maclaurin", KERNEL, **options).adapt(X, D)


@pytest.mark.parametrize("threshold", [0.3, 0.8, 5.0])
def test_farthest_points_cover_all_rows_and_keep_their_distance(wine, threshold):
    centroids = farthest_points(lambda: np.array_split(wine, 4), threshold)
    distances = np.linalg.norm(wine[:, None] - centroids, axis=2)
    np.testing.assert_allclose(centroids[0], wine.mean(0))
    np.testing.assert_allclose(centroids, farthest_points(lambda: [wine], threshold), atol=1e-12)
    assert distances.min(1).max() <= threshold
    among = np.linalg.norm(centroids[:, None] - centroids, axis=2)[np.triu_indices(len(centroids), 1)]
    assert (among > threshold).all()
    np.testing.assert_array_equal(nearest(wine, centroids), distances.argmin(1))
    assert (len(centroids) == 1) == (threshold == 5.0)


def test_farthest_points_end_where_rows_repeat():
    rows = 1e8 + np.repeat(np.eye(3), 4, axis=0)
    assert len(np.unique(farthest_points(lambda: [rows], 1e-9)[1:], axis=0)) == 3


@pytest.mark.parametrize("base", ["rademacher", "complex_rademacher", "ctr_stacked_tensorsrht"])
def test_mean_and_variance(base, wine):
    """Within and between clusters, the mean is that of the truncated series around the centroids."""
    train = wine + 0.1 * np.random.default_rng(0).standard_normal(wine.shape)  # a row that is a centroid has no error
    sketch = localized(train, base=base, threshold=1.3)
    centroids = np.array(sketch.centroids)
    cluster = nearest(wine, centroids)
    assert 3 <= len(np.unique(cluster)) < len(wine)
    degrees = np.flatnonzero(sketch.base.allocation)
    around = np.array([truncated(KERNEL, degrees, wine - c) for c in centroids])
    rows = np.arange(len(wine))
    mean = (around[cluster[:, None], rows[:, None], rows] + around[cluster, rows[:, None], rows]) / 2
    values = stats.estimates(sketch, wine, D, 500, 1)
    k, V = (stats.of_pairs(M) for M in (mean, sketch.closed_form.variance(wine, wine, D)))
    assert stats.z_of_mean(values, k, V) < LIMIT
    ratio, error = stats.variance_ratio(values, k, V)
    assert abs(ratio - 1) < max(0.1, 3 * error)
    assert stats.z_of_mean(values, stats.of_pairs(around[0]), V) > 2 * LIMIT  # not those around the mean


@pytest.mark.parametrize("base", ["rademacher", "complex_gaussian"])
def test_pairs_are_the_product(base, wine):
    features = localized(wine, base=base, threshold=1.3).sample(13, D, np.random.default_rng(0), np.float64)
    K = features.product(wine, wine)
    assert np.iscomplexobj(K) == base.startswith("complex_")
    np.testing.assert_allclose(K, K.conj().T, atol=1e-12)
    i, j = np.triu_indices(len(wine))
    np.testing.assert_allclose(features.paired(wine[i], wine[j])[:, 0], K[i, j], rtol=1e-10)


def test_every_cluster_has_a_draw_of_its_own(wine):
    features = localized(wine, threshold=1.3).sample(13, D, np.random.default_rng(0), np.float64)
    draws = [expert.base(wine) for expert in features.experts]
    assert len(draws) >= 3
    for i, Phi in enumerate(draws):
        assert not any(np.allclose(Phi, Psi) for Psi in draws[i + 1 :])


def test_another_seed_another_draw(wine):
    one, two = (localized(wine).sample(13, D, np.random.default_rng(seed)).product(wine, wine) for seed in (0, 1))
    assert not np.allclose(one, two)


def test_one_cluster_of_centred_rows_is_the_optimized_sketch(wine):
    X = wine - wine.mean(0)
    one = localized(X, threshold=100.0).sample(13, D, np.random.default_rng(0), np.float64)
    Phi = make_sketch("optimized_maclaurin", KERNEL).adapt(X, D).sample(13, D, np.random.default_rng(0), np.float64)(X)
    np.testing.assert_allclose(one.product(X, X), Phi @ Phi.T, rtol=1e-8, atol=1e-12)


@pytest.fixture(scope="module")
def sinc():
    """sin(5x)/x on a wide interval: far from the origin a Maclaurin series is lost [Wacker 2022, Fig. 5.8]."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, (300, 1))
    y = 5 * np.sinc(5 * x[:, 0] / np.pi) + 0.1 * rng.standard_normal(300)
    return prepared_split(Dataset("sinc", InMemory(x), InMemory(y), None), Preparation(()), 0, np.float64)


def test_it_cures_what_vanishes(sinc):
    """The divergence falls with the number of clusters, far below that of one Maclaurin series or Fourier features."""
    kernel = make_kernel("gaussian", 1, length_scale=0.4)

    def divergence(name, **options):
        _, found = run("gpr", sinc, name, 10, kernel=kernel, sketch_options=options, noise=0.01)
        return found["kl"], found.get("clusters")

    few, many = (divergence("localized_maclaurin", threshold=threshold) for threshold in (4.0, 0.5))
    assert few[1] < many[1]
    assert many[0] < few[0] / 3
    assert many[0] < divergence("optimized_maclaurin")[0] / 10
    assert many[0] < divergence("rff")[0] / 10


def test_it_classifies(sinc):
    part = sinc.train.part.dataset
    data = Dataset("sign", part.X, InMemory((part.y.array > 0.1).astype(np.int64)), 2)
    split = prepared_split(data, Preparation(()), 0, np.float64)
    kernel = make_kernel("gaussian", 1, length_scale=0.4)
    kls = [
        run("gpc", split, name, 10, kernel=kernel, alpha=0.01, samples=50)[1]["kl"]
        for name in ("localized_maclaurin", "optimized_maclaurin")
    ]
    assert kls[0] < kls[1] / 10


def test_mistakes(wine):
    with pytest.raises(InputError, match=r"sketch\.threshold must be above 0"):
        localized(wine, threshold=0.0)
    with pytest.raises(InputError, match="approximates the gaussian kernel"):
        make_sketch("localized_maclaurin", make_kernel("polynomial", 3))
    with pytest.raises(InputError, match="allocation is for 40"):
        localized(wine).sample(13, 50, np.random.default_rng(0))


def test_k_means_is_that_of_scikit_learn(digits):
    """From the same centroids, in blocks and at once."""
    first = farthest_points(lambda: [digits], 0.0, 5)
    assert len(first) == 5
    ours = k_means(lambda: np.array_split(digits, 7), first)
    theirs = KMeans(5, init=first, n_init=1, max_iter=50, tol=0).fit(digits).cluster_centers_
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


def test_random_centroids_are_different_rows_whatever_the_blocks(digits):
    found = random_rows(lambda: np.array_split(digits, 7), 20)
    np.testing.assert_array_equal(found, random_rows(lambda: [digits], 20))
    assert len(np.unique(found, axis=0)) == 20
    assert squared_distances(found, digits).min(1).max() < 1e-12


@pytest.mark.parametrize("centroids", ["farthest", "k_means", "random"])
def test_there_are_as_many_centroids_as_asked_for_or_as_the_threshold_needs(centroids, wine):
    needed = len(localized(wine, threshold=1.0).centroids)
    assert 2 < needed < len(wine)
    assert len(localized(wine, threshold=1.0, centroids=centroids).centroids) == needed
    assert len(localized(wine, threshold=1.0, centroids=centroids, clusters=2).centroids) == 2


def test_centroids_come_from_all_rows(rfbench, tmp_path):
    """Of 1617 rows and not of the 1000 that a kernel learns from: an outlier that is in no sample has a cluster."""
    seen = []

    class Spy(LocalizedMaclaurin):
        def survey(self, rows):
            seen.append(sum(map(len, rows())))
            return super().survey(rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SKETCHES, "localized_maclaurin", replace(SKETCHES["localized_maclaurin"], make=Spy))
        words = ("sketch=localized_maclaurin", "sketch.threshold=3", "features=20", "seeds=1", "task.rows=20")
        assert rfbench(*words).returncode == 0
    assert seen == [1617]


def test_a_small_threshold_is_refused(digits, monkeypatch):
    monkeypatch.setattr("rfbench.sketches.maclaurin.centroids.MOST", 10)
    with pytest.raises(InputError, match="more than 10 clusters; raise it, or give"):
        localized(digits, threshold=0.01)
    assert len(localized(digits, threshold=0.01, clusters=12).centroids) == 12


def by_definition(sinc, features, kernel, noise):
    """Eq. 5.27 with the kernel of Eq. 5.29 for each new row, by dense matrices."""
    (X, y), (new, _) = (next(iter(part.blocks())) for part in (sinc.train, sinc.test))
    signal, y = float(np.var(y)), y - y.mean()
    means, variances = [], []
    for x in new:
        Phi, phi = features.base(X - x), features.base(x[None] - x)[0]
        assert np.allclose(Phi @ phi, kernel.gram(X, x[None])[:, 0])  # exact between a new row and any other
        k, K = signal * Phi @ phi, signal * Phi @ Phi.T + noise * np.eye(len(X))
        means.append(k @ np.linalg.solve(K, y))
        variances.append(signal - k @ np.linalg.solve(K, k))
    return np.array(means), np.array(variances)


def test_each_new_row_may_be_a_centre(sinc):
    """Against dense matrices; and it diverges far less than one series [Wacker 2022, Fig. 5.8]."""
    kernel = make_kernel("gaussian", 1, length_scale=0.4)

    def found(name, **options):
        return run("gpr", sinc, name, 10, kernel=kernel, sketch_options=options, noise=0.01)

    reference, measures = found("localized_maclaurin", centers="test")
    assert "rel_frobenius" not in measures
    assert measures["kl"] < found("optimized_maclaurin")[1]["kl"] / 10
    X = next(iter(sinc.train.blocks()))[0]
    sketch = make_sketch("localized_maclaurin", kernel, centers="test").adapt(X, 10)
    mean, variance = by_definition(sinc, drawn(sketch, 1, 10), kernel, 0.01)
    order, ours = np.argsort(next(iter(sinc.test.blocks()))[0][:, 0]), np.argsort(reference.X_test[:, 0])
    loss = kl(mean[order][:, None], variance[order][:, None], reference.mean[ours], reference.variance[ours])
    np.testing.assert_allclose(measures["kl"], loss.mean(), rtol=1e-4)


def test_other_tasks_refuse_a_centre_for_each_row(rfbench):
    done = rfbench("sketch=localized_maclaurin", "sketch.centers=test", "features=20", "seeds=1")
    assert done.returncode == 2
    assert "use sketch.centers=clusters" in done.stderr
