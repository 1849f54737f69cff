"""Files that are complete or absent, locks and digests."""

import os
import subprocess
import sys

import numpy as np
import psutil
import pytest

from rfbench.checks import InputError
from rfbench.storage import (
    HOST,
    append_file,
    atomic_dir,
    digest,
    exclusive_lock,
    remove_leftovers,
    replace_file,
)

A = np.arange(6.0).reshape(2, 3)


def test_digests_see_type_and_shape_of_the_same_bytes():
    B = np.arange(6, dtype=np.int64)
    same = [B, B.reshape(2, 3), B.reshape(3, 2), B.view(np.uint64), B.view(np.float64)]
    assert len({one.tobytes() for one in same}) == 1
    assert len({digest(one) for one in same}) == 5


def test_digests_see_bytes_and_words():
    assert digest(A, "a") == digest(A.copy(), "a") != digest(A, "b")
    assert digest(A[:, ::-1]) == digest(A[:, ::-1].copy())


def test_a_second_sketch_finds_the_exact_process(rfbench, tmp_path):
    environment = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    for sketch in ("rff", "orf"):
        done = rfbench("task=gpr", "dataset=diabetes", f"sketch={sketch}", "features=32", "seeds=1", env=environment)
        assert done.returncode == 0, done.stderr
    files = sorted(path.name.partition("-")[0] for path in (tmp_path / "cache" / "references").iterdir())
    assert files == ["exact", "noise"]
    assert not [name for name in os.listdir(tmp_path / "cache" / "references") if name.startswith(".")]


def gone():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_leftovers_of_killed_processes_are_removed_and_nothing_else(tmp_path):
    dead, alive = gone(), os.getppid()
    for name in (f".results.csv.{dead}", f".results.csv.{alive}", ".results.csv.sums", "results.csv", f"mine.{dead}"):
        (tmp_path / name).write_text("")
    for name in (f".{HOST}.abc.{dead}", f".{HOST}.abc.{alive}", f".elsewhere.abc.{dead}"):
        (tmp_path / name / "part").mkdir(parents=True)
    remove_leftovers(tmp_path)
    left = {f".results.csv.{alive}", ".results.csv.sums", "results.csv", f"mine.{dead}"}
    assert set(os.listdir(tmp_path)) == left | {f".{HOST}.abc.{alive}", f".elsewhere.abc.{dead}"}


def test_a_number_that_another_process_has_now_does_not_keep_a_leftover(tmp_path):
    other = psutil.Process(os.getppid())
    for name, time in ((f".a.csv.{other.pid}", other.create_time() - 60), (f".b.csv.{other.pid}", other.create_time())):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time, time))
    remove_leftovers(tmp_path)
    assert os.listdir(tmp_path) == [f".b.csv.{other.pid}"]


