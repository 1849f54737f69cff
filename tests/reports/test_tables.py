"""Tables: statistics over seeds, headings, captions and marks."""

import csv
import re

import numpy as np
import pytest
from support.figures import ROW, metrics

from rfbench.reports import write_report
from rfbench.reports.formats import BEST, as_text
from rfbench.reports.tables import number, sign

VALUES = (1.0, 2.0, 6.0)


def cells(text):
    """The words of a table's lines, without title."""
    return [re.split("  +", line.strip()) for line in text.splitlines()[1:]]


def test_a_summary_has_mean_standard_deviation_and_count_of_every_setting(tmp_path):
    """Not the median, which is 2, nor the standard error; n_test is a part of the setting."""
    rows = [ROW | {"metric": "alpha", "n_test": n, "seed": k, "value": v} for n in (7, 8) for k, v in enumerate(VALUES)]
    write_report(tmp_path, rows, [])
    with open(tmp_path / "summary.csv") as file:
        found = list(csv.DictReader(file))
    assert [(row["n_test"], float(row["mean"]), row["count"]) for row in found] == [("7", 3.0, "3"), ("8", 3.0, "3")]
    assert [float(row["std"]) for row in found] == pytest.approx(2 * [np.std(VALUES, ddof=1)])
    assert list(found[0]) == [*list(ROW)[:9], "metric", "unit", "mean", "std", "count", "message"]


def test_the_terminal_shows_the_same():
    text = as_text(metrics({"metric": "kl", "seed": k, "value": v} for k, v in enumerate(VALUES)))
    assert "seeds: 3" in text
    assert cells(text)[2] == ["rff", "8", "3.0 ± 2.6"]
    assert text.splitlines()[-1] == "± standard deviation over seeds"
    text = as_text(metrics({"metric": "kl", "seed": k, "value": v} for k, v in enumerate(VALUES)), "stderr")
    assert cells(text)[2] == ["rff", "8", "3.0 ± 1.5"]
    assert text.splitlines()[-1] == "± standard error of the mean over seeds"
    assert "±" not in as_text(metrics([{"metric": "kl", "value": 1}]))


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [
        (162.6, 230, "160 ± 230"),
        (162.64, 0.0996, "162.64 ± 0.10"),
        (0.09487, 0.0331, "0.095 ± 0.033"),
        (0.0004442, 5.1e-05, "0.000444 ± 0.000051"),
        (-0.001, 0.5, "0.00 ± 0.50"),
        (3.4361e-06, 4.2e-07, "(3.44 ± 0.42)e-06"),
        (0, 3e-7, "(0.0 ± 3.0)e-07"),
        (12_345_678, 23_456, "(1.2346 ± 0.0023)e+07"),
        (123_456, 2_345, "123500 ± 2300"),
        (99.6, 9.96, "100 ± 10"),
        (0.97230001, 1e-16, "0.9723 ± 1e-16"),
        (1, 0, "1 ± 0"),
        (16236.4, float("nan"), "16240"),
        (0.123456, float("nan"), "0.1235"),
    ],
)
def test_digits_fit_the_uncertainty(mean, spread, text):
    assert number(mean, spread) == text


def test_a_table_fits_the_width():
    """Columns that have no room stand below, beside the same setting; no number is lost."""
    rows = [
        {"metric": f"metric_{k}", "sketch": sketch, "value": k, "message": "of a kind with a long explanation " * 3}
        for k in range(9)
        for sketch in ("rff", "orf")
    ]
    whole = as_text(metrics(rows))
    for width in (40, 60, 80):
        text = as_text(metrics(rows), width=width)
        assert max(map(len, text.splitlines())) <= width < max(map(len, whole.splitlines()))
        assert sorted(re.findall(r"metric_\d", text)) == sorted(re.findall(r"metric_\d", whole))
        numbers = [cell for line in cells(text) if line[0] == "rff" for cell in line[2:]]
        assert numbers == next(line[2:] for line in cells(whole) if line[0] == "rff")


def sketches(metric, **means):
    return [{"sketch": sketch, "metric": metric, "value": mean} for sketch, mean in means.items()]


