"""`rfbench results` and `rfbench clean`: what is there, and what goes."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from support.results import config_of, made_up, write_experiment, write_run

from rfbench.results.rows import only_writer, read_rows

PART = "partial/0123/part-000000.npz"
FAILED = {"features": "", "seed": "", "metric": "", "value": "", "status": "failed", "message": "out of memory"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An old sweep of two jobs, a run of today, a sweep with a failed job, and what a killed run leaves."""
    rng, outputs = np.random.default_rng(0), tmp_path_factory.mktemp("made") / "outputs"
    write_experiment(outputs / "old", [("digits", "rff"), ("wine", "orf")], rng)
    for path in outputs.glob("old/jobs/*/run.json"):
        finished = (datetime.now(UTC) - timedelta(days=40)).isoformat(timespec="seconds")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"finished": finished}))
    write_run(outputs / "digits-rff-ridge" / "abc", config_of(), list(made_up(rng, 1, seeds=3)))
    write_experiment(outputs / "wacker" / "fig4_1", [("digits", "rff"), ("digits", "orf")], rng)
    write_run(outputs / "wacker" / "fig4_1" / "jobs" / "bad", config_of(), [FAILED])
    (outputs / "digits-orf-svm" / "killed" / ".hydra").mkdir(parents=True)
    (outputs / "digits-orf-svm" / "killed" / ".hydra" / "config.yaml").write_text("degree: 3\nsketch:\n  name: orf\n")
    (outputs / "digits-orf-svm" / "killed" / "rfbench.log").write_text("")
    (outputs / "digits-orf-svm" / "killed" / "partial" / "0123").mkdir(parents=True)
    (outputs / "digits-orf-svm" / "killed" / "partial" / "0123" / "part-000000.npz").write_bytes(b"sums")
    return outputs


@pytest.fixture
def outputs(made, tmp_path):
    return shutil.copytree(made, tmp_path / "outputs")


def kept(outputs):
    return sorted(path.relative_to(outputs).as_posix() for path in (*outputs.rglob("jobs/*"), *outputs.glob("*-*/*")))


def test_results_are_listed_with_what_failed(rfbench, outputs):
    done = rfbench("results")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines()}
    assert list(lines)[:2] == ["results", "old"]  # the latest last
    assert lines["results"] == ["results", "finished", "jobs", "seeds", "size", "failed", "of"]
    assert lines["wacker/fig4_1"][3:5] == ["3", "5"]
    assert lines["wacker/fig4_1"][7] == "1"
    assert lines["digits-rff-ridge/abc"][3:5] == ["1", "3"]
    assert len(lines) == 4


def test_damaged_results_are_a_line_too(rfbench, outputs):
    (outputs / "digits-rff-ridge" / "abc" / "run.json").write_text("{")
    done = rfbench("results")
    assert done.returncode == 0
    assert "run.json is damaged" in done.stdout


ALL = ["digits-orf-svm/killed", "digits-rff-ridge/abc", "old/jobs/000000000000", "old/jobs/000000000001"]
ALL += [f"wacker/fig4_1/jobs/{name}" for name in ("000000000000", "000000000001", "bad")]


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        (("--older", "30d"), ALL[2:4]),
        (("--older", "8w"), []),
        (("--failed",), ALL[6:]),
        (("--orphans",), ALL[:1]),
        (("--older=30d", "--failed", "--orphans"), [*ALL[2:4], ALL[6], ALL[0]]),
    ],
)
def test_what_is_asked_for_goes_and_nothing_else(rfbench, outputs, words, gone):
    assert kept(outputs) == ALL
    dry = rfbench("clean", *words, "--dry-run")
    assert kept(outputs) == ALL
    assert ("would remove" in dry.stdout) == bool(gone)
    done = rfbench("clean", *words)
    assert done.returncode == 0, done.stderr
    assert kept(outputs) == [name for name in ALL if name not in gone]
    assert dry.stdout.replace("would remove", "removed").replace("would free", "freed") == done.stdout
    assert (outputs / "old").exists() == (ALL[2] not in gone)
    if ALL[6] in gone:  # the joined table is that of the jobs that are left
        rows = read_rows(outputs / "wacker" / "fig4_1" / "results.csv")
        assert {row["status"] for row in rows} == {"ok"}


def test_files_of_the_user_stay_and_so_does_what_a_run_is_writing(rfbench, outputs):
    (outputs / "old" / "jobs" / "000000000000" / "notes.txt").write_text("mine")
    with only_writer(outputs / "digits-rff-ridge" / "abc"):
        done = rfbench("clean", "--older", "0h")
    assert "kept outputs/digits-rff-ridge/abc: another run is writing" in done.stdout
    assert "has notes.txt, which rfbench has not written" in done.stdout
    assert (outputs / "old" / "jobs" / "000000000000" / "notes.txt").read_text() == "mine"
    assert len(read_rows(outputs / "digits-rff-ridge" / "abc" / "results.csv")) == 18


def test_what_other_programs_have_written_stays(rfbench, outputs):
    """Other programs write outputs/…/.hydra, models and results.csv, and have empty and dotted folders."""
    theirs = {
        "2024-01-01/10-00-00/.hydra/config.yaml": "lr: 0.1\n",
        "2024-01-01/10-00-00/models/best.pt": "weights",
        "measured/results.csv": "a,b\n1,2\n",
        "measured/figure.png": "a figure",
        ".notes.99999999": "not a temporary file",
        "digits-rff-ridge/abc/results_of_2024.csv": "mine",
    }
    for name, content in theirs.items():
        (outputs / name).parent.mkdir(parents=True, exist_ok=True)
        (outputs / name).write_text(content)
    (outputs / "empty").mkdir()
    (outputs / "digits-rff-ridge" / "abc" / ".figure.png.99999999").write_bytes(b"of a process that was killed")
    assert rfbench("clean", "--orphans").returncode == 0
    assert not (outputs / "digits-rff-ridge" / "abc" / ".figure.png.99999999").exists()
    assert rfbench("clean", "--older", "0h", "--orphans").returncode == 0
    assert {path.relative_to(outputs).as_posix() for path in outputs.rglob("*") if path.is_file()} == {*theirs}
    assert (outputs / "empty").is_dir()


@pytest.mark.parametrize(("shard", "stays"), [("1/4", True), ("null", False)])
def test_sums_that_wait_for_a_merge_stay(rfbench, tmp_path, shard, stays):
    """shard=i/n leaves sums and no row; of an interrupted run they only save time."""
    job = tmp_path / "outputs" / "digits-rff-ridge" / "abc"
    for name, content in ((".hydra/config.yaml", f"shard: {shard}\nsketch:\n  name: rff\n"), (PART, "sums")):
        (job / name).parent.mkdir(parents=True)
        (job / name).write_text(content)
    assert rfbench("clean", "--orphans").returncode == 0
    assert (job / PART).exists() == stays


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ((), "say what to remove: --older 30d, --failed or --orphans"),
        (("--older", "month"), "argument --older: 'month' is not a time such as 12h, 30d or 4w"),
        (("nowhere", "--failed"), "no directory nowhere"),
        (("--old", "30d"), "see rfbench clean --help"),
    ],
)
def test_mistakes(rfbench, outputs, words, wanted):
    done = rfbench("clean", *words)
    assert done.returncode == 2
    assert wanted in done.stderr
    assert kept(outputs) == ALL