def test_a_process_that_nobody_has_waited_for_is_gone(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    ended.stdout.read()
    while psutil.Process(ended.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    (tmp_path / f".results.csv.{ended.pid}").write_text("")
    remove_leftovers(tmp_path)
    assert not os.listdir(tmp_path)
    ended.wait()


def test_a_finished_command_that_finds_what_a_kill_left_removes_it(rfbench, tmp_path):
    words = ("-m", "dataset=wine", "task=ridge", "task.save=true", "sketch=rff,orf", "features=16", "seeds=1")
    first = rfbench(*words, env={"RFBENCH_CACHE": str(tmp_path / "cache")})
    assert first.returncode == 0, first.stderr
    (sweep,), dead = tmp_path.glob("outputs/sweep-*"), gone()
    for place in (sweep, *sweep.glob("jobs/*"), *sweep.glob("jobs/*/models")):
        for name in ("tally", "figure.png", "results.csv", "features16-seed0.npz"):
            (place / f".{name}.{dead}").write_text("half")
            again = rfbench(*words, env={"RFBENCH_CACHE": str(tmp_path / "cache")})
            assert again.returncode == 0, again.stderr
            assert not list(sweep.rglob(f".*.{dead}")), (place, name)


@pytest.mark.parametrize("words", ["dataset=wine features=16 seeds=1", "data check wine"])
def test_what_was_killed_in_the_cache_goes_at_the_next_start(words, rfbench, tmp_path):
    """Of any command: the next one may use another dataset, or none that has to be converted."""
    cache, dead = tmp_path / "cache", gone()
    folders = [f".{HOST}.abc.{dead}", f"arrays/.{HOST}.abc.{dead}", f"own/.{HOST}.abc.{dead}", "arrays/boston-0"]
    for name in folders:
        (cache / name / "part").mkdir(parents=True)
    files = [f"arrays/boston-0/.meta.json.{dead}", f"conf/dataset/.mine.yaml.{dead}", f"references/.exact.npz.{dead}"]
    for name in files:
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_text("half")
    done = rfbench(*words.split(), env={"RFBENCH_CACHE": str(cache)})
    assert done.returncode == 0, done.stderr
    assert not list(cache.rglob(f".*.{dead}"))


def test_a_leftover_whose_number_belongs_to_a_process_that_runs_goes_too(rfbench, tmp_path):
    """From the models at once, since who has the lock is the only one to write there; else when that process ends."""
    words = ("-m", "dataset=wine", "task=ridge", "task.save=true", "sketch=rff", "features=16", "seeds=1")
    env = {"RFBENCH_CACHE": str(tmp_path / "cache")}
    assert rfbench(*words, env=env).returncode == 0
    (sweep,) = tmp_path.glob("outputs/sweep-*")
    (job,) = sweep.glob("jobs/*")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        for place in (job / "models", job, sweep):
            (place / f".half.npz.{other.pid}").write_text("half")
        assert rfbench(*words, env=env).returncode == 0
        assert list((job / "models").glob(".*")) == []
        assert (job / f".half.npz.{other.pid}").exists()  # it may be a figure
    assert rfbench(*words, env=env).returncode == 0
    assert not list(sweep.rglob(f".*.{other.pid}"))


KILLED = """
import os, sys
from pathlib import Path
from rfbench.storage import atomic_dir, replace_file
here = Path(sys.argv[1])
with atomic_dir(here / "arrays" / "one") as part:
    (part / "X.npy").write_text("half")
    os.replace = lambda *_: os.kill(os.getpid(), 9)
    replace_file(here / "run.json", "half")
"""


def test_what_a_kill_leaves_is_gone_after_the_next_start(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)])
    assert len(list(tmp_path.rglob(".*"))) == 2
    with atomic_dir(tmp_path / "arrays" / "one") as part:
        (part / "X.npy").write_text("whole")
    remove_leftovers(tmp_path)
    replace_file(tmp_path / "run.json", "whole")
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "arrays",
        "arrays/one",
        "arrays/one/X.npy",
        "run.json",
    ]


@pytest.mark.medium
def test_a_run_removes_what_a_killed_one_left(rfbench, tmp_path):
    words = ("-m", "task=ridge", "task.save=true", "dataset=wine", "sketch=rff", "features=8", "seeds=1")
    assert rfbench(*words).returncode == 0
    (sweep,) = tmp_path.glob("outputs/sweep-*")
    (job,) = sweep.glob("jobs/*")
    left = [job / f".run.json.{gone()}", job / "models" / f".features8-seed0.npz.{gone()}"]
    left += [job / f".results.csv.{gone()}", sweep / f".summary.csv.{gone()}"]
    for path in left:
        path.write_text("half")
    assert rfbench(*words).returncode == 0
    assert not any(path.exists() for path in left)


def test_nothing_is_written_through_a_symbolic_link(tmp_path):
    """In a directory that others can write, a link in place of a temporary file or a lock names a file of ours."""
    (tmp_path / "precious").write_text("mine")
    for name in (f".run.json.{os.getpid()}", ".lock", "results.csv"):
        (tmp_path / name).symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="cannot write"):
        replace_file(tmp_path / "run.json", "theirs")
    with pytest.raises(InputError, match="cannot write"):
        append_file(tmp_path / "results.csv", b"theirs")
    with pytest.raises(InputError, match="remove it if it is a symbolic link"), exclusive_lock(tmp_path / ".lock"):
        pass
    assert (tmp_path / "precious").read_text() == "mine"
