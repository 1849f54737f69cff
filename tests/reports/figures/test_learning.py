"""Figures of learning: what is drawn is what was measured."""

import numpy as np
import pytest
from support.figures import axes, bars, curves, lines, metrics

from rfbench.reports.figures.figure import choose
from rfbench.reports.figures.learning import FIELDS, fields
from rfbench.reports.figures.style import line_style, tell_apart
from rfbench.reports.formats import as_text


def summary(*rows):
    names = ("n_train", "features", "seed", "metric", "value")
    return metrics({"task": "vector_field"} | dict(zip(names, row, strict=True)) for row in rows)


def test_error_against_features_with_the_exact_kernel_as_a_level():
    rows = [(100, D, seed, "rmse", 1 / D + seed / 1000) for D in (8, 2, 4) for seed in (1, 3)]
    rows += [(100, D, 1, name, 0.01) for D in (8, 2, 4) for name in ("exact_rmse", "fit_seconds", "alpha")]
    panels = axes(summary(*rows))
    assert [ax.get_ylabel() for ax in panels.values()] == ["root mean squared error", "time to fit [s]"]
    ax = next(iter(panels.values()))
    np.testing.assert_allclose(lines(ax)["rff"], [(2, 0.502), (4, 0.252), (8, 0.127)])
    np.testing.assert_allclose(lines(ax)["exact gaussian"], [(2, 0.01), (4, 0.01), (8, 0.01)])
    assert bars(ax)["rff"] == pytest.approx(3 * [np.std((1, 3), ddof=1) / 1000])


def test_error_against_rows_where_their_number_differs_and_a_table_that_shows_it():
    rows = [(n, D, 1, "error", D / n) for n in (100, 1000) for D in (4, 8)]
    ax = axes(summary(*rows))["made"]
    np.testing.assert_allclose(lines(ax)["rff, 4 features"], [(100, 0.04), (1000, 0.004)])
    text = as_text(summary(*rows))
    assert "(100–1000 training rows" in text
    assert "n_train" in text


def test_arrows_of_field_prediction_and_error_of_the_most_features():
    numbers = {"x0": 1, "x1": 2, "field0": 3, "field1": 4, "predicted0": 3.5, "predicted1": 3}
    series = curves(
        {"task": "vector_field", "features": D, "name": name, "points": [(i, value + i + D) for i in (0, 1)]}
        for D in (4, 8)
        for name, value in numbers.items()
    )
    table = summary((100, 8, 1, "rmse", 0.1))
    panel, found = choose(table, series)
    assert panel is FIELDS
    assert (found["features"] == 8).all()
    assert list(found["shown"].unique()) == ["field", "prediction", "error"]
    error = found[found["shown"] == "error"]
    np.testing.assert_allclose(error[["x0", "x1", "u", "v"]], [[9, 10, 0.5, -1], [10, 11, 0.5, -1]])
    ax = axes(table, series)["made, RFF, 8 features, error"]
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [[9, 10], [10, 11]])
    np.testing.assert_allclose((ax.collections[0].U, ax.collections[0].V), [[0.5, 0.5], [-1, -1]])
    assert fields(curves([])).empty


def test_a_run_draws_its_field(rfbench, tmp_path):
    words = ("task=vector_field", "dataset=five_gaussians", "sketch=orff_curl_free", "train_rows=60", "task.arrows=30")
    done = rfbench(*words, "features=50", "seeds=1")
    assert done.returncode == 0, done.stderr
    (table,) = tmp_path.rglob("figure.csv")
    assert len(table.read_text().splitlines()) == 1 + 3 * 30
    assert table.with_name("figure.png").stat().st_size > 20_000


def test_lines_of_one_sketch_with_other_options_look_different():
    from matplotlib.figure import Figure

    panels = Figure().subplots(1, 2)
    names = ["rff(m=1)", "rff(m=2)", "rff(m=3)"]
    for ax, order in zip(panels, (names, names[::-1]), strict=True):
        for name in (*order, "orf"):
            ax.errorbar([1, 2], [1, 2], [0.1, 0.1], capsize=2, **line_style(name))
    tell_apart(panels)
    looks = [
        {handle.get_label(): (handle[0].get_color(), handle[0].get_marker()) for handle in ax.containers}
        for ax in panels
    ]
    assert looks[0] == looks[1]
    assert len({colour for colour, _ in looks[0].values()}) == len({*looks[0].values()}) == 4
    assert looks[0]["orf"] == (line_style("orf")["color"], "o")
    assert all(
        cap.get_markeredgecolor() == handle[0].get_color() for handle in panels[0].containers for cap in handle[1]
    )


def test_points_without_lines_look_different_too():
    """Several settings of two sketches of one colour, as in a figure of distances."""
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    for sketch in ("tensorsrht", "ctr_tensorsrht"):
        for D in (32, 128):
            ax.errorbar([1], [1], [0.1], **line_style(sketch) | {"linestyle": "", "label": f"{sketch}, {D} features"})
    tell_apart([ax])
    assert len({(handle[0].get_color(), handle[0].get_marker()) for handle in ax.containers}) == 4
