"""Two results: what moved beyond chance, what is new, what is gone; and the tests behind winners."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from support.page import Page
from support.results import config_of, made_up, write_run

from rfbench.reports.html.changes import CHANGED, EQUAL, MOVED, WITHIN, changes
from rfbench.reports.html.contests import Contest, Curve, Entry, paired

KEYS = ["dataset", "n_train", "n_test", "d", "task", "sketch", "kernel", "degree", "features"]


def frame(**cells):
    """sketch → values of its seeds."""
    same = {
        "dataset": "x",
        "n_train": 9,
        "n_test": 1,
        "d": 2,
        "task": "t",
        "kernel": "k",
        "degree": np.nan,
        "features": 8,
    }
    rows = [
        same | {"sketch": s, "metric": "m", "seed": k, "value": v} for s, vs in cells.items() for k, v in enumerate(vs)
    ]
    return pd.DataFrame(rows, columns=[*KEYS, "metric", "seed", "value"])


NO_GAPS = pd.DataFrame(columns=[*KEYS, "metric", "status", "message"])


def test_cells_are_told_apart():
    rng = np.random.default_rng(0)
    noise, base = rng.normal(size=(3, 10)), rng.normal(5, 1, 10)
    before = frame(same=base, moved=base, noisy=base + noise[0], one=[1.0], gone=base, rounded=base)
    after = frame(
        same=base,
        moved=base + 0.5 + 0.01 * noise[1],
        noisy=base + noise[2],
        one=[2.0],
        new=base,
        rounded=base * (1 + 1e-9),
    )
    found = changes((before, NO_GAPS), (after, NO_GAPS))
    verdicts = {change.setting["sketch"]: change.verdict for change in found.cells}
    assert verdicts == {"same": EQUAL, "rounded": EQUAL, "moved": MOVED, "noisy": WITHIN, "one": CHANGED}
    assert [[setting["sketch"] for setting, *_ in side] for side in (found.new, found.gone)] == [["new"], ["gone"]]
    (moved,) = found.of(MOVED)
    assert moved.relative == pytest.approx(moved.after / moved.before - 1)


@pytest.mark.medium
def test_few_of_many_cells_without_a_change_are_said_to_have_moved():
    """At 5 %, 400 uncorrected tests would name 20."""
    rng = np.random.default_rng(1)
    names = [f"s{k}" for k in range(400)]
    before, after = (frame(**{name: rng.normal(5, 1, 6) for name in names}) for _ in range(2))
    found = changes((before, NO_GAPS), (after, NO_GAPS))
    assert len(found.of(MOVED)) <= 1
    raw = [
        ttest_rel(before[before["sketch"] == n]["value"], after[after["sketch"] == n]["value"]).pvalue for n in names
    ]
    assert sum(p < 0.05 for p in raw) >= 10


def test_the_paired_test_is_that_of_scipy():
    a, b = np.random.default_rng(2).normal(size=(2, 7))
    assert paired(pd.Series(a - b)) == (pytest.approx(ttest_rel(a, b).pvalue), 7)
    assert paired(pd.Series([1.0, 1.0, 1.0])) == (0.0, 3)
    assert paired(pd.Series([0.0, 0.0])) == (1.0, 2)
    assert np.isnan(paired(pd.Series([1.0]))[0])


@pytest.mark.medium
def test_a_winner_of_many_equal_sketches_is_seldom_beyond_chance():
    """Ten equal sketches, 300 times; an uncorrected test against the last of them does not pass the same criterion."""
    rng = np.random.default_rng(3)
    sure = naive = 0
    for values in rng.normal(5, 1, (300, 10, 8)):
        entries = sorted((Entry(str(k), pd.Series(v)) for k, v in enumerate(values)), key=lambda entry: entry.mean)
        contest = Contest("features", 8, "error", entries)
        sure += contest.sure
        naive += paired(entries[-1].values - entries[0].values)[0] < 0.05
    assert sure <= 300 * 0.05
    assert naive > 300 * 0.05


def test_curves_are_interpolated_in_logarithms():
    """c/√x is a line there; a value that is not positive is interpolated as it is."""
    x = [1.0, 4.0, 64.0]
    curve = Curve(x, pd.DataFrame([[3 / one**0.5, 5 / one**0.5] for one in x]))
    assert curve.at(16.0).tolist() == pytest.approx([3 / 4, 5 / 4])
    assert Curve([1.0, 4.0], pd.DataFrame([[-1.0], [3.0]])).at(2.0).tolist() == pytest.approx([1.0])


def test_the_command_compares_two_directories(rfbench, tmp_path):
    rng = np.random.default_rng(4)
    rows = list(made_up(rng, 1, seeds=6))
    for name, factor, sketches in (("A", 1.0, ("rademacher", "gaussian")), ("B", 2.0, ("rademacher", "tensorsrht"))):
        for sketch in sketches:
            factors = [factor * (1 + 0.01 * rng.normal()) if row["features"] == 64 else 1 for row in rows]
            scaled = [row | {"value": repr(float(row["value"]) * f)} for row, f in zip(rows, factors, strict=True)]
            write_run(tmp_path / name / sketch, config_of(f"sketch={sketch}"), scaled)
    done = rfbench("report", "--compare", "A", "B")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "2 of 6 numbers moved beyond chance, 6 new, 6 gone",
        "B/changes.html: open it in a browser",
    ]
    page = Page((tmp_path / "B" / "changes.html").read_text())
    assert {row[4][0] for row in page.tables["moved-cells"][1:]} == {"64"}
    assert {row[3][0] for row in page.tables["gone-cells"][1:]} == {"gaussian"}
    shown = rfbench("report", "--compare", "A", "B", "--format", "csv", "--metric", "rel_frobenius").stdout
    verdicts = [row["verdict"] for row in csv.DictReader(io.StringIO(shown))]
    assert sorted(verdicts) == ["equal", "equal", *3 * ["gone"], "moved", *3 * ["new"]]
    lines = json.loads(rfbench("report", "--compare", "A", "B", "--format", "json").stdout)
    assert sum(line["verdict"] == "moved" for line in lines) == 2
    for kind in ("md", "latex"):
        assert "moved" in rfbench("report", "--compare", "A", "B", "--format", kind).stdout
