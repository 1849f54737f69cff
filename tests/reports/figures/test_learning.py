"""Figures of learning: what is drawn is what was measured."""

import numpy as np

from rfbench.reports.figures.figure import choose
from rfbench.reports.figures.learning import curves, fields, quiver
from rfbench.reports.figures.style import line_style, tell_apart
from rfbench.reports.tables import as_text, summarize, to_frame

ROW = {
    "dataset": "made",
    "n_test": 9,
    "d": 2,
    "task": "vector_field",
    "sketch": "rff",
    "kernel": "gaussian",
    "status": "ok",
}


def summary(*rows):
    settings = [ROW | dict(zip(("n_train", "features", "seed", "metric", "value"), row, strict=True)) for row in rows]
    return summarize(to_frame(row | {"degree": "", "unit": ""} for row in settings))


def lines(found):
    """(x, y) of every line that curves draws, by label."""
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    curves(ax, found)
    handles, labels = ax.get_legend_handles_labels()
    drawn = [getattr(handle, "lines", [handle])[0] for handle in handles]
    return {label: tuple(map(tuple, line.get_xydata())) for label, line in zip(labels, drawn, strict=True)}


def test_error_against_features_with_the_exact_kernel_as_a_level():
    rows = [(100, D, seed, "rmse", 1 / D + seed / 1000) for D in (8, 2, 4) for seed in (1, 3)]
    rows += [(100, D, 1, name, 0.01) for D in (8, 2, 4) for name in ("exact_rmse", "fit_seconds", "alpha")]
    found, panel = choose(summary(*rows))
    assert panel is curves
    assert list(found["measure"].unique()) == ["rmse", "fit_seconds"]
    drawn = lines(found[found["measure"] == "rmse"])
    np.testing.assert_allclose(drawn["rff"], [(2, 0.502), (4, 0.252), (8, 0.127)])
    np.testing.assert_allclose(drawn["exact gaussian"], [(2, 0.01), (4, 0.01), (8, 0.01)])


def test_error_against_rows_where_their_number_differs_and_a_table_that_tells_it():
    rows = [(n, D, 1, "error", D / n) for n in (100, 1000) for D in (4, 8)]
    found, _ = choose(summary(*rows))
    np.testing.assert_allclose(lines(found)["rff, 4 features"], [(100, 0.04), (1000, 0.004)])
    text = as_text(summary(*rows))
    assert "(100–1000 training rows" in text
    assert "n_train" in text


def test_arrows_of_field_prediction_and_error_of_the_most_features():
    numbers = {"x0": 1, "x1": 2, "field0": 3, "field1": 4, "predicted0": 3.5, "predicted1": 3}
    rows = [
        (100, D, 1, f"arrow_{name}_{i:03d}", value + i + D)
        for D in (4, 8)
        for name, value in numbers.items()
        for i in (0, 1)
    ]
    found, panel = choose(summary(*rows, (100, 8, 1, "rmse", 0.1)))
    assert panel is quiver
    assert (found["features"] == 8).all()
    assert list(found["shown"].unique()) == ["field", "prediction", "error"]
    error = found[found["shown"] == "error"]
    np.testing.assert_allclose(error[["x0", "x1", "u", "v"]], [[9, 10, 0.5, -1], [10, 11, 0.5, -1]])
    assert "arrow" not in as_text(summary(*rows, (100, 8, 1, "rmse", 0.1)))
    assert fields(summary((100, 8, 1, "rmse", 0.1))).empty


def test_a_run_draws_its_field(rfbench, tmp_path):
    words = ("task=vector_field", "dataset=five_gaussians", "sketch=orff_curl_free", "train_rows=60", "task.arrows=30")
    done = rfbench(*words, "features=50", "seeds=1")
    assert done.returncode == 0, done.stderr
    (table,) = tmp_path.glob("outputs/*/*/figure.csv")
    assert len(table.read_text().splitlines()) == 1 + 3 * 30
    assert table.with_name("figure.png").stat().st_size > 20_000


def test_lines_of_one_sketch_with_other_options_are_told_apart():
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
