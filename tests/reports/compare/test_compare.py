"""`rfbench compare`: only equal settings meet, and the verdicts are those of a test that can fail."""

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from rfbench.cli import main
from rfbench.reports.compare.author import author
from rfbench.reports.compare.claims import FAILS, HOLDS, RELATIONS, check, read_claims
from rfbench.reports.compare.command import counted, source_of
from rfbench.reports.compare.ours import RENAMED, Ours, kernel_name, read_ours
from rfbench.reports.compare.published import Cell, of_deviation, printed
from rfbench.reports.compare.studies import analogue, regression
from rfbench.reports.compare.verdicts import AGREE, DISAGREE, LEVEL, NOT_COMPUTED, WEAK, Results, judge
from rfbench.results.rows import COLUMNS, write_rows
from rfbench.results.series import write_series

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


def test_printed_tables_are_complete():
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
        rows = [c for c in printed() if c.source == source and c.sketch.startswith("compressive_phase_rff")]
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
def test_learning_needs_the_same_model_and_rows(changes, word):
    cell, ours = replace(CELL, metric="mnll"), replace(OURS, metric="mnll")
    assert verdict(cell, ours).verdict == AGREE
    found = verdict(cell, replace(ours, **changes))
    assert found.verdict == NOT_COMPUTED
    assert word in found.reason


@pytest.mark.parametrize("task", ["vector_field", "vector_field(alpha=2/n)"])
def test_vector_fields_are_compared_by_training_rows(task):
    cell, ours = replace(CELL, metric="rmse", task=task, n=455), replace(OURS, metric="rmse", task=task)
    assert verdict(cell, ours).verdict == AGREE
    assert verdict(replace(cell, n=506), ours).reason == "455 rows, theirs 506"


def test_known_faults_and_missing_data_are_never_agreement():
    assert verdict(replace(CELL, fault="broken"), OURS).reason == "theirs: broken"
    assert verdict(replace(CELL, fault="broken"), OURS).ours == OURS
    assert verdict(replace(CELL, fault="broken"), replace(OURS, rows=20)).ours is None
    assert verdict(replace(CELL, dataset="gisette"), OURS).reason == "dataset missing"


def test_without_a_published_spread_ours_serves_both():
    found = verdict(replace(CELL, std=None), OURS)
    assert found.reason == "our spread for both"
    assert found.z == pytest.approx(0.014 / np.sqrt(2 * 0.05**2 / 10 + 0.001**2 / 12))
    few = verdict(replace(CELL, std=None), replace(OURS, count=2))
    assert few.verdict == NOT_COMPUTED
    assert "2 seeds are too few" in few.reason


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


@pytest.mark.parametrize(("p_value", "wanted"), [(0.02, AGREE), (0.005, DISAGREE)])
def test_the_level_is_one_in_a_hundred(p_value, wanted):
    """Ten seeds on either side: Student's t with 18 degrees of freedom."""
    cell = replace(CELL, unit=0.0)
    error = np.sqrt(2 * 0.05**2 / 10)
    ours = replace(OURS, mean=cell.mean + error * t.isf(p_value / 2, 18))
    assert verdict(cell, ours).verdict == wanted


@pytest.mark.parametrize(("count", "wanted"), [(3, WEAK), (20, DISAGREE)])
def test_far_means_of_few_seeds_are_weak(count, wanted):
    """Four standard errors apart, without a published spread: with two degrees of freedom that may be chance."""
    cell = replace(CELL, std=None, unit=0.0)
    ours = replace(OURS, count=count, mean=cell.mean + 4 * OURS.std * np.sqrt(1 / count + 1 / cell.count))
    found = verdict(cell, ours)
    assert (found.verdict, round(found.z, 6)) == (wanted, 4)


def test_counts_of_cells_and_claims_are_apart():
    lines = [{"kind": "cell", "verdict": word, "reason": ""} for word in (AGREE, AGREE, WEAK, DISAGREE, NOT_COMPUTED)]
    lines += [{"kind": "claim", "verdict": HOLDS, "reason": reason} for reason in ("below", "below, clearly")]
    lines += [{"kind": "claim", "verdict": FAILS, "reason": "below"}]
    assert counted(lines) == "2 of 4 cells agree (1 weak); 2 of 3 claims hold (1 clearly)"
    assert counted(lines[:1]) == "1 of 1 cells agree"
    assert counted(lines[4:5]) == ""


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
    assert [(one.verdict, one.shown) for one in check([claim], [low, high])] == [(HOLDS, True)]
    near = replace(high, mean=0.099)
    assert [(one.verdict, one.shown) for one in check([claim], [low, near])] == [
        (HOLDS, False)
    ]  # not significantly above
    assert [one.verdict for one in check([claim], [replace(low, mean=0.2), replace(high, mean=0.1)])] == [FAILS]
    assert [one.verdict for one in check([claim], [low])] == [NOT_COMPUTED]
    elsewhere = [replace(one, dataset="digits") for one in (low, high)]  # which the thesis does not speak of
    assert [one.verdict for one in check([claim], elsewhere)] == [NOT_COMPUTED]
    assert all(one.dataset for one in read_claims())
    assert [one.verdict for one in check([claim], [low, replace(high, features="48")])] == [NOT_COMPUTED]


