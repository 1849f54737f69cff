"""Operations by formula against operations counted while features are computed."""

import csv

import numpy as np
import pytest
from support import zoo

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.operations import flops


class Counted(np.ndarray):
    """An array that counts the operations of every ufunc in which it takes part."""

    total = 0.0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **rest):
        plain = [np.asarray(x) if isinstance(x, Counted) else x for x in inputs]
        into = None if out is None else tuple(np.asarray(x) for x in out)
        result = getattr(ufunc, method)(*plain, **({"out": into} if into else {}), **rest)
        size = np.size(result)
        Counted.total += 2 * size * np.shape(plain[0])[-1] if ufunc is np.matmul else size
        return out[0] if out is not None else result


@pytest.mark.parametrize(
    ("name", "kernel", "options"),
    [
        ("rff", "gaussian", {}),
        ("complex_rff", "gaussian", {}),
        ("phase_rff", "gaussian", {}),
        ("arc_cosine", "arc_cosine", {}),
        ("arc_cosine", "arc_cosine", {"directions": "orthogonal", "norms": "constant"}),
    ],
)
def test_the_formula_is_the_count(name, kernel, options):
    d, D, n = 13, 40, 5
    features = make_sketch(name, make_kernel(kernel), **options).sample(d, D, np.random.default_rng(0), np.float64)
    X = np.random.default_rng(1).standard_normal((n, d)).view(Counted)
    Counted.total = 0.0
    features.write(X, features.empty(n).view(Counted))
    assert Counted.total == n * flops(features)


def test_a_dense_product_of_degree_p_is_p_matrix_products():
    d, D = 13, 40
    for name, numbers in (("rademacher", 1), ("complex_rademacher", 2)):
        features = make_sketch(name, make_kernel("polynomial", 3, bias=0.0)).sample(d, D, np.random.default_rng(0))
        assert flops(features) == 3 * 2 * d * D * numbers + 2 * D * (6 if numbers == 2 else 1)


@pytest.mark.parametrize("name", zoo.CASES)
def test_operations_grow_with_the_features_or_are_not_counted(name):
    sketch, X = zoo.sketch_of(name), np.random.default_rng(1).dirichlet(np.ones(16), 50)
    few, many = (
        flops(sketch.adapt(X, D).sample(16, D, np.random.default_rng(0), np.float64))
        for D in (sketch.count(16, 64), sketch.count(16, 256))
    )
    assert np.isnan(few) == np.isnan(many)
    assert np.isnan(few) or few <= many


UNCOUNTED = {"exact", "compressive_exact", "localized_maclaurin", "optical_rff"}  # no features of rows, or a device


def test_all_sketches_but_four_are_counted():
    X = np.random.default_rng(1).dirichlet(np.ones(16), 50)
    found = set()
    for name in zoo.CASES:
        sketch = zoo.sketch_of(name)
        D = sketch.count(16, 64)
        if np.isnan(flops(sketch.adapt(X, D).sample(16, D, np.random.default_rng(0), np.float64))):
            found.add(name)
    assert found == UNCOUNTED


@pytest.mark.parametrize("shape", ["sequential", "tree"])
def test_a_hierarchy_sketches_pairs_and_complex_sketches_twice(shape):
    """Degree 4: a tree sketches rows four times and sketches twice, a sequence rows four times and sketches twice."""
    d, D, kernel = 13, 40, make_kernel("polynomial", 4, bias=0.0)
    for base, numbers, twice, join in (("rademacher", 1, 1, 2), ("complex_rademacher", 2, 2, 8)):
        features = make_sketch("hierarchical", kernel, base=base, shape=shape).sample(d, D, np.random.default_rng(0))
        assert flops(features) == 2 * numbers * (4 * d * D + twice * 2 * D * D) + 3 * join * D


def test_anchors_add_their_kernels_coordinates_and_corrections():
    X = np.random.default_rng(1).dirichlet(np.ones(16), 300)
    sketch = make_sketch("anchored", make_kernel("polynomial", 3)).adapt(X, 256)
    features = sketch.sample(16, 256, np.random.default_rng(0))
    anchors, rank, rest = len(features.Z), len(features.W), features.base.D
    matrices = 2 * anchors * 16 + 2 * rank * anchors + 2 * rank * rest  # what any way to compute it multiplies
    added = flops(features) - flops(features.base)
    assert matrices < added < matrices + 20 * anchors + 2 * rest


def test_centroids_of_the_cache_count_with_the_time_they_took(rfbench, tmp_path):
    """A second run finds them; its fit is no cheaper."""
    words = ("sketch=anchored", "features=256", "seeds=1", "costs=true", "kernel.gamma=0.123")
    for _ in range(2):
        assert not rfbench(*words, "force=true").returncode
        rows = [row for path in tmp_path.rglob("results.csv") for row in csv.DictReader(path.open())]
        found = {row["metric"]: float(row["value"]) for row in rows}
        assert found["seconds_total"] > found["fit_seconds"]


def test_every_trial_can_report_its_costs(rfbench, tmp_path):
    run = rfbench("sketch=rff", "features=[32,64]", "seeds=1", "costs=true", "dataset=wine")
    rows = [row for path in tmp_path.rglob("results.csv") for row in csv.DictReader(path.open())]
    found = {(row["metric"], row["features"]): float(row["value"]) for row in rows}
    n = int(rows[0]["n_train"]) + int(rows[0]["n_test"])
    for D in (32, 64):
        assert found["flops", str(D)] == n * (2 * 13 * D / 2 + 4 * D / 2)
        assert found["bytes", str(D)] >= n * D * 4
        assert found["seconds_total", str(D)] > 0
    assert run
