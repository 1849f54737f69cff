"""One job: what it may look at, and what it keeps beside its numbers."""

import json

import numpy as np
import pytest
from support import ROOT

from rfbench import job
from rfbench.datasets.base import Dataset, InMemory
from rfbench.results import manifest
from rfbench.results.pictures import MAPS, read_pictures
from rfbench.results.rows import Results, read_rows
from rfbench.results.series import read_series
from rfbench.sketches.maclaurin import optimized
from rfbench.sketches.wrappers import Affine
from rfbench.tasks.base import Measure
from rfbench.tasks.kernel_error import KernelError

WORDS = ("features=64", "seeds=1")


def test_a_sketch_is_fitted_to_training_rows_only(rfbench, monkeypatch):
    """The rows carry their number in the first column; those of the test part never reach `adapt`."""
    seen, adapt = [], Affine.adapt

    def spy(self, X, D):
        seen.append(X.copy())
        return adapt(self, X, D)

    monkeypatch.setattr(Affine, "adapt", spy)
    rows = np.arange(300.0)[:, None] + [0.25, 0.5]

    def load(config, **_):
        return Dataset("numbered", InMemory(rows), InMemory(np.zeros(300)), None, n_train=200)

    monkeypatch.setattr("rfbench.trials.load", load)
    assert rfbench(*WORDS, "dataset.prepare=[]").returncode == 0
    (X,) = seen
    assert len(X) == 200
    assert X[:, 0].max() < 200


def test_a_sketch_is_fitted_to_as_many_rows_as_it_asks_for(rfbench, monkeypatch):
    """sketch.rows above the number of rows that a kernel learns from, and below it."""
    seen = []

    def spy(kernel, terms, X, diagonal):
        seen.append(len(X))
        return statistics(kernel, terms, X, diagonal)

    statistics = optimized.statistics
    monkeypatch.setattr(optimized, "statistics", spy)
    for rows in (50, 1200, 5000):
        assert rfbench("sketch=optimized_maclaurin", f"sketch.rows={rows}", *WORDS).returncode == 0
    assert seen == [50, 1200, 1617]  # all training rows of digits


def test_rows_have_the_sizes_of_the_parts_and_the_columns_of_the_dataset(rfbench, tmp_path):
    assert rfbench(*WORDS, "dataset=wine", "dataset.prepare=[zero_pad]").returncode == 0
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    assert {(r["n_train"], r["n_test"], r["d"]) for r in read_rows(path)} == {("160", "18", "13")}


def test_what_earlier_seeds_learned_stays_in_run_json(rfbench, tmp_path):
    for seeds in (1, 2):
        words = ("sketch=optimized_maclaurin", "kernel=gaussian", "dataset=wine", "features=64", f"seeds={seeds}")
        assert rfbench(*words).returncode == 0
    (path,) = tmp_path.glob("outputs/*/*/run.json")
    learned = json.loads(path.read_text())["learned"]
    for seed in (0, 1):
        assert f"gaussian kernel, seed {seed}" in learned
        assert any(key.endswith(f"64 features, seed {seed}") for key in learned)


@pytest.mark.parametrize("mode", [(), ("-m",)])
def test_the_table_has_the_seeds_that_were_asked_for(rfbench, tmp_path, mode):
    assert rfbench(*mode, "features=64", "seeds=4").returncode == 0
    done = rfbench(*mode, "features=64", "seeds=[1,2]")
    assert "seeds: 2" in done.stdout
    assert "2 other seeds on disk are not shown: they were not asked for" in done.stdout
    (job,) = (path for path in tmp_path.rglob("results.csv") if (path.parent / "run.json").exists())
    assert {row["seed"] for row in read_rows(job)} == {"0", "1", "2", "3"}  # nothing is lost
    tables = [path for path in tmp_path.rglob("results.csv") if path != job]
    assert [{row["seed"] for row in read_rows(path)} for path in tables] == [{"1", "2"}] * len(mode)
    assert "not shown" not in rfbench(*mode, "features=64", "seeds=4").stdout


def test_pictures_are_those_of_the_first_seed(rfbench, tmp_path):
    errors = {}
    for seeds in ("[0,1]", "[1,0]"):
        (tmp_path / seeds).mkdir()
        words = ("task=attention", "task.length=64", "task.columns=8", "features=32", f"seeds={seeds}")
        assert rfbench(*words, cwd=tmp_path / seeds).returncode == 0
        (directory,) = (tmp_path / seeds).glob("outputs/*/*")
        (shown,) = (key.error for key in read_pictures(directory, MAPS) if key.sketch != "exact")
        rows = read_rows(directory / "results.csv")
        of = {r["seed"]: float(r["value"]) for r in rows if r["metric"] == "rel_frobenius"}
        errors[seeds] = shown == of[seeds[1]], shown == of[seeds[3]]
    assert set(errors.values()) == {(True, False)}