@pytest.mark.parametrize("counts", [(3, 10), (10, 3)])
def test_the_run_with_the_most_seeds_counts(counts):
    claim = next(one for one in read_claims() if one.source == "T Fig. 4.9")
    one = replace(OURS, dataset="letter", prepare="unit_norm", kernel="polynomial(0.5, 0.5)", degree="6", std=0.001)
    few, many = (replace(one, sketch=claim.sketch, mean=1 / count, count=count) for count in counts)
    other = replace(one, sketch=claim.other, mean=0.2)
    (found,) = check([claim], [few, many, other])
    assert found.found == "0.1 | tensorsrht 0.2"
    assert found.verdict == HOLDS


@pytest.mark.parametrize(("mean", "wanted"), [(0.9971, HOLDS), (0.997, HOLDS), (0.9969, FAILS), (1.001, FAILS)])
def test_between_has_two_limits(mean, wanted):
    claim = next(one for one in read_claims() if one.relation == "between" and one.dataset == "eeg")
    ours = replace(OURS, dataset="eeg", prepare="min_zero unit_norm", kernel="polynomial(1, 0)", mean=mean)
    ours = replace(ours, sketch=claim.sketch, metric=claim.metric)
    other = replace(ours, sketch="rff", mean=0.0, count=ours.count + 1)
    (found,) = check([claim], [ours, ours, other])  # a job that two commands hold counts once
    assert found.verdict == wanted


def test_a_curve_falls_at_every_number_of_features():
    claim = next(one for one in read_claims() if one.relation == "falls with features")
    one = replace(OURS, dataset="synthetic", kernel="decomposable", sketch=claim.sketch, metric=claim.metric)
    for means, verdict in (((0.3, 0.2, 0.1), HOLDS), ((0.3, 0.1, 0.2), FAILS)):
        curve = [replace(one, features=D, mean=mean) for D, mean in zip(("20", "40", "100"), means, strict=True)]
        few = replace(curve[0], mean=0.0, std=0.01, count=3)  # does not count beside a run with more seeds
        assert [found.verdict for found in check([claim], [*curve, few])] == [verdict]
    assert [found.verdict for found in check([claim], [one])] == [NOT_COMPUTED]
    by_chance = [replace(one, features=D, mean=mean, std=0.1, count=9) for D, mean in (("20", 0.3), ("40", 0.301))]
    assert [found.verdict for found in check([claim], by_chance)] == [HOLDS]


def test_most_is_counted_without_spreads_too():
    claim = next(one for one in read_claims() if one.relation == "mostly below")
    low = replace(OURS, dataset="fashion_mnist", sketch=claim.sketch, metric=claim.metric, std=None, count=1, mean=0.1)
    for mean, verdict in ((0.2, HOLDS), (0.05, FAILS)):
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
    path.with_name(".results.csv.sums").unlink()
    with path.open("w") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(lines[0])
    failed = [one for one in read_ours(path.parent) if not one.count]
    assert [(one.message, one.metric) for one in failed] == [("no room", "")]


def job(directory, rows, points=(), **task):
    """A directory with run.json, results.csv and, where there are points, series.csv."""
    directory.mkdir(parents=True)
    config = {
        "dataset": {"name": "digits", "prepare": ["unit_norm"]},
        "task": {"name": "variance"} | task,
        "kernel": {"name": "polynomial", "gamma": 1.0, "bias": 1.0},
        "sketch": {"name": "ctr_tensorsrht"},
        "degree": 3,
    }
    (directory / "run.json").write_text(json.dumps({"config": config}))
    setting = {"dataset": "digits", "n_train": 90, "n_test": 10, "degree": 3, "features": 64, "status": "ok"}
    write_rows(directory / "results.csv", [setting | row for row in rows])
    if points:
        write_series(directory, [setting | point for point in points])


