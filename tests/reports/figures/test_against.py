"""Figures that a config names: the points are those of the table, and a wrong word is told."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.reports.figures.against import against, curves_against
from rfbench.reports.figures.figure import write_figure
from rfbench.reports.tables import summarize, to_frame

ROW = {"dataset": "made", "n_train": 9, "n_test": 9, "d": 2, "task": "gpc", "kernel": "polynomial", "status": "ok"}


def summary(*rows):
    names = ("sketch", "degree", "features", "seed", "metric", "value")
    return summarize(to_frame(ROW | {"unit": ""} | dict(zip(names, row, strict=True)) for row in rows))


def made(metric, value, degrees=(3,), counts=(8, 16, 32, 64)):
    cases = [(s, p, D, seed) for s in ("rademacher", "gaussian") for p in degrees for D in counts for seed in (0, 2)]
    return [(s, p, D, seed, metric, value(p, D) + seed / 100) for s, p, D, seed in cases]


def lines(points):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    curves_against(ax, points)
    return {line.get_label(): line.get_xydata() for line in ax.get_lines() if not line.get_label().startswith("_")}


def test_a_metric_against_another_is_paired_by_setting():
    table = summary(*made("error", lambda p, D: 1 / D), *made("fit_seconds", lambda p, D: D))
    drawn = lines(against(table, ["error:fit_seconds"]))
    assert set(drawn) == {"rademacher", "gaussian"}
    np.testing.assert_allclose(drawn["gaussian"], [(D + 0.01, 1 / D + 0.01) for D in (8, 16, 32, 64)])


def test_against_the_degree_all_are_in_one_panel(tmp_path):
    table = summary(*made("max_abs_error", lambda p, D: p, degrees=(1, 2, 3, 4), counts=(8,)))
    points = against(table, ["max_abs_error:degree"])
    assert points["degree"].isna().all()
    np.testing.assert_allclose(lines(points)["rademacher"], [(p, p + 0.01) for p in (1, 2, 3, 4)])
    assert write_figure(tmp_path, table, ["max_abs_error:degree"], ["seeds 2 (paper: 100)"])
    assert "paper: 100" not in (tmp_path / "figure.csv").read_text()


def test_panels_of_a_data_set_stand_beside_each_other():
    table = summary(*made("error", lambda p, D: 1 / D, (3, 6)), *made("kl", lambda p, D: 2 / D, (3, 6)))
    points = against(table, ["error:features", "kl:features"])
    panels = list(dict.fromkeys(zip(points["degree"], points["plot"], strict=True)))
    assert panels == [(p, y) for p in (3, 6) for y in ("error:features", "kl:features")]


def test_a_wrong_word_is_told():
    with pytest.raises(InputError, match="did you mean 'features'"):
        against(summary(*made("error", lambda p, D: 1 / D)), ["error:featurs"])
