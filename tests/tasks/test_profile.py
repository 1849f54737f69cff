"""Functions that figures show, against their definitions: profiles, terms of series, variances of another sketch."""

import numpy as np
import pytest

from rfbench.results.rows import read_rows
from rfbench.results.series import read_series
from rfbench.tasks.profile import density, opposite, pairs


def curve(tmp_path, name):
    """x and y of a curve of the only job."""
    (path,) = tmp_path.rglob("series.csv")
    return np.array([(float(r["x"]), float(r["y"])) for r in read_series(path.parent) if r["name"] == name]).T


def numbers(tmp_path):
    """Metric → value of the only job."""
    (path,) = tmp_path.rglob("results.csv")
    return {r["metric"]: float(r["value"]) for r in read_rows(path)}


@pytest.mark.parametrize("along", ["distance", "sphere", "norm"])
def test_pairs_are_as_far_apart_as_given(along):
    t = np.linspace(0, 2, 9)
    X, Y = pairs(along, t, np.pi / 3)
    lengths = np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1)
    if along == "norm":
        np.testing.assert_allclose(lengths, (t, t))
        np.testing.assert_allclose((X * Y).sum(1), t**2 / 2, atol=1e-12)
    else:
        np.testing.assert_allclose(np.linalg.norm(X - Y, axis=1), t, atol=1e-12)
    if along == "sphere":
        np.testing.assert_allclose(lengths, 1)


def test_signs_are_opposite_in_the_share_given():
    t, X, Y = opposite(8, np.linspace(0, 1, 41))
    assert t.tolist() == [n / 8 for n in range(9)]  # of 41 points, those that 8 columns have
    np.testing.assert_allclose((X * Y < 0).mean(1), t)
    np.testing.assert_allclose((X * Y).sum(1), 1 - 2 * t, atol=1e-15)
    np.testing.assert_allclose((X**2 * Y**2).sum(1), 1 / 8)


@pytest.mark.parametrize(("sketch", "q"), [("rademacher", 1), ("complex_rademacher", 0.5)])
def test_variances_along_signs_are_those_of_the_thesis(sketch, q, rfbench, tmp_path):
    """Thesis Eq. 3.17 with s = (1 − 2τ)² and S = 1/d: complex weights have less variance where s > S."""
    words = ("task=profile", "task.along=signs", "task.reach=1", "dataset=synthetic", "dataset.columns=16")
    done = rfbench(*words, "kernel.bias=0", "degree=3", "features=1", "seeds=1", f"sketch={sketch}")
    assert done.returncode == 0, done.stderr
    t, variance = curve(tmp_path, "variance")
    s, S = (1 - 2 * t) ** 2, 1 / 16
    np.testing.assert_allclose(variance, (1 + ((2 * q - 1) ** 2 + 1) * (s - S)) ** 3 - s**3, atol=1e-9)


def test_variance_of_real_fourier_features_is_that_of_the_thesis(rfbench, tmp_path):
    """Thesis 2.1: of D features, D/2 cosines and as many sines; 1/2 + k(2τ)/2 − k(τ)² for each pair."""
    words = ("task=profile", "dataset=synthetic", "kernel=gaussian", "kernel.length_scale=1", "features=2", "seeds=1")
    done = rfbench(*words, "sketch=rff", "dtype=float64")
    assert done.returncode == 0, done.stderr
    (t, k), (_, variance) = (curve(tmp_path, name) for name in ("kernel", "variance"))
    assert t.tolist() == np.linspace(0, 4, 41).tolist()
    np.testing.assert_allclose(k, np.exp(-(t**2) / 2), atol=1e-12)
    np.testing.assert_allclose(variance, 2 * (0.5 + np.exp(-2 * t**2) / 2 - k**2), atol=1e-12)
    assert numbers(tmp_path) == {"largest_variance": variance.max()}
    assert "\nlargest_variance: of one feature\n" in done.stdout