@pytest.mark.parametrize(
    ("metric", "best"),
    [
        ("error", "orf"),
        ("kl", "orf"),
        ("mnll", "orf"),
        ("rmse", "orf"),
        ("rel_frobenius", "orf"),
        ("variance_closed_form", "orf"),
        ("kid_std", "orf"),
        ("fit_seconds", "orf"),
        ("joules", "orf"),
        ("accuracy", "rff"),
        ("alpha", None),
        ("kid", None),
        ("watts", None),
    ],
)
def test_the_best_sketch_of_a_column_is_marked(metric, best):
    text = as_text(metrics(sketches(metric, rff=0.5, orf=0.25)))
    assert [line[0] for line in cells(text) if line[-1].endswith("*")] == ([best] if best else [])
    assert (BEST in text) == bool(best)


def test_marks_are_given_among_sketches_of_one_setting():
    """One sketch, equal values, and sketches with other numbers of features, degrees or rows are not compared."""
    assert "*" not in as_text(metrics(sketches("error", rff=0.5)))
    assert "*" not in as_text(metrics(sketches("error", rff=0.5, orf=0.5)))
    one, two = sketches("error", rff=0.5, orf=0.25)
    for other in ({"features": 16}, {"degree": 3}, {"n_train": 20}):
        assert "*" not in as_text(metrics([one, two | other]))
    rows = [one, two, one | {"features": 16, "value": 0.125}, two | {"features": 16, "value": 0.25}]
    assert [line[-1] for line in cells(as_text(metrics(rows)))[2:-1]] == ["0.5", "0.25*", "0.125*", "0.25"]


def test_numbers_stay_below_each_other():
    lines = as_text(metrics(sketches("error", rff=0.5, orf=0.25))).splitlines()[3:5]
    assert len({len(line.rstrip("*")) for line in lines}) == 1


def test_headings_are_metrics_with_units_and_no_two_are_the_same():
    rows = [{"metric": m, "unit": u, "value": 1} for m, u in (("kid", ""), ("kid_seconds", "s"), ("sums_seconds", "s"))]
    assert cells(as_text(metrics(rows)))[0] == ["sketch", "features", "kid", "kid_seconds [s]", "sums [s]"]


def test_captions_stand_below_with_the_sketches_they_hold_for():
    same = [row | {"message": "over 20 draws"} for row in sketches("kid_std", rff=1, orf=1)]
    other = [row | {"message": f"by {row['sketch']}"} for row in sketches("kid", rff=1, orf=2)]
    varying = [{"metric": "fit_seconds", "features": D, "value": 1, "message": f"mean of {D}"} for D in (8, 16)]
    shared = [{"metric": "block_kid", "value": 1, "message": "4 subsets"}]
    text = as_text(metrics([*same, *other, *varying, *shared]))
    assert text.splitlines()[-3:] == [
        "kid_std: over 20 draws",
        "kid: by rff (rff); by orf (orf)",
        "block_kid 1 (4 subsets)",
    ]
    assert "mean of" not in text


def test_messages_that_differ_between_seeds_are_omitted():
    found = metrics(
        {"metric": m, "seed": k, "value": 1, "message": f"{m} {k % n}"}
        for m, n in (("kl", 2), ("nmse", 1))
        for k in (0, 1)
    )
    assert found["message"].tolist() == ["", "nmse 0"]


def test_kernels_have_tables_of_their_own_and_degrees_lines_below():
    """What sketches share is printed once for each degree, not once for all."""
    rows = [{"kernel": k, "degree": p, "metric": "exact_kid", "value": p} for k in ("a", "b") for p in (2, 3)]
    tables = as_text(metrics(rows)).split("\n\n")
    assert [table.splitlines()[0].split(", ")[2] for table in tables] == ["a kernel", "b kernel"]
    assert all(table.splitlines()[-2:] == ["degree 2: exact_kid 2", "degree 3: exact_kid 3"] for table in tables)


def test_failed_rows_are_not_numbers():
    rows = [{"metric": "", "value": "", "status": "failed", "message": "no room"}, {"metric": "kl", "value": 1}]
    assert metrics(rows)["metric"].tolist() == ["kl"]
    assert as_text(metrics(rows[:1])) == ""


def test_errors_that_the_rows_have_are_never_best():
    for metric in ("kid_error", "kid_sampling_error", "kid_difference_error", "kid_difference_sampling_error"):
        assert np.isnan(sign(metric))
    assert sign("kid_difference_sketch_error") == sign("kid_sketch_error") == 1
