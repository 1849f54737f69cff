"""Trials that were not run are found, greyed in the table and listed; nothing else is."""

import numpy as np
import pytest
from support.page import Page
from support.results import config_of, made_up, write_experiment, write_run

from rfbench.reports.html.collect import collect, read_run
from rfbench.reports.html.page import report_page

ALL = [64, 128, 256]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def job(tmp_path, rng, keep, *words, features=ALL):
    """(features, seed) of the trials that a job lacks, if it has those that `keep` chooses."""
    config = config_of("features=[64,2d,256]", "seeds=5", *words)
    rows = [row | {"d": 64} for row in made_up(rng, 1, features) if keep(row["features"], row["seed"])]
    write_run(tmp_path, config, rows)
    return [(int(row["features"]), int(row["seed"])) for row in read_run(tmp_path).not_run]


def test_what_the_config_asks_for_is_counted(tmp_path, rng):
    assert job(tmp_path, rng, lambda D, seed: True) == []
    assert job(tmp_path, rng, lambda D, seed: seed < 4) == [(D, 4) for D in ALL]
    found = job(tmp_path, rng, lambda D, seed: seed == 0 and D == 64)
    assert sorted(found) == [(D, seed) for D in ALL for seed in range(5) if (D, seed) != (64, 0)]
    assert job(tmp_path, rng, lambda D, seed: seed in (0, 3), "seeds=[3,7]") == [(D, 7) for D in ALL]


@pytest.mark.parametrize(
    ("words", "features"),
    [
        (["kernel=linear", "sketch=identity"], [64]),  # has as many features as the data have columns
        (["sketch=tensorsketch"], [70]),  # the task has its own numbers
    ],
)
def test_numbers_of_features_that_no_trial_can_have_are_not_missing(tmp_path, rng, words, features):
    assert job(tmp_path, rng, lambda D, seed: True, *words, features=features) == []


def test_a_failed_job_has_a_reason_and_lacks_nothing(tmp_path, rng):
    lost = {"metric": "", "value": "", "status": "failed", "message": "it broke", "features": "", "seed": ""}
    write_run(tmp_path, config_of("seeds=9"), [*made_up(rng, 1), lost])
    assert read_run(tmp_path).not_run == []


@pytest.mark.medium
def test_they_are_greyed_where_the_number_would_have_been(tmp_path, rng):
    """rademacher was interrupted in its first seed, tensorsrht in its third; gaussian is complete."""
    write_experiment(tmp_path / "sweep", [("digits", "gaussian")], rng)
    for sketch, keep in (
        ("rademacher", lambda D, seed: seed == 0 and D < 256),
        ("tensorsrht", lambda D, seed: seed < 2),
    ):
        rows = [row for row in made_up(rng, 1) if keep(row["features"], row["seed"])]
        write_run(tmp_path / "sweep" / "jobs" / sketch, config_of(f"sketch={sketch}", "features=[64,128,256]"), rows)
    page = Page(report_page(collect(tmp_path), []))
    (table,) = (rows[1:] for name, rows in page.tables.items() if name.endswith("-table"))
    shown = {(row[0][0], int(row[1][0])): row[2:-1] for row in table}
    assert shown.keys() == {(sketch, D) for sketch in ("gaussian", "rademacher", "tensorsrht") for D in ALL}
    assert [cell for cell, _ in shown["rademacher", 256]] == ["not run", "not run"]
    assert all(attributes["class"] == "gap" for _, attributes in shown["rademacher", 256])
    assert all(cell.endswith("4 of 5 seeds: not run") for cell, _ in shown["rademacher", 64])
    assert all(cell.endswith("3 of 5 seeds: not run") for cell, _ in shown["tensorsrht", 256])
    assert not any("not run" in cell for D in ALL for cell, _ in shown["gaussian", D])
    counts = {row[4][0]: (row[0][0], row[5][0], row[7][0]) for row in page.tables["failures"][1:]}
    assert counts == {"rademacher": ("not run", "64, 128, 256", "13"), "tensorsrht": ("not run", "64, 128, 256", "9")}


def test_another_job_may_have_run_them_and_other_reasons_stay(tmp_path, rng):
    """Two jobs share 128 features; the first stopped after its first seed, in which 64 features failed."""
    rows = [row for row in made_up(rng, 1, ALL[:2]) if (row["features"], row["seed"]) == (128, 0)]
    rows.append({"features": 64, "seed": 0, "metric": "", "value": "", "status": "failed", "message": "no room"})
    write_run(tmp_path / "jobs" / "a", config_of("features=[64,128]"), rows)
    write_run(tmp_path / "jobs" / "b", config_of("features=[128,256]"), list(made_up(rng, 1, ALL[1:])))
    (experiment,) = collect(tmp_path).experiments
    reasons = {int(line.setting["features"]): line.cells["rel_frobenius"].reason for line in experiment.table.lines}
    assert reasons == {64: "no room; not run", 128: "", 256: ""}
