"""Figures of functions: profiles, terms, deviations of distances, projections, and grids of penalties."""

import numpy as np
import pytest
from support.figures import axes, bars, curves, lines, metrics

from rfbench.reports.figures.grids import SCALES, cells, draw_grids
from rfbench.results.pictures import GRIDS, PictureKey

T = (0.0, 1.0, 2.0)


def test_a_profile_is_the_kernel_its_series_and_the_variance():
    heights = {"kernel": 5, "variance": 3, "series1": 7, "density": 2}
    series = curves(
        {"task": "profile(along=norm, angle=30)", "name": name, "points": [(t, height + t) for t in T]}
        for name, height in heights.items()
    )
    ax = axes(series=series)["made, Gaussian"]
    drawn = lines(ax)
    for label, height in (("kernel", 5), ("variance, rff", 3), ("series to degree 1", 7)):
        np.testing.assert_allclose(drawn[label], [(t, height + t) for t in T])
    assert ax.get_xlabel() == "length of both rows, at 30°"
    density = next(other for other in ax.figure.axes if other is not ax)
    assert [bar.get_height() for bar in density.patches] == [2 + t for t in T]


def test_terms_are_drawn_against_the_degree():
    """Variance and bias in panels of their own, with the deviation over seeds."""
    series = curves(
        {"task": "maclaurin_terms", "name": name, "seed": k, "points": [(n, height * n + k) for n in (1, 2, 3)]}
        for name, height in (("bias", 1), ("variance", 2))
        for k in (0, 2)
    )
    variance, bias = axes(series=series).values()
    assert (variance.get_ylabel(), bias.get_ylabel()) == ("variance of one feature", "squared bias up to degree n")
    np.testing.assert_allclose(lines(variance)["rff"], [(n, 2 * n + 1) for n in (1, 2, 3)])
    np.testing.assert_allclose(lines(bias)["rff"], [(n, n + 1) for n in (1, 2, 3)])
    assert bars(bias)["rff"] == pytest.approx(3 * [np.sqrt(2)])


def test_the_deviation_of_a_distance_is_drawn_against_its_time():
    numbers = {"kid_std": lambda D: 1 / D, "kid_seconds": lambda D: 10 * D, "block_kid_std": lambda D: 7}
    numbers["block_seconds"] = lambda D: 3
    rows = [
        {"task": "kid", "features": D, "metric": metric, "value": value(D)}
        for D in (16, 8)
        for metric, value in numbers.items()
    ]
    ax = axes(metrics(rows))["made, Gaussian"]
    np.testing.assert_allclose(lines(ax)["rff"], [(80, 1 / 8), (160, 1 / 16)])
    np.testing.assert_allclose(lines(ax)["Block-MMD"], [(3, 7)])


def test_sizes_of_block_mmd_are_one_line_and_other_options_other_panels():
    rows = [
        {"task": task.format(size), "features": 8, "metric": metric, "value": value}
        for task in ("kid(subset_rows={})", "kid(exact_degree=0, subset_rows={})")
        for size in (1000, 100)
        for metric, value in {"kid_std": 5, "kid_seconds": 2, "block_kid_std": 1 / size, "block_seconds": size}.items()
    ]
    for ax in axes(metrics(rows)).values():
        np.testing.assert_allclose(lines(ax)["rff"], [(2, 5)])
        np.testing.assert_allclose(lines(ax)["Block-MMD"], [(100, 1 / 100), (1000, 1 / 1000)])
    assert len(axes(metrics(rows))) == 2


def test_projections_are_times_and_energies_with_bars_of_one_standard_deviation():
    rows = [
        {"task": "projection", "sketch": device, "features": D, "metric": metric, "seed": k, "value": scale * D + k}
        for device, scale in (("numpy", 1), ("optical(opu=simulated)", 2))
        for D in (100, 200)
        for metric in ("joules", "transform_seconds")
        for k in (0, 2)
    ]
    times, energies = axes(metrics(rows)).values()
    assert (times.get_ylabel(), energies.get_ylabel()) == ("time of a projection [s]", "energy of a projection [J]")
    np.testing.assert_allclose(lines(times)["numpy"], [(100, 101), (200, 201)])
    assert bars(energies)["optical(opu=simulated)"] == pytest.approx(2 * [np.sqrt(2)])


def test_cells_of_a_grid_are_the_losses_at_the_penalty_over_the_squared_scale():
    """Features s φ with α are features φ with α/s²: the column of s = 1 is the curve, and diagonals are equal."""
    alphas, losses = 10.0 ** np.arange(-3, 2), np.arange(5.0)
    found = cells(alphas, losses)
    assert found.shape == (5, len(SCALES))
    for i, alpha in enumerate(alphas):
        for j, power in enumerate(SCALES):
            at = np.flatnonzero(np.isclose(alphas, alpha / (10**power) ** 2))
            np.testing.assert_equal(found[i, j], losses[at[0]] if len(at) else np.nan)


def test_a_grid_is_drawn_with_its_best_penalty():
    alphas, losses = 10.0 ** np.arange(-3, 2), np.array([5.0, 4, 1, 2, 3])
    keys = [PictureKey(GRIDS, "made", sketch, 8, 0.25, "gaussian") for sketch in ("rff", "orf")]
    figure = draw_grids({key: np.array((alphas, losses)) for key in keys})
    first, second = (ax for ax in figure.axes if ax.images)
    np.testing.assert_array_equal(first.images[0].get_array().filled(np.nan), cells(alphas, losses))
    assert first.get_lines()[0].get_xydata().tolist() == [[0, -1]]
    assert (first.get_title(), second.get_title()) == ("RFF: 0.25", "ORF: 0.25")