def test_deviations_are_those_of_a_sample(tmp_path):
    """Over seeds with n − 1; of one seed, those of its draws."""
    values = (1.0, 2.0, 6.0)
    job(tmp_path / "seeds", [{"seed": k, "metric": "kl", "value": value} for k, value in enumerate(values)])
    (found,) = read_ours(tmp_path / "seeds")
    assert (found.mean, found.std, found.count) == (3, pytest.approx(np.std(values, ddof=1)), 3)
    rows = [{"seed": 0, "metric": "kid", "value": 5.0}, {"seed": 0, "metric": "kid_std", "value": 2.0}]
    job(tmp_path / "draws", rows, name="kid", resamples=20)
    found = {one.metric: (one.std, one.count) for one in read_ours(tmp_path / "draws")}
    assert found == {"kid": (2.0, 20), "kid_std": (pytest.approx(2 / np.sqrt(2)), 19)}


@pytest.mark.parametrize("s", [0.5, 2.0])
def test_the_error_of_a_deviation_is_that_of_normal_draws(s):
    """Estimated from 2000 samples of 30 draws each."""
    spread, count = of_deviation(s, 30)
    samples = np.random.default_rng(0).normal(0, s, (2000, 30)).std(1, ddof=1)
    assert spread / np.sqrt(count) == pytest.approx(samples.std(), rel=0.06)  # 4 standard errors of 2000


def test_points_of_curves_are_results_in_directories_of_all_versions(tmp_path):
    """Earlier versions wrote them as metrics, and their jobs in other places."""
    rows = [{"seed": 0, "metric": "ratio_to_real_below_1", "value": 1.0}]
    points = [{"seed": 0, "name": "ratio_to_real", "x": x, "y": x / 2} for x in (0.0, 0.5, 1.0)]
    job(tmp_path / "outputs" / "wacker" / "fig4_1" / "jobs" / "0123", rows, points)
    job(tmp_path / "outputs" / "sweep" / "4567", [*rows, {"seed": 0, "metric": "ratio_to_real_q050", "value": 0.25}])
    found = read_ours(tmp_path / "outputs")
    assert sorted(one.metric for one in found if one.directory.name == "0123") == [
        "ratio_to_real@0",
        "ratio_to_real@0.5",
        "ratio_to_real@1",
        "ratio_to_real_below_1",
    ]
    assert [one.mean for one in found if one.metric == "ratio_to_real@0.5"] == [0.25, 0.25]


def test_claims_name_curves_and_metrics_that_tasks_have():
    metrics = {claim.metric for claim in read_claims()}
    curves = {"ratio_to_real@0.5", "ratio_to_tensorsketch@0.5", "variance@1"}
    assert {metric for metric in metrics if "@" in metric} == curves == set(RENAMED.values())
    assert not any(re.search(r"_[a-z]\d{3}$", metric) for metric in metrics)


def file_of_author(path, *changes):
    row = {"dataset": "mnist", "sketch": "tensorsrht", "features": "64", "metric": "kl_sum", "mean": "10000"}
    row |= {"std": "5000", "seeds": "10", "source": "poly_n70000_x"}
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerows(row | change for change in changes)


def test_divergences_of_the_author_are_means_over_test_rows(tmp_path):
    file_of_author(tmp_path / "polynomial_degree3.csv", {}, {"metric": "test_error", "mean": "0.5"})
    kl, error = author(tmp_path)
    assert (kl.metric, kl.mean, kl.std, kl.n, kl.count) == ("kl", 2.0, 1.0, 70_000, 10)
    assert (error.metric, error.mean, error.std) == ("error", 0.5, 5000)


def test_a_number_of_one_run_agrees_within_its_spread_over_seeds():
    one_run = replace(CELL, std=None, count=1, between=(0.33, 0.38))
    for mean, std, expected in ((0.375, None, AGREE), (0.375, 0.05, AGREE), (0.385, None, DISAGREE)):
        assert verdict(one_run, replace(OURS, mean=mean, std=std, count=1)).verdict == expected
    split = replace(CELL, between=(0.33, 0.38))  # and a spread over draws besides
    for mean, expected in ((0.39, AGREE), (0.36, AGREE), (0.5, DISAGREE), (0.2, DISAGREE)):
        assert verdict(split, replace(OURS, mean=mean)).verdict == expected


def test_rows_of_the_first_ones_and_of_drawn_ones_do_not_meet():
    first = replace(CELL, task="kernel_error(order=first)")
    assert verdict(first, OURS).verdict == NOT_COMPUTED
    assert verdict(first, replace(OURS, task="kernel_error(order=first)")).verdict == AGREE


ANALOGUE = {"dataset": "magic", "sketch": "orf", "features": "38", "metric": "accuracy", "mean": "0.8", "std": "0.01"}
ANALOGUE |= {"seeds": "10", "kernel": "rbf", "platform": "fp32"}
XGPR = {"dataset": "kin40k", "n_train": "32000", "model": "xgpr_sorf_rbf", "features": "4096", "metric": "mae"}
XGPR |= {"value": "0.2", "log_hyperparameters": "-0.5 1.0 -0.25"}


