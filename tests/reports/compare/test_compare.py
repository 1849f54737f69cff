"""`rfbench compare`: only equal settings meet, and the verdicts are those of a test that can fail."""

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rfbench.cli import main
from rfbench.reports.compare.author import author
from rfbench.reports.compare.claims import RELATIONS, check, read_claims
from rfbench.reports.compare.ours import Ours, kernel_name, read_ours
from rfbench.reports.compare.published import Cell, printed
from rfbench.reports.compare.verdicts import AGREE, DISAGREE, LEVEL, NOT_COMPUTED, Results, judge
from rfbench.results.rows import COLUMNS

CELL = Cell(
    "T Table D.1", "boston", 506, "standardize unit_norm", "gpr", "polynomial(0.125, 0.875)", "20", "srf", "80",
    "rel_frobenius", 0.356, 0.05, 10, 0.001,
)  # fmt: skip
OURS = Ours(
    Path("here"), CELL.dataset, CELL.prepare, "gpr", CELL.kernel, 1.0, "20", "srf", "80", "rel_frobenius",
    0.37, 0.05, 10, 455, 51, 51,
)  # fmt: skip


def verdict(cell=CELL, *ours):
    (one,) = judge([cell], Results(ours, lambda name: name != "gisette"))
    return one


def test_printed_tables_are_whole():
    """Counted in the papers: rows times columns, less what is printed as a dash."""
    counts = Counter(cell.source for cell in printed())
    assert counts["T Table D.1"] == 16 * 8 - 4
    assert counts["T Table 4.2"] == 3 * 8
    assert counts["T Table 6.1, O Table 1"] == 4 * 12 + 2
    assert counts["C Fig. 2(b)"] == 6 * 5 + 2 * 4 + 2
    assert counts["C Fig. 2(d)"] == 6 * 5
    assert counts["C Fig. 5(b)"] == 5 * 6 + 2 * 5 + 2
    assert counts["B Table 3"] == 4 * 4 - 2
    keys = [(cell.source, cell.key, cell.n) for cell in printed()]
    assert len(set(keys)) == len(keys)


def test_accuracies_of_chang_et_al_grow_with_the_measurements():
    """A number typed into the wrong column would show."""
    for source in ("C Fig. 2(b)", "C Fig. 5(b)"):
        rows = [c for c in printed() if c.source == source and c.sketch.startswith("compressive_rff")]
        for features in {c.features for c in rows}:
            means = [c.mean for c in rows if c.features == features]
            assert np.all(np.diff(means) > -0.002), (source, features)


def test_equal_settings_meet():
    assert verdict(CELL, OURS).verdict == AGREE
    assert verdict(CELL, replace(OURS, mean=0.5)).verdict == DISAGREE


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"dataset": "concrete"}, "not run"),
        ({"prepare": "min_zero unit_norm"}, "preparation"),
        ({"kernel": "polynomial(0.5, 0.5)"}, "kernel"),
        ({"degree": "3"}, "degree"),
        ({"sketch": "srf_orthogonal"}, "sketch"),
        ({"features": "48"}, "number of features"),
        ({"metric": "rel_spectral"}, "metric"),
        ({"rows": 20}, "20 rows"),
        ({"std": None, "count": 1}, "one seed"),
        ({"mean": float("nan")}, "failed"),
        ({"count": 0, "message": "out of memory", "metric": ""}, "out of memory"),
    ],
)
def test_other_settings_do_not(changes, word):
    found = verdict(CELL, replace(OURS, **changes))
    assert found.verdict == NOT_COMPUTED
    assert word in found.reason


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"task": "gpr(noise=0.1)"}, "noise"),
        ({"scale": 8.0}, "8 times"),
        ({"n_train": 100}, "151 rows"),
    ],
)
def test_learning_wants_the_same_model_and_rows(changes, word):
    cell, ours = replace(CELL, metric="mnll"), replace(OURS, metric="mnll")
    assert verdict(cell, ours).verdict == AGREE
    found = verdict(cell, replace(ours, **changes))
    assert found.verdict == NOT_COMPUTED
    assert word in found.reason


