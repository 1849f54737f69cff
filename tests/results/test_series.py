"""Curves on disk: those of a trial together, and of shared trials once."""

import tracemalloc

import numpy as np

from rfbench.results.series import (
    SERIES_COLUMNS,
    Curve,
    add_series,
    joined_series,
    keep_series,
    of_finished,
    read_series,
    write_series,
)

TRIAL = dict.fromkeys(SERIES_COLUMNS[:-3], "0")


def test_a_curve_that_two_jobs_share_is_that_of_the_first(tmp_path):
    """Over time, the points of two runs of one trial have different x: mixed, they are no curve."""
    for job, shift in (("one", 0.0), ("two", 0.25)):
        (tmp_path / job).mkdir()
        for features in (8, 16) if job == "one" else (16, 32):
            curve = Curve("error", np.arange(3) + shift, np.full(3, 0.5))
            add_series(tmp_path / job, curve.rows({"features": features, "seed": 0}), ())
    points = joined_series([tmp_path / "one", tmp_path / "two"])
    found = [(point["features"], float(point["x"])) for point in points]
    assert found == [(D, x + shift) for D, shift in (("8", 0), ("16", 0), ("32", 0.25)) for x in range(3)]


def test_curves_of_a_trial_without_rows_are_not_drawn():
    points = [row | {"name": "error", "x": "1.0", "y": "0.5"} for row in (TRIAL, TRIAL | {"seed": "1"})]
    assert of_finished(points, [TRIAL | {"metric": "error", "value": "0.5"}]) == points[:1]


def test_a_line_that_a_kill_has_cut_is_not_continued(tmp_path):
    curve = Curve("error", np.arange(2), np.arange(2))
    write_series(tmp_path, curve.rows({"features": 8, "seed": 0}))
    with (tmp_path / "series.csv").open("a") as file:
        file.write("digits,1617")
    keep_series(tmp_path, {("8", "0")})
    add_series(tmp_path, curve.rows({"features": 8, "seed": 1}), {("8", "0")})
    assert [(point["seed"], point["x"]) for point in read_series(tmp_path)] == [
        ("0", "0.0"), ("0", "1.0"), ("1", "0.0"), ("1", "1.0"),
    ]  # fmt: skip


def test_the_cost_of_a_trial_does_not_grow_with_the_trials(tmp_path):
    known = {(str(features), "0") for features in range(100_000)}
    rows = Curve("error", np.arange(2), np.arange(2)).rows({"features": 100_000, "seed": 0})
    write_series(tmp_path, rows)
    tracemalloc.start()
    try:
        add_series(tmp_path, rows, known)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000  # a copy of what is known takes four times that
    finally:
        tracemalloc.stop()
    assert len(read_series(tmp_path)) == 4