def test_cells_of_the_analogue_study():
    (error,) = analogue(ANALOGUE)
    assert (error.metric, error.mean, error.n, error.fault) == ("error", pytest.approx(0.2), 19_020, "")
    assert error.between == pytest.approx((0.187, 0.213))
    assert error.task == f"ridge(alpha={0.5 / 9510:.6g}, intercept=True)"
    (chip,) = analogue(ANALOGUE | {"platform": "analog", "kernel": "arccos0", "metric": "rel_frobenius"})
    assert chip.sketch == "arc_cosine(directions=orthogonal, truncation=3, signs=lapack, opu=analog)"
    assert "not public" in chip.fault
    assert not list(analogue(ANALOGUE | {"dataset": "skin"}))


def test_cells_of_xgpr():
    (cell,) = regression(XGPR)
    assert (cell.std, cell.between) == (None, pytest.approx((0.188, 0.212)))
    assert cell.task == f"ridge(alpha={np.exp(-3) / 32_000:.6g})"  # λ²/β²n
    assert cell.kernel == f"gaussian(length_scale={np.exp(0.25):.6g})"
    (likelihood,) = regression(XGPR | {"metric": "nmll"})
    assert (likelihood.between, likelihood.task) == (None, f"gpr(noise={np.exp(-1):.6g}, signal={np.exp(2):.6g})")
    (notebook,) = regression(
        XGPR | {"model": "xgpr_sorf_rbf_intercept", "metric": "mae_raw", "log_hyperparameters": "-0.5 0.25"}
    )
    assert (notebook.metric, notebook.task) == ("mae", f"ridge(alpha={np.exp(-1) / 32_000:.6g})")
    assert not list(regression(XGPR | {"model": "gpytorch_svgp_rbf"}))


def test_alpha_of_the_author_is_that_of_his_file_and_his_features_include_the_constant(tmp_path):
    alphas = {"polynomial_degree3": 0.001, "polynomial_degree20": 0.01, "gaussian": 0.01}
    for name in alphas:
        file_of_author(tmp_path / f"{name}.csv", {"sketch": "optimized_maclaurin(rademacher)", "features": "8"})
    found = {cell.source: (cell.task, cell.features) for cell in author(tmp_path)}
    assert found == {f"author, {name}.csv": (f"gpc(alpha={alpha})", "8") for name, alpha in alphas.items()}


@pytest.mark.slow
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
    last = re.match(r"(\d+) of (\d+) cells agree", done.stdout.strip().splitlines()[-1])
    assert int(last[2]) == sum(line["kind"] == "cell" and line["verdict"] != NOT_COMPUTED for line in lines)
    if truth.is_dir():
        assert len(lines) > len(list(author(truth))) > 3000


@pytest.mark.parametrize(
    ("experiment", "source"),
    [
        ("wacker/tableD_1", "T Table D.1"),
        ("wacker/fig4_10", "T Fig. 4.10"),
        ("wacker/tableD_1_regression", "T Table D.1"),
        ("brault/table3", "B Table 3"),
        ("chang/fig2", "C Fig. 2"),
        ("beyond/anchored", None),
    ],
)
def test_an_experiment_names_its_source(experiment, source):
    assert source_of(experiment) == source


def test_one_experiment_alone_and_nothing_that_was_not_run(tmp_path, rfbench):
    assert rfbench("seeds=1", "features=64").returncode == 0
    every, one = rfbench("compare").stdout, rfbench("compare", "brault/table3").stdout
    assert "tables and figures were not run" in every
    assert "Table 3 (Brault" not in every
    assert one.startswith("Table 3 (Brault et al. 2016)\nnot computed: ")
    assert "T Table D.1" not in one
    assert rfbench("compare", "outputs", "brault/table3").stdout == one


def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys):
    def refused(*words):
        assert main(["compare", *map(str, words)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    monkeypatch.chdir(tmp_path)
    assert "no directory outputs" in refused()
    assert "no directory or experiment 'wacker/tabelD_1'; did you mean 'wacker/tableD_1'?" in refused("wacker/tabelD_1")
    assert "no published numbers of 'braut/table3'; name an experiment such as brault/table3" in refused(
        ".", "braut/table3"
    )
    job = tmp_path / "outputs" / "job"
    job.mkdir(parents=True)
    assert "no results" in refused()
    assert "see rfbench compare --help" in refused("--trth", "x")
    (job / "run.json").write_text(json.dumps({"config": {}}))
    assert "damaged" in refused()
    assert "polynomial_degree3.csv" in refused("--truth", tmp_path)
    assert not list(tmp_path.rglob("compare.csv"))