def test_known_faults_and_missing_data_are_never_agreement():
    assert verdict(replace(CELL, fault="broken"), OURS).reason == "theirs: broken"
    assert verdict(replace(CELL, fault="broken"), OURS).ours == OURS
    assert verdict(replace(CELL, fault="broken"), replace(OURS, rows=20)).ours is None
    assert verdict(replace(CELL, dataset="gisette"), OURS).reason == "data not at hand"


def test_without_a_published_spread_ours_serves_both():
    found = verdict(replace(CELL, std=None), OURS)
    assert found.reason == "our spread for both"
    assert found.z == pytest.approx(0.014 / np.sqrt(2 * 0.05**2 / 10 + 0.001**2 / 12))
    few = verdict(replace(CELL, std=None), replace(OURS, count=2))
    assert few.verdict == NOT_COMPUTED
    assert "2 seeds have too little" in few.reason


@pytest.mark.parametrize(("theirs", "ours"), [(34, 2), (10, 5), (5, 10)])
def test_verdicts_are_wrong_as_often_as_the_level_says(theirs, ours):
    """And seldom right where the means differ: the control."""
    rng = np.random.default_rng(5)
    wrong, found = 0, 0
    for _ in range(2000):
        a, b = rng.normal(1, 0.3, ours), rng.normal(1, 0.3, theirs)
        cell = replace(CELL, mean=b.mean(), std=b.std(ddof=1), count=theirs, unit=0.0)
        one = replace(OURS, mean=a.mean(), std=a.std(ddof=1), count=ours)
        wrong += verdict(cell, one).verdict == DISAGREE
        found += verdict(cell, replace(one, mean=one.mean + 1.5)).verdict == DISAGREE
    assert abs(wrong - 2000 * LEVEL) < 4 * np.sqrt(2000 * LEVEL)
    assert found > 1800


def test_kernels_that_are_one_have_one_name():
    assert kernel_name({"name": "polynomial", "gamma": 1.0, "bias": 1.0}, 3) == ("polynomial(0.5, 0.5)", 8.0)
    assert kernel_name({"name": "polynomial_sphere", "a": 4.0}, 20) == ("polynomial(0.125, 0.875)", 1.0)


def test_claims_can_be_contradicted():
    claim = next(one for one in read_claims() if one.source == "T Fig. 4.8")
    assert {one.relation for one in read_claims()} == set(RELATIONS)
    low = replace(
        OURS,
        dataset="letter",
        prepare="unit_norm",
        kernel="polynomial(0.5, 0.5)",
        degree="3",
        sketch="ctr_tensorsrht",
        mean=0.1,
        std=0.01,
    )
    high = replace(low, sketch="tensorsrht", mean=0.2)
    assert [one.verdict for one in check([claim], [low, high])] == [AGREE]
    assert [one.verdict for one in check([claim], [replace(low, mean=0.2), replace(high, mean=0.1)])] == [DISAGREE]
    assert [one.verdict for one in check([claim], [low])] == [NOT_COMPUTED]
    elsewhere = [replace(one, dataset="digits") for one in (low, high)]  # which the thesis does not speak of
    assert [one.verdict for one in check([claim], elsewhere)] == [NOT_COMPUTED]
    assert all(one.dataset for one in read_claims())
    assert [one.verdict for one in check([claim], [low, replace(high, features="48")])] == [NOT_COMPUTED]


def test_a_curve_falls_at_every_number_of_features():
    claim = next(one for one in read_claims() if one.relation == "falls with features")
    one = replace(OURS, dataset="synthetic", kernel="decomposable", sketch=claim.sketch, metric=claim.metric)
    for means, verdict in (((0.3, 0.2, 0.1), AGREE), ((0.3, 0.1, 0.2), DISAGREE)):
        curve = [replace(one, features=D, mean=mean) for D, mean in zip(("20", "40", "100"), means, strict=True)]
        assert [found.verdict for found in check([claim], curve)] == [verdict]
    assert [found.verdict for found in check([claim], [one])] == [NOT_COMPUTED]
    by_chance = [replace(one, features=D, mean=mean, std=0.1, count=9) for D, mean in (("20", 0.3), ("40", 0.301))]
    assert [found.verdict for found in check([claim], by_chance)] == [AGREE]


