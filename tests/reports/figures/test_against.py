"""Figures that a config names: the points are those of the table, and a wrong word is refused."""

import numpy as np
import pytest
from support.figures import NO_CURVES, axes, lines, metrics, segments

from rfbench.checks import InputError
from rfbench.reports.figures.against import points
from rfbench.reports.figures.figure import write_figure

PANEL = "made, Gaussian, p\u00a0=\u00a03"


def summary(*rows):
    names = ("sketch", "degree", "features", "seed", "metric", "value")
    return metrics(dict(zip(names, row, strict=True)) for row in rows)


def made(metric, value, degrees=(3,), counts=(8, 16, 32, 64)):
    cases = [(s, p, D, seed) for s in ("rademacher", "gaussian") for p in degrees for D in counts for seed in (0, 2)]
    return [(s, p, D, seed, metric, value(p, D) + seed / 100) for s, p, D, seed in cases]


def test_a_metric_against_another_is_paired_by_setting():
    table = summary(*made("error", lambda p, D: 1 / D), *made("fit_seconds", lambda p, D: D))
    drawn = lines(axes(table, plot=["error:fit_seconds"])[PANEL])
    assert set(drawn) == {"rademacher", "gaussian"}
    np.testing.assert_allclose(drawn["gaussian"], [(D + 0.01, 1 / D + 0.01) for D in (8, 16, 32, 64)])


def test_several_metrics_of_one_panel_are_named():
    table = summary(*made("kl", lambda p, D: 1 / D), *made("mnll", lambda p, D: D))
    drawn = lines(axes(table, plot=["kl|mnll:features"])[PANEL])
    assert set(drawn) >= {"gaussian(mean negative log likelihood)", "rademacher(KL divergence from the exact process)"}
    found = drawn["gaussian(mean negative log likelihood)"]
    np.testing.assert_allclose(found, [(D, D + 0.01) for D in (8, 16, 32, 64)])


def test_against_the_degree_all_are_in_one_panel(tmp_path):
    table = summary(*made("max_abs_error", lambda p, D: p, degrees=(1, 2, 3, 4), counts=(8,)))
    (ax,) = axes(table, plot=["max_abs_error:degree"]).values()
    np.testing.assert_allclose(lines(ax)["rademacher"], [(p, p + 0.01) for p in (1, 2, 3, 4)])
    assert write_figure(tmp_path, table, NO_CURVES, ["max_abs_error:degree"], ["seeds 2 (paper: 100)"])
    assert "paper: 100" not in (tmp_path / "figure.csv").read_text()


def test_against_training_rows_all_are_in_one_panel():
    rows = [{"metric": "error", "n_train": n, "value": 1 / n} for n in (10, 20, 40, 80)]
    (ax,) = axes(metrics(rows), plot=["error:n_train"]).values()
    np.testing.assert_allclose(lines(ax)["rff"], [(n, 1 / n) for n in (10, 20, 40, 80)])


@pytest.mark.parametrize("value", [lambda p, D: 1 / D, lambda p, D: 1 / D - 0.1], ids=["positive", "signed"])
def test_bands_are_one_standard_deviation(value):
    """Below, on a logarithmic axis, by the factor by which it is above; else by as much."""
    (ax,) = axes(summary(*made("mnll", value)), plot=["mnll:features"]).values()
    std = np.std((0, 0.02), ddof=1)
    for D in (8, 16, 32, 64):
        mean = value(3, D) + 0.01
        vertices = ax.collections[0].get_paths()[0].vertices
        low, high = (pick(y for x, y in vertices if x == D) for pick in (min, max))
        assert high == pytest.approx(mean + std)
        assert low == pytest.approx(mean - std if value(3, 64) < 0 else mean**2 / (mean + std))


def test_few_numbers_stand_side_by_side_with_bars_of_one_standard_deviation():
    (ax,) = axes(summary(*made("error", lambda p, D: D, counts=(8, 16))), plot=["error:features"]).values()
    std = np.std((0, 0.02), ddof=1)
    offset = 0.2
    np.testing.assert_allclose(lines(ax)["gaussian"], [(k + offset, D + 0.01) for k, D in enumerate((8, 16))])
    for (low, high), D in zip(segments(ax)["gaussian"], (8, 16), strict=True):
        assert high == pytest.approx(D + 0.01 + std)
        assert low == pytest.approx((D + 0.01) ** 2 / (D + 0.01 + std))


def test_tasks_and_rows_of_one_sketch_are_panels_of_their_own():
    for column, values in (("task", ("ridge(solver=cg)", "ridge")), ("n_train", (10, 20))):
        rows = [
            {"metric": "error", column: value, "features": D, "value": 1 / D}
            for value in values
            for D in (8, 16, 32, 64)
        ]
        panels = axes(metrics(rows), plot=["error:features"])
        assert [len(lines(ax)["rff"]) for ax in panels.values()] == [4, 4]


def test_panels_of_a_dataset_stand_beside_each_other():
    table = summary(*made("error", lambda p, D: 1 / D, (3, 6)), *made("kl", lambda p, D: 2 / D, (3, 6)))
    found = points(table, ["error:features", "kl:features"])
    panels = list(dict.fromkeys(zip(found["degree"], found["plot"], strict=True)))
    assert panels == [(p, y) for p in (3, 6) for y in ("error:features", "kl:features")]


def test_a_wrong_word_is_refused():
    with pytest.raises(InputError, match=r"did you mean 'features'.* choose from degree, error"):
        points(summary(*made("error", lambda p, D: 1 / D)), ["error:featurs"])
