"""Workers that die, and a scheduler that dies, change no number: the results are those of engine=local."""

import json
import os
import random
import subprocess
import sys
from contextlib import contextmanager, suppress
from functools import partial

import numpy as np
import psutil
import pytest
from support.faults import (
    DATA,
    LONG,
    RIDGE,
    begun,
    files,
    fresh,
    kill,
    kill_one,
    leftovers,
    line_of,
    numbers,
    until,
    workers,
)

from rfbench.checks import InputError
from rfbench.cli import main
from rfbench.engines.ledger import read_sums
from rfbench.results.rows import read_rows

pytestmark = pytest.mark.slow
LABELLED = ("dataset=blobs", "engine.part_rows=512")
TASKS = {
    "ridge": RIDGE,
    "ridge cg": ("task.solver=cg", "task.alpha=1e-3", *RIDGE),
    "gpr": ("task=gpr", "sketch=ctr_tensorsrht", "features=64", "seeds=1", "task.reference_rows=200", *DATA),
    "gpc": ("task=gpc", "sketch=complex_rff", "kernel.length_scale=2", "features=32", "seeds=1",
            "task.reference_rows=200", "task.samples=50", *LABELLED),
    "kid": ("task=kid", "sketch=ctr_tensorsrht", "features=64", "seeds=1", "task.subsets=0", "task.exact_rows=0",
            "task.resamples=3", *DATA),
    "vector_field": ("task=vector_field", "sketch=orff_decomposable", "kernel.length_scale=2", "features=32", "seeds=1",
                     *LABELLED),
    "variance": ("task=variance", "sketch=rademacher", "features=64", "seeds=1", "task.draws=3000", "task.rows=50"),
    "kernel_error": ("task=kernel_error", "sketch=rff", "kernel.length_scale=2", "features=64", "seeds=1", *DATA),
}  # fmt: skip


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The numbers of engine=local, computed once for each command."""
    known = {}

    def of(words):
        if words not in known:
            directory = labelled(tmp_path_factory.mktemp("calm"))
            process = begun(*words, "engine=local", cwd=directory)
            assert process.wait(600) == 0, (directory / "stderr").read_text()
            known[words] = numbers(directory)
        return known[words]

    return of


def labelled(directory):
    """A directory, with a dataset of 30,000 rows in three classes in the cache of the tests."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=30_000)
    X = (rng.standard_normal((len(y), 8)) + 2 * np.eye(3, 8)[y]).astype(np.float32)
    np.savez(directory / "blobs.npz", X=X, y=y)
    assert main(["data", "add", str(directory / "blobs.npz"), "--name", "blobs", "--task", "classification"]) == 0
    return directory


@pytest.mark.parametrize(("engine", "count"), [("processes", 2), ("dask", 1), ("dask", 2), ("dask", 4)])
@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_the_numbers_of_one_process(task, engine, count, calm, tmp_path):
    """Although one of its workers is killed in the middle of a pass; kernel_error has none."""
    chance = random.Random(task)
    for place in fresh(tmp_path):
        words = (*TASKS[task], f"engine={engine}", f"engine.workers={count}", "engine.checkpoint=3600")
        process = begun(*words, cwd=labelled(place))
        killed = killed_one(place, process, 2, chance)
        assert process.wait(600) == 0, (place / "stderr").read_text()
        assert numbers(place) == calm(TASKS[task])
        assert (place / "stderr").read_text() == ""
        assert leftovers(place) == []
        if killed or task == "kernel_error":
            return


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_workers_that_are_killed_in_the_middle_change_nothing(engine, count, calm, tmp_path):
    """As many kills as there are workers, each after some more parts have arrived."""
    chance = random.Random(count)
    for place in fresh(tmp_path):
        words = (
            *LONG,
            f"engine={engine}",
            f"engine.workers={count}",
            "engine.checkpoint=3600",
        )  # parts stay to be counted
        process = begun(*words, cwd=place)
        kills = sum(killed_one(place, process, more, chance) for more in range(2, 10 * count, 10))
        assert process.wait(600) == 0, (place / "stderr").read_text()
        assert numbers(place) == calm(LONG)
        assert (place / "stderr").read_text() == ""
        assert leftovers(place) == []
        if kills == count:
            return