@pytest.mark.parametrize("kernel", ["polynomial_sphere", "gaussian"])
def test_series_of_a_profile_are_those_of_the_kernel(kernel, rfbench, tmp_path):
    """Thesis 5.1 and 5.3.1, term by term, on the unit sphere: exp(−1) is the Gaussian kernel's factor there."""
    words = {"polynomial_sphere": ("kernel.a=4", "degree=3"), "gaussian": ("kernel.length_scale=1",)}[kernel]
    more = (
        "sketch=random_maclaurin",
        "features=8",
        "seeds=1",
        "task.of=estimate",
        "task.along=sphere",
        "task.series=3",
    )
    data = ("dataset=digits", "dataset.prepare=[unit_norm]", "task.reach=2")
    done = rfbench("task=profile", f"kernel={kernel}", *data, *words, *more)
    assert done.returncode == 0, done.stderr
    t, k = curve(tmp_path, "kernel")
    s = 1 - t**2 / 2
    terms = [np.exp(-1) * s**n / [1, 1, 2, 6][n] for n in range(4)]
    if kernel == "polynomial_sphere":
        terms = [[1, 3, 3, 1][n] * (s / 8) ** n * (7 / 8) ** (3 - n) for n in range(4)]
    for n in (1, 2, 3):
        np.testing.assert_allclose(curve(tmp_path, f"series{n}")[1], np.sum(terms[: n + 1], 0), atol=1e-12)
    if kernel == "polynomial_sphere":
        np.testing.assert_allclose(curve(tmp_path, "series3")[1], k, atol=1e-12)


def test_density_counts_every_pair_once(wine):
    t = np.linspace(0, 1.5, 16)
    counted = np.zeros(17)  # the last one for all that are further apart
    for i, x in enumerate(wine):
        for y in wine[:i]:
            counted[min(round(float(np.linalg.norm(x - y)) / 0.1), 16)] += 1
    np.testing.assert_allclose(density(wine, t), counted[:-1] / counted.sum() / 0.1, atol=1e-12)
    assert counted[0] == 0 < counted[-1]


def test_series_and_distances_where_there_are_none_are_refused_in_words(rfbench):
    done = rfbench("task=profile", "task.rows=100", "task.along=norm", "sketch=rademacher")
    assert done.returncode == 2
    assert "task.rows must be 0, or from 2 to 5000 along distance or sphere" in done.stderr
    done = rfbench("task=profile", "task.series=3", "kernel=laplacian", "sketch=rff")
    assert done.returncode == 2
    assert "task.series needs a dot product kernel, and kernel 'laplacian' is not one" in done.stderr


def test_terms_of_a_series_are_those_of_their_definition(rfbench, tmp_path, wine):
    """Thesis 5.3.2 by a double loop, Gaussian weights: the variance of one feature is 3ⁿ-like [Eq. 3.8]."""
    from rfbench.kernels import make_kernel
    from rfbench.sketches.maclaurin.allocation import statistics
    from rfbench.sketches.maclaurin.series import term

    kernel = make_kernel("polynomial_sphere", 4, a=4.0)
    curves, biases = statistics(kernel, {n: term("gaussian", n, wine.shape[1]) for n in (1, 2, 3, 4)}, wine)
    a = kernel.coefficients(np.arange(5))
    for n in (1, 2, 3, 4):
        variance, bias = [], []
        for i, x in enumerate(wine):
            for j, y in enumerate(wine):
                if i != j:
                    s, norms = x @ y, (x @ x) * (y @ y)
                    variance.append(a[n] ** 2 * ((norms + 2 * s**2) ** n - s ** (2 * n)))
                    bias.append((kernel.gram(x[None], y[None])[0, 0] - sum(a[m] * s**m for m in range(n + 1))) ** 2)
        np.testing.assert_allclose(curves[n - 1].V, np.mean(variance), rtol=1e-9)
        np.testing.assert_allclose(biases[n - 1], np.mean(bias), atol=1e-15)
    words = ("task=maclaurin_terms", "kernel=polynomial_sphere", "degree=4", "features=16", "seeds=2", "task.rows=50")
    done = rfbench(*words)
    assert done.returncode == 0, done.stderr
    (degrees, V), (_, b) = (curve(tmp_path, name) for name in ("variance", "bias"))
    assert degrees.tolist() == 2 * [1, 2, 3, 4]  # of two seeds
    assert numbers(tmp_path) == {"largest_variance": V[4:].max(), "last_bias": b[-1]}


@pytest.mark.parametrize(("degree", "same"), [(1, True), (3, False)])
def test_variance_by_monte_carlo_of_another_sketch(degree, same, rfbench, tmp_path):
    """At degree 1 TensorSketch is CountSketch, with the variance of the Rademacher sketch; at degree 3 it has less."""
    words = ("task=variance", "task.against=tensorsketch", "task.rows=30", "task.pairs=1", "kernel.bias=0", "seeds=1")
    done = rfbench(*words, "sketch=rademacher", "features=64", f"degree={degree}", "task.draws=600")
    assert done.returncode == 0, done.stderr
    median = dict(curve(tmp_path, "ratio_to_tensorsketch").T)[0.5]
    error = np.sqrt(2 / 600)  # of a variance from so many draws, nearly
    assert (abs(median - 1) < 2 * error) == same, median