def test_most_is_counted_without_spreads_too():
    claim = next(one for one in read_claims() if one.relation == "mostly below")
    low = replace(OURS, dataset="fashion_mnist", sketch=claim.sketch, metric=claim.metric, std=None, count=1, mean=0.1)
    for mean, verdict in ((0.2, AGREE), (0.05, DISAGREE)):
        other = replace(low, sketch=claim.other.split("|")[0], mean=mean)
        assert [found.verdict for found in check([claim], [low, other])] == [verdict]


def test_a_job_is_read_as_it_was_run(tmp_path, rfbench):
    """Settings from run.json, numbers from results.csv; what failed keeps its reason, joined tables are not read."""
    done = rfbench("-m", "sketch=rademacher,tensorsrht", "features=[1d,2d]", "seeds=3", "task.rows=50")
    assert done.returncode == 0, done.stderr
    ours = read_ours(tmp_path / "outputs")
    rows = [one for one in ours if one.metric == "rel_frobenius"]
    assert sorted((one.sketch, one.features) for one in rows) == [
        (sketch, D) for sketch in ("rademacher", "tensorsrht") for D in ("128", "64")
    ]
    assert {(one.kernel, one.scale, one.count, one.rows) for one in rows} == {("polynomial(0.5, 0.5)", 8.0, 3, 50)}
    path = rows[0].directory / "results.csv"
    lines = list(csv.DictReader(path.open()))
    mean = np.mean(
        [float(r["value"]) for r in lines if (r["metric"], r["features"]) == (rows[0].metric, rows[0].features)]
    )
    assert rows[0].mean == pytest.approx(mean)
    lines[0] |= {"features": "", "metric": "", "value": "", "status": "failed", "message": "no room"}
    with path.open("w") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(lines[0])
    failed = [one for one in read_ours(path.parent) if not one.count]
    assert [(one.message, one.metric) for one in failed] == [("no room", "")]


def test_boston_as_published(tmp_path, rfbench, data_dir):
    """Thesis Table D.1, and the author's own numbers of the same setting."""
    words = (
        "kernel=polynomial_sphere",
        "kernel.a=4",
        "degree=20",
        "dataset=boston",
        "features=5d",
        "seeds=10",
    )
    done = rfbench("-m", *words, "sketch=srf,optimized_maclaurin")
    assert done.returncode == 0, done.stderr
    truth = Path(data_dir).parent / "truth"
    done = rfbench("compare", *(("--truth", truth) if truth.is_dir() else ()))
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "outputs" / "compare.csv") as file:
        lines = list(csv.DictReader(file))
    table = [line for line in lines if line["source"] == "T Table D.1" and line["verdict"] != NOT_COMPUTED]
    assert [(line["dataset"], line["metric"], line["verdict"]) for line in table] == 2 * [
        ("boston", "rel_frobenius", AGREE)
    ]
    last = re.fullmatch(r"(\d+) agree, (\d+) disagree, (\d+) not computed", done.stdout.strip().splitlines()[-1])
    assert sum(map(int, last.groups())) == len(lines)
    if truth.is_dir():
        assert len(lines) > len(list(author(truth))) > 3000


def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys):
    def refused(*words):
        assert main(["compare", *map(str, words)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    monkeypatch.chdir(tmp_path)
    assert "no directory outputs" in refused()
    job = tmp_path / "outputs" / "job"
    job.mkdir(parents=True)
    assert "no results" in refused()
    assert "--truth" in refused("--trth", "x")
    (job / "run.json").write_text(json.dumps({"config": {}}))
    assert "damaged" in refused()
    assert "polynomial_degree3.csv" in refused("--truth", tmp_path)
    assert not list(tmp_path.rglob("compare.csv"))