def killed_one(place, process, parts, chance):
    """Whether a worker was killed once so many parts had arrived, and others had not."""
    arrived = partial(files, place, "part-*.npz")
    if not until(lambda: len(arrived()) >= parts, process):
        return False
    spawned = [one for one in workers(process) if "spawn_main" in " ".join(line_of(one))]
    chance.shuffle(spawned)
    kill_one(spawned)
    return bool(spawned) and any(map(in_the_middle, place.rglob("partial/*")))


def in_the_middle(folder):
    """Whether some parts of a pass have arrived, and others have not."""
    with suppress(InputError):  # it has just gone
        parts = list(folder.glob("part-*.npz"))
        return bool(parts) and len(parts) < read_sums(parts[0])[0]["count"]
    return False


def test_a_scheduler_that_dies_costs_one_line_and_the_run_can_go_on(calm, tmp_path):
    for place in fresh(tmp_path):
        with cluster(place) as (address, scheduler):
            process = begun(*LONG, "engine=dask", f"engine.address={address}", cwd=place)
            assert until(lambda p=place: len(files(p, "part-*.npz")) >= 3, process), (place / "stderr").read_text()
            kill(scheduler)
            if process.wait(600) == 0:
                continue  # it was over
        assert process.returncode == 2
        (line,) = (place / "stderr").read_text().splitlines()
        assert line.startswith("rfbench: error: the dask cluster tcp://")
        assert line.endswith("what arrived is kept, rerun to resume")
        assert files(place, "part-*.npz") | files(place, "sums.npz")
        again = begun(*LONG, "engine=local", cwd=place)
        assert again.wait(600) == 0
        assert numbers(place) == calm(LONG)
        assert leftovers(place) == []
        return


@contextmanager
def cluster(directory):
    """(address, process) of a scheduler with two workers."""
    where = directory / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": directory, "env": os.environ}
    scheduler = subprocess.Popen([*command, "--scheduler-file", str(where)], **quiet)
    assert until(where.exists)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(where), "--nworkers", "2"]
    nanny = subprocess.Popen([*command, "--nthreads", "1", "--no-dashboard"], **quiet)
    try:
        yield json.loads(where.read_text())["address"], scheduler
    finally:
        for one in (scheduler, nanny):
            one.kill()
            one.wait()


def test_a_cluster_that_is_not_there_costs_one_line(tmp_path):
    process = begun(*RIDGE, "engine=dask", "engine.address=tcp://127.0.0.1:9", cwd=tmp_path)
    assert process.wait(600) == 2
    (line,) = (tmp_path / "stderr").read_text().splitlines()
    assert line == "rfbench: error: no dask scheduler with workers answers at tcp://127.0.0.1:9; start one"


@pytest.mark.parametrize(("launcher", "line"), [("joblib", "popen_loky"), ("submitit_local", "submitit.core._submit")])
def test_a_process_of_a_sweep_that_dies_loses_its_own_job(launcher, line, tmp_path):
    """The same command does the rest."""
    short = ("dataset=wine", "sketch=rff,orf", "kernel.length_scale=2", "features=64", "seeds=400")
    sweep = ("-m", f"hydra/launcher={launcher}", *short)
    for wild in fresh(tmp_path):
        process = begun(*sweep, cwd=wild)
        begins = partial(lambda place: len(list(place.glob("outputs/*/jobs/*/results.csv"))) == 2, wild)
        assert until(begins, process), (wild / "stderr").read_text()
        kill_one([one for one in workers(process) if line in " ".join(line_of(one))])
        if process.wait(600) == 0:
            continue  # its job was over
        assert process.returncode == 2
        assert "rerun the command to do the rest" in (wild / "stderr").read_text()
        until(lambda place=wild: not [one for one in psutil.process_iter() if str(place) in " ".join(line_of(one))])
        again = begun(*sweep, cwd=wild)
        assert again.wait(600) == 0, (wild / "stderr").read_text()
        break
    calm = tmp_path / "calm"
    calm.mkdir()
    assert begun("-m", *short, cwd=calm).wait(600) == 0
    (found,), (wanted,) = (place.glob("outputs/sweep-*/results.csv") for place in (wild, calm))
    found, wanted = ([row for row in read_rows(path) if "seconds" not in row["metric"]] for path in (found, wanted))
    assert found == wanted
    assert len(wanted) == 2 * 400 * 3
