"""Sweeps: their jobs are joined, told apart, and have the same numbers side by side."""

import csv
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from support import ROOT
from support.answers import one_line

from rfbench.config import compose
from rfbench.results import finished, tally
from rfbench.results.rows import only_writer, read_rows
from rfbench.tasks.kernel_error import KernelError


def test_a_sweep_joins_its_jobs_and_goes_on_after_a_failed_one(rfbench, tmp_path):
    bad = tmp_path / "bad.npy"
    np.save(bad, np.ones((40, 5)))
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    assert rfbench("data", "add", bad, "--name", "fine", "--task", "regression", env=env).returncode == 0
    (stored,) = (tmp_path / "cache").rglob("X.npy")
    spoiled = np.load(stored)
    spoiled[3, 1] = np.nan
    np.save(stored, spoiled)
    done = rfbench("-m", "dataset=digits,fine", "sketch=rademacher,tensorsrht", "features=64", "seeds=2", env=env)
    assert done.returncode == 1
    assert "are damaged (checksum mismatch); add the file again: rfbench data add FILE --name fine" in done.stderr
    assert "Traceback" not in done.stderr
    (joined,) = tmp_path.glob("outputs/sweep-*/results.csv")
    rows = read_rows(joined)
    failed = [r for r in rows if r["status"] == "failed"]
    assert {r["dataset"] for r in failed} == {"fine"}
    assert all(r["value"] == "" and "damaged" in r["message"] for r in failed)
    assert {(r["dataset"], r["sketch"]) for r in rows if r["status"] == "ok"} == {
        ("digits", "rademacher"),
        ("digits", "tensorsrht"),
    }
    assert (joined.parent / "figure.png").exists()
    one_line(rfbench("dataset=fine", env=env), "damaged")


def test_a_failure_is_forgotten_once_nothing_is_missing(rfbench, tmp_path):
    """Data that were out of reach for one start of a finished command are back."""
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).standard_normal((40, 5)))
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    assert rfbench("data", "add", "rows.npy", "--name", "mine", "--task", "regression", env=env).returncode == 0
    sweep = ("-m", "dataset=mine", "sketch=rff,orf", "features=16", "seeds=1")
    first = rfbench(*sweep, env=env)
    assert first.returncode == 0, first.stderr
    (stored,) = (tmp_path / "cache").rglob("X.npy")
    stored.rename(tmp_path / "away.npy")
    assert rfbench(*sweep, env=env).returncode != 0
    (tmp_path / "away.npy").rename(stored)
    again = rfbench(*sweep, env=env)
    wanted = re.sub(r"\(about .* left\) ", "", first.stdout)  # on a busy machine
    assert (again.returncode, again.stdout) == (0, wanted), again.stderr
    assert "failed" not in next(tmp_path.glob("outputs/sweep-*/results.csv")).read_text()