def test_what_belongs_to_a_trial_is_on_disk_before_its_rows_unless_it_failed(rfbench, monkeypatch):
    def measure(self, trial, reference):
        trial.curve("error", np.arange(2), np.ones(2))
        if trial.seed == 1:
            raise ArithmeticError("too small")
        yield Measure("rel_frobenius", 1.0)

    def spy(self, rows):
        directory = self.path.parent
        seen.append(({point["seed"] for point in read_series(directory)}, (directory / "run.json").exists()))
        add(self, rows)

    seen, add = [], Results.add
    monkeypatch.setattr(KernelError, "measure", measure)
    monkeypatch.setattr(Results, "add", spy)
    assert rfbench("features=64", "seeds=3").returncode == 1
    assert seen == [({"0"}, True), ({"0"}, True), ({"0", "2"}, True)]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_one_job_is_built_once_and_asks_git_once(rfbench, monkeypatch):
    built, asked, build, run = [], [], job.build_job, manifest.subprocess.run
    monkeypatch.setattr(job, "build_job", lambda plain: built.append(1) or build(plain))
    monkeypatch.setattr(manifest.subprocess, "run", lambda *a, **k: asked.append(1) or run(*a, **k))
    manifest.git_state.cache_clear()
    assert rfbench(*WORDS).returncode == 0
    assert (len(built), len(asked)) == (1, 1)


def test_results_go_where_output_dir_says_and_are_found_there(rfbench, tmp_path):
    where = f"output_dir={tmp_path / 'my (results), new'}"
    done = rfbench(*WORDS, "sketch=rademacher", where)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "outputs").exists()
    assert "rfbench report 'my (results), new', then open my (results), new/report.html" in done.stdout
    (single,) = tmp_path.glob("my (results), new/*/*/results.csv")
    assert rfbench("-m", *WORDS, "sketch=rademacher", where).returncode == 0
    (again,) = tmp_path.glob(f"my (results), new/sweep-*/jobs/{single.parent.name}/results.csv")  # the same name
    assert again.read_text() == single.read_text()


def test_a_reading_is_tried_again_when_its_reason_is_gone(rfbench, tmp_path):
    """A counter that appears between two runs; while it is missing, nothing is computed again."""
    zone = tmp_path / "powercap" / "intel-rapl:0"
    words = (
        "meter=rapl",
        f"meter.root={zone.parent}",
        "meter.idle_seconds=0",
        "dataset=wine",
        "features=64",
        "seeds=1",
    )
    assert rfbench(*words).returncode == 0
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    before = path.read_text()
    assert "no energy counter" in before
    assert rfbench(*words).returncode == 0
    assert path.read_text() == before
    zone.mkdir(parents=True)
    for name, text in {"name": "package-0", "energy_uj": "1000000", "max_energy_range_uj": "262143328850"}.items():
        (zone / name).write_text(text)
    assert rfbench(*words).returncode == 0
    rows = read_rows(path)
    assert {row["status"] for row in rows} == {"ok"}
    assert "joules" in {row["metric"] for row in rows}


def test_finished_jobs_of_another_command_are_reused(rfbench, tmp_path):
    assert rfbench(*WORDS, "sketch=rademacher").returncode == 0
    (single,) = tmp_path.glob("outputs/*/*/results.csv")
    done = rfbench("-m", *WORDS, "sketch=rademacher,gaussian")
    assert done.returncode == 0, done.stderr
    (again,) = tmp_path.glob(f"outputs/sweep-*/jobs/{single.parent.name}/results.csv")
    assert again.read_text() == single.read_text()  # also its times: nothing was computed again


def test_a_reused_job_brings_its_curves_but_not_its_figure(rfbench, tmp_path):
    words = ("task=profile", "sketch=rff", "kernel=gaussian", "features=64", "seeds=1")
    assert rfbench(*words).returncode == 0
    (single,) = tmp_path.glob("outputs/*/*/series.csv")
    assert rfbench("-m", *words).returncode == 0
    (job,) = tmp_path.glob(f"outputs/sweep-*/jobs/{single.parent.name}")
    assert (job / "series.csv").read_text() == single.read_text()
    assert {path.name for path in job.glob("[!.]*")} == {"results.csv", "series.csv", "run.json", "rfbench.log"}


@pytest.mark.parametrize("spoil", ["data", "results.csv", "run.json"])
def test_a_job_of_other_data_or_a_damaged_one_is_not_reused(rfbench, tmp_path, spoil):
    assert rfbench(*WORDS, "sketch=rademacher").returncode == 0
    (single,) = tmp_path.glob("outputs/*/*")
    if spoil == "data":
        path = single / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"data": "other"}))
    else:
        (single / spoil).write_text("damaged")
    done = rfbench("-m", *WORDS, "sketch=rademacher,gaussian")
    assert done.returncode == 0, done.stderr
    (again,) = tmp_path.glob(f"outputs/sweep-*/jobs/{single.name}")
    assert (again / "results.csv").read_text() != (single / "results.csv").read_text()  # other times
    assert json.loads((again / "run.json").read_text())["data"] != "other"


def test_an_option_that_only_the_jobs_of_a_sweep_have(rfbench):
    done = rfbench("-m", "sketch=rff,orf", "kernel.length_scale=1.0", *WORDS)
    assert done.returncode == 0, done.stderr
    assert "gaussian(length_scale=1.0) kernel" in done.stdout
