"""sketch=optical opu=… as a user runs it."""

import csv
import json
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from support.opu import Failing

from rfbench.checks import InputError
from rfbench.config.compose import compose_jobs, without_hydra
from rfbench.devices.opu.shared import SharedDevice
from rfbench.job import build_job, plain_config
from rfbench.kernels.optical import Optical
from rfbench.trials import run

WORDS = ("sketch=optical", "dataset.prepare=[binarize]", "dataset.threshold=0.5", "features=[100,300]", "seeds=2")


def numbers(directory):
    """The numbers of a run, without its times."""
    with open(directory / "results.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["unit"] != "s"]
    return [(row["features"], row["seed"], row["metric"], row["value"]) for row in rows]


def directories(path):
    return sorted(path.glob("outputs/digits-*/*"), key=lambda one: one.stat().st_mtime)


@pytest.mark.parametrize("name", ["simulated", "lightonml"])
def test_a_replay_is_the_run_it_replays(rfbench, tmp_path, name):
    """Bit for bit, on one thread or two, in batches of another size."""
    if name == "lightonml" and not (find_spec("lightonml") and find_spec("rfbench_lightonml")):
        pytest.skip("rfbench-lightonml is not installed: make test installs it")
    done = rfbench(*WORDS, f"opu={name}", "opu.dump=frames")
    assert done.returncode == 0, done.stderr
    assert f"optical(opu={name})" in done.stdout
    assert not done.stderr
    done = rfbench(*WORDS, "opu=replay", "opu.folder=frames", "engine.workers=1", "block_rows=7")
    assert done.returncode == 0, done.stderr
    first, second = directories(tmp_path)
    assert numbers(first) == numbers(second)
    assert len(numbers(first)) == 12
    info = json.loads((first / "run.json").read_text())["learned"]["opu, seed 1"]
    assert info["device"].endswith("simulated")
    assert {"camera bits", "frames per second", "versions", "intensity of one count"} <= set(info)
    assert (
        json.loads((second / "run.json").read_text())["learned"]["opu, seed 1"]["frames of"]["device"] == info["device"]
    )


def test_rows_that_are_not_among_the_frames_are_one_line(rfbench):
    done = rfbench(*WORDS, "opu=replay", "opu.folder=frames")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "frames has no frames of 100 features for this seed" in done.stderr


def test_rows_that_are_not_binary_are_one_line_and_leave_nothing(rfbench, tmp_path):
    done = rfbench("sketch=optical", "opu=simulated")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "dataset.prepare=[min_max,binarize]" in done.stderr
    assert not directories(tmp_path)


def job(*words):
    (config,) = compose_jobs([*WORDS, *words], False)
    return build_job(plain_config(without_hydra(config)))


def test_other_sketches_and_dark_rows_are_refused():
    with pytest.raises(InputError, match="use sketch=optical, or opu=none"):
        job("sketch=rff", "opu=simulated")
    sketch = job("opu=simulated").sketch(Optical())
    with pytest.raises(InputError, match=r"there is no light; lower dataset\.threshold"):
        sketch.adapt(np.zeros((5, 64)), 100)


def test_a_device_that_fails_is_a_failed_row_with_its_reason(tmp_path):
    words = ("opu=simulated", "seeds=1", "block_rows=50", "engine.workers=1")
    failing = replace(job(*words), device=SharedDevice(Failing(3, 4)))
    rows = run(failing, tmp_path, keep_going=False).rows
    assert {row["features"]: row["status"] for row in rows} == {100: "failed", 300: "ok"}
    assert rows[0]["message"] == "DeviceError: the OPU failed twice on 50 rows (the camera went away)"