@pytest.mark.medium
def test_a_sweep_goes_on_when_its_reader_has_seen_enough(tmp_path):
    words = [sys.executable, "-m", "rfbench", "-m", "dataset=wine", "sketch=rff,orf,sorf", "features=16", "seeds=1"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait() == 0, errors
    assert errors == ""
    (joined,) = tmp_path.glob("outputs/sweep-*/results.csv")
    assert {row["sketch"] for row in read_rows(joined)} == {"rff", "orf", "sorf"}


def test_jobs_of_a_sweep_that_differ_in_an_option_have_different_names(rfbench, tmp_path):
    done = rfbench(
        "-m", "sketch=hierarchical", "sketch.base=tensorsrht,rademacher", "kernel.bias=1,0.5", "features=64", "seeds=1"
    )
    assert done.returncode == 0, done.stderr
    (joined,) = tmp_path.glob("outputs/sweep-*/results.csv")
    rows = read_rows(joined)
    assert {r["sketch"] for r in rows} == {"hierarchical(tensorsrht)", "hierarchical(rademacher)"}
    assert {r["kernel"] for r in rows} == {"polynomial", "polynomial(bias=0.5)"}


def test_what_every_job_of_a_sweep_learned_is_printed(rfbench):
    done = rfbench("-m", "sketch=rff", "dataset=digits,wine", "features=64", "seeds=1")
    assert done.stdout.count("gaussian kernel, seed 0: length_scale") == 2


def test_a_shared_number_of_features_is_counted_once(rfbench, tmp_path):
    assert rfbench("-m", "features=[64,128],[128,256]", "seeds=2").returncode == 0
    (summary,) = tmp_path.glob("outputs/sweep-*/summary.csv")
    with open(summary) as file:
        assert {row["count"] for row in csv.DictReader(file)} == {"2"}


def test_an_experiment_is_a_sweep_of_its_own(rfbench, tmp_path):
    done = rfbench("experiment=wacker/fig4_1", "dataset=digits", "degree=3,6")
    assert done.returncode == 0, done.stderr
    rows = read_rows(tmp_path / "outputs" / "wacker" / "fig4_1" / "results.csv")
    assert len(list(tmp_path.glob("outputs/wacker/fig4_1/jobs/*/run.json"))) == 2
    assert {r["degree"] for r in rows} == {"3", "6"}
    assert {r["value"] for r in rows if r["metric"] == "ratio_to_real_below_1"} == {"1.0"}  # non-negative rows


@pytest.mark.slow
def test_a_sweep_side_by_side_has_the_same_numbers(rfbench, rfbench_process, tmp_path, monkeypatch):
    """One process for each core, by the launcher of the extra `sweep`; what fails in one of them is reported."""
    tables = []
    for launcher in ("basic", "joblib"):
        place = tmp_path / launcher
        place.mkdir()
        sweep = ("sketch=rademacher,tensorsrht", "dataset=digits,wine", "features=64", "seeds=2")
        done = rfbench("-m", f"hydra/launcher={launcher}", *sweep, cwd=place)
        assert done.returncode == 0, done.stderr
        (path,) = place.glob("outputs/sweep-*/results.csv")
        tables.append([r["value"] for r in read_rows(path) if r["unit"] != "s"])
    assert tables[0] == tables[1]
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    done = rfbench_process("-m", "hydra/launcher=joblib", "dataset=wine,yacht", "download=false", "seeds=1")
    assert done.returncode == 1
    assert "yacht-ctr_tensorsrht: dataset 'yacht': the file data.txt" in done.stderr


def test_a_sweep_that_stops_leaves_no_tally(rfbench, tmp_path):
    words = ("-m", "dataset=wine", "sketch=rademacher,gaussian", "features=64")
    assert rfbench(*words, "seeds=1").returncode == 0
    with only_writer(min(tmp_path.glob("outputs/sweep-*/jobs/*"))):
        assert rfbench(*words, "seeds=2").returncode == 2
    assert not list(tmp_path.glob("outputs/sweep-*/.tally.*"))


@pytest.mark.slow
def test_a_job_that_another_process_runs_stops_a_sweep_side_by_side(rfbench, rfbench_process, tmp_path):
    words = ("-m", "hydra/launcher=joblib", "dataset=wine", "sketch=rademacher,gaussian", "features=64", "seeds=1")
    assert rfbench(*words).returncode == 0
    first = min(tmp_path.glob("outputs/sweep-*/jobs/*"))
    with only_writer(first):
        done = rfbench_process(*words)
    assert done.returncode == 2
    assert f"rfbench: error: another run is writing {first}" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_workers_of_a_sweep_end_with_it(tmp_path, stop):
    """Ctrl-C reaches them all; the parent may also be killed alone.  The workers hold the pipe open while they live."""
    words = ("-m", "hydra/launcher=joblib", "sketch=rff,orf", "dataset=wine", "features=2048", "seeds=10000")
    command = [sys.executable, "-m", "rfbench", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    options = {"cwd": tmp_path, "env": environment, "text": True, "start_new_session": True}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options) as process:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.rglob("results.csv"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.2)
        os.killpg(process.pid, stop) if stop == signal.SIGINT else process.kill()
        errors = process.communicate(timeout=20)[1]
    wanted = "rfbench: interrupted; rerun the command to resume\n" if stop == signal.SIGINT else ""
    assert errors == wanted
    assert process.returncode == (130 if stop == signal.SIGINT else -signal.SIGKILL)


IDLE = """
import os, signal
from joblib import Parallel, delayed
from rfbench.engines.worker import end_joblib_with_us
end_joblib_with_us()
print(*set(Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(8))), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_of_joblib_without_a_job_of_ours_end_with_their_parent():
    """One that was killed in the middle of a message to a worker left it waiting for the rest."""
    done = subprocess.run([sys.executable, "-c", IDLE], stdout=subprocess.PIPE, cwd=ROOT, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    workers = [int(pid) for pid in done.stdout.split()]
    deadline = time.monotonic() + 60  # joblib lets them idle for 300 seconds
    while any(map(psutil.pid_exists, workers)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert workers
    assert not any(map(psutil.pid_exists, workers))


def test_the_standing_of_a_sweep_counts_what_ended(tmp_path, monkeypatch):
    """Three jobs of 4, 0 and 12 seeds that lack: after the first, in 10 seconds, three times as much is left."""
    now = [1000.0]
    monkeypatch.setattr(tally, "time", lambda: now[0])
    file = tally.tally_of(tmp_path, 7)
    tally.begin(file, [4, 0, 12])
    assert tally.standing(file, 0) == "[1/3]"
    now[0] += 10
    tally.add(file, 0, failed=False)
    assert tally.standing(file, 1) == "[2/3] (about 30 s left)"
    tally.add(file, 1, failed=True)
    assert tally.standing(file, 2) == "[3/3] (about 30 s left, 1 failed)"
    tally.add(file, 2, failed=False)
    assert tally.standing(file, 2) == "[3/3] (1 failed)"
    tally.end(file)
    tally.add(file, 2, failed=False)
    assert not list(tmp_path.iterdir())
    assert tally.standing(file, 2) == "[3]"
    assert [tally.duration(s) for s in (7, 130, 9000)] == ["7 s", "2 min", "2 h 30 min"]


def test_sweeps_of_one_directory_count_apart(tmp_path):
    """Four starts of one command at once: the first that ends took the file of the others away."""
    first, second = tally.tally_of(tmp_path, 7), tally.tally_of(tmp_path, 8)
    tally.begin(first, [1, 1])
    tally.begin(second, [0, 0])
    tally.end(second)
    tally.add(first, 0, failed=False)
    assert tally.standing(first, 1).startswith("[2/2]")


@pytest.mark.parametrize("text", ["", "[0, 0]\n", "{}\n", '{"start": 0, "work": [1, 1]}\n[0', "1\n", "\0"])
def test_a_damaged_tally_only_tells_less(text, tmp_path):
    file = tally.tally_of(tmp_path, 7)
    file.write_text(text)
    assert tally.standing(file, 1) == "[2]"


def test_a_sweep_says_at_once_how_many_jobs_it_checks_and_names_the_one_with_a_mistake(rfbench, tmp_path):
    done = rfbench("-m", "sketch=rff,orf,sorf,tensorsrht", "features=8,16,33", "kernel=gaussian", "seeds=1")
    assert done.returncode == 2
    first, error = done.stderr.splitlines()
    assert first == "checking 12 jobs"
    assert error.endswith("(job 3 of 12: sketch=rff features=33)")
    assert not (tmp_path / "outputs").exists()


@pytest.mark.slow
def test_workers_count_the_jobs_and_failures_of_the_whole_sweep(rfbench_process, tmp_path):
    words = ("-m", "hydra/launcher=joblib", "hydra.launcher.n_jobs=1", "dataset=yacht,wine", "seeds=1", "features=16")
    done = rfbench_process(*words, "download=false", env={"RFBENCH_DATA": "", "RFBENCH_CACHE": str(tmp_path)})
    assert done.returncode == 1
    assert done.stdout.startswith("[1/2] dataset=yacht")
    assert re.search(r"^\[2/2\] \((about \d+ s left, )?1 failed\) dataset=wine", done.stdout, re.MULTILINE)
    assert not list(tmp_path.glob("outputs/*/.tally*"))


@pytest.fixture
def counted(monkeypatch):
    """Counts the calls of a function of a module or a class."""

    def count(owner, name):
        calls, whole = [], getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args: calls.append(args) or whole(*args))
        return calls

    return count


def untimed(text):
    return re.sub(r" \(about [^)]* left\)", "", text)


SWEEP = ("-m", "sketch=rff,orf", "features=16,32", "kernel.length_scale=1,2", "dataset=wine", "seeds=2")


def test_choices_are_composed_once_and_a_finished_sweep_composes_nothing(rfbench, tmp_path, counted):
    composed, references = counted(compose, "compose_job"), counted(KernelError, "reference")
    first = rfbench(*SWEEP)
    assert first.returncode == 0, first.stderr
    assert len(composed) == 2  # one for each sketch, not for each of the eight jobs
    assert len(references) == 4  # one for each length scale and seed
    again = rfbench(*SWEEP)
    assert (again.returncode, again.stderr, untimed(again.stdout)) == (0, "", untimed(first.stdout))
    assert len(composed) == 2
    (figure,) = tmp_path.glob("outputs/sweep-*/figure.png")
    figure.unlink()
    repaired = rfbench(*SWEEP)
    assert (repaired.returncode, untimed(repaired.stdout)) == (0, untimed(first.stdout)), repaired.stderr
    assert figure.exists()
    assert len(composed) == 4


def test_what_changed_since_it_was_finished_is_noticed(rfbench, tmp_path, counted):
    composed = counted(compose, "compose_job")
    words = ("sketch=rff", "features=16", "dataset=wine", "seeds=1")
    assert rfbench(*words).returncode == 0
    (results,) = tmp_path.glob("outputs/wine-rff-*/*/results.csv")
    assert rfbench(*words).returncode == 0
    assert len(composed) == 1
    assert rfbench(*words, "spread=stderr").returncode == 0  # other words
    assert rfbench(*words, env={"COLUMNS": "60"}).returncode == 0  # a narrow terminal
    assert len(composed) == 3
    results.write_bytes(results.read_bytes().replace(b"rel_spectral", b"rel_spectrum"))
    one_line(rfbench(*words), "damaged")
    (tmp_path / "elsewhere").mkdir()
    assert rfbench(*words, cwd=tmp_path / "elsewhere").returncode == 0
    assert len(list(tmp_path.glob("elsewhere/outputs/wine-rff-*/*/results.csv"))) == 1


def test_data_that_changed_are_noticed_by_a_finished_command(tmp_path):
    known = {"dataset": {"name": "wine"}, "data_dir": None}
    assert finished.is_unchanged(known | {"digest": ""})
    assert not finished.is_unchanged(known | {"digest": "of other rows"})
    assert not finished.is_unchanged({"dataset": {"name": "mnist"}, "data_dir": str(tmp_path), "digest": "gone"})


def test_jobs_that_share_a_reference_have_the_numbers_of_single_runs(rfbench, tmp_path):
    for place, sketches in (("sweep", ("rff,orf",)), ("alone", ("rff", "orf"))):
        (tmp_path / place).mkdir()
        for sketch in sketches:
            done = rfbench("-m", f"sketch={sketch}", "features=16", "dataset=wine", "seeds=2", cwd=tmp_path / place)
            assert done.returncode == 0, done.stderr
    numbers = [
        {
            (row["sketch"], row["seed"], row["metric"]): row["value"]
            for path in (tmp_path / place).glob("outputs/sweep-*/jobs/*/results.csv")
            for row in read_rows(path)
            if row["unit"] != "s"
        }
        for place in ("sweep", "alone")
    ]
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) == 12
