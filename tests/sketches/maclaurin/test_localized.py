"""Localized Maclaurin features: clusters, mean and variance of the estimate, and what it cures."""

import numpy as np
import pytest
from support import stats
from support.gp import run
from support.oracles import truncated
from support.stats import LIMIT

from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.maclaurin.localized import farthest_points, nearest

pytestmark = pytest.mark.medium

KERNEL = make_kernel("gaussian", 3, length_scale=0.7)
D = 40


def localized(X, D=D, **options):
    return make_sketch("localized_maclaurin", KERNEL, **options).adapt(X, D)


@pytest.mark.parametrize("threshold", [0.3, 0.8, 5.0])
def test_farthest_points_cover_all_rows_and_keep_their_distance(wine, threshold):
    centroids = farthest_points(wine, wine.mean(0), threshold)
    distances = np.linalg.norm(wine[:, None] - centroids, axis=2)
    np.testing.assert_array_equal(centroids[0], wine.mean(0))
    assert distances.min(1).max() <= threshold
    among = np.linalg.norm(centroids[:, None] - centroids, axis=2)[np.triu_indices(len(centroids), 1)]
    assert (among > threshold).all()
    np.testing.assert_array_equal(nearest(wine, centroids), distances.argmin(1))
    assert (len(centroids) == 1) == (threshold == 5.0)


def test_farthest_points_end_where_rows_repeat():
    rows = 1e8 + np.repeat(np.eye(3), 4, axis=0)
    assert len(np.unique(farthest_points(rows, rows.mean(0), 1e-9)[1:], axis=0)) == 3


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
