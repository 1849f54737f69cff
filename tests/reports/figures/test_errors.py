"""Panels of errors and variances: what is drawn is what the tables hold."""

import numpy as np
import pytest
from support.figures import axes, bars, curves, lines, metrics

STD = np.std((0, 2, 7), ddof=1)


def seeds(**row):
    """Three seeds, whose mean is 3 above the value."""
    return [row | {"seed": k, "value": row["value"] + more} for k, more in enumerate((0, 2, 7))]


def test_errors_are_drawn_against_features_with_bars_of_one_standard_deviation():
    rows = [r for D in (16, 8) for r in seeds(metric="rel_frobenius", features=D, value=1 / D)]
    rows += [{"sketch": "exact", "features": 0, "metric": "rel_frobenius", "value": 0.5}]
    ax = axes(metrics(rows))["made, Gaussian"]
    np.testing.assert_allclose(lines(ax)["rff"], [(8, 3 + 1 / 8), (16, 3 + 1 / 16)])
    assert bars(ax)["rff"] == pytest.approx([STD, STD])
    assert {y for _, y in lines(ax)["exact"]} == {0.5}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("features", "relative Frobenius error")


def test_a_level_near_the_lines_is_in_sight_and_one_of_rounding_is_not():
    rows = [{"metric": "error", "task": "ridge", "features": D, "value": 0.2} for D in (8, 16)]
    for level in (0.1, 1e-6):
        exact = {"sketch": "exact", "features": 0, "metric": "error", "task": "ridge", "value": level}
        ((_, ax),) = axes(metrics([*rows, exact])).items()
        assert (ax.get_ylim()[0] < level) == (level == 0.1)


def test_sketches_stand_side_by_side_where_there_is_one_number_of_features():
    rows = [r for k, s in enumerate(("rff", "orf")) for r in seeds(metric="rel_frobenius", sketch=s, value=k)]
    ax = axes(metrics(rows))["made, Gaussian"]
    np.testing.assert_allclose([lines(ax)[s][0] for s in ("rff", "orf")], [(0, 3), (1, 4)])
    assert bars(ax)["orf"] == pytest.approx([STD])


@pytest.mark.parametrize("values", [(4, 5), (-4, 5)])
def test_a_value_that_is_not_positive_has_a_linear_axis(values):
    rows = [{"metric": "mnll", "task": "gpr", "features": D, "value": v} for D, v in zip((8, 16), values, strict=True)]
    assert axes(metrics(rows))["made, Gaussian"].get_yscale() == ("log" if min(values) > 0 else "linear")


def test_measures_of_a_process_have_a_panel_each():
    values = {"nmse": 0.3, "mnll": 0.2, "kl": 1.5, "rmse": 9.0, "rel_frobenius": 0.1}
    rows = [
        {"task": "gpr(noise=0.1)", "features": D, "metric": metric, "value": value / D}
        for D in (16, 32)
        for metric, value in values.items()
    ]
    panels = axes(metrics(rows))
    assert [ax.get_ylabel() for ax in panels.values()] == [
        "normalised mean squared error",
        "mean negative log likelihood",
        "KL divergence from the exact process",
    ]
    np.testing.assert_allclose(lines([*panels.values()][2])["rff"], [(16, 1.5 / 16), (32, 1.5 / 32)])


def test_closed_form_is_a_line_and_monte_carlo_are_crosses():
    rows = [
        {"task": "variance", "metric": f"variance_{name}", "features": D, "value": value / D}
        for D in (8, 16)
        for name, value in (("closed_form", 1), ("empirical", 1.5))
    ]
    ax = axes(metrics(rows))["made, Gaussian"]
    np.testing.assert_allclose(lines(ax)["rff"], [(8, 1 / 8), (16, 1 / 16)])
    np.testing.assert_allclose(lines(ax)["Monte Carlo"], [(8, 1.5 / 8), (16, 1.5 / 16)])


def test_ratios_are_a_distribution_function():
    """The fraction of pairs, upwards, whose ratio is below that on the horizontal axis; mean over seeds."""
    levels = (0, 0.5, 0.95, 1)
    points = [{"seed": k, "points": [(x, 2 * x + k) for x in levels]} for k in (0, 2)]
    rows = [{"task": "variance", "name": "ratio_to_real", "degree": 3} | one for one in points]
    ax = axes(series=curves(rows))["made, Gaussian"]
    np.testing.assert_allclose(lines(ax)["rff, p = 3"], [(2 * x + 1, x) for x in levels])
    assert ax.get_xlim()[1] == pytest.approx(1.5 * 2.9)
    assert ax.get_xlabel() == "variance / variance of the real sketch"


def test_errors_of_ridge_regression_are_in_one_panel_whatever_the_kernel():
    names = (("rff", "gaussian"), ("rff", "laplacian"), ("optical", "optical"))
    rows = [
        {"task": "ridge", "metric": "error", "sketch": s, "kernel": k, "features": D, "value": 1 / D}
        for s, k in names
        for D in (8, 16)
    ]
    ax = axes(metrics(rows))["made"]
    assert set(lines(ax)) == {"rff, gaussian", "rff, laplacian", "optical"}
