"""NVML as it is loaded and called in truth, by a library of the same name with a card of known power."""

import csv
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid
from support import ROOT

from rfbench.results.rows import read_rows

HERE = Path(__file__).parent
MEASURE = """
import dataclasses, json, sys, time
from rfbench.devices.meters import make_meter
meter = make_meter("nvml", **json.loads(sys.argv[1]))
start = time.perf_counter()
with meter.measure() as reading:
    time.sleep(0.55)
print(json.dumps(dataclasses.asdict(reading) | {"start": start, "stop": time.perf_counter()}))
"""


def built(place, *flags):
    if not shutil.which("gcc"):
        pytest.skip("no gcc to build a library in the place of NVML")
    pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")
    target = place / "libnvidia-ml.so.1"
    call = ["gcc", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", *flags, str(HERE / "nvml.c"), "-o", str(target)]
    subprocess.run(call, check=True)
    return {"LD_LIBRARY_PATH": str(place), "FAKE_NVML_START": repr(time.perf_counter())}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return built(tmp_path_factory.mktemp("nvml"))


def measured(library, behaviour, **options):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])} | library
    call = [sys.executable, "-c", MEASURE, json.dumps({"idle_seconds": 0} | options)]
    done = subprocess.run(call, env=environment | {"FAKE_NVML": behaviour}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def on_the_ramp(library, behaviour):
    """A reading whose joules are those of the closed form, from start to stop of the script.

    A busy machine may come between what the sensor shows and the time that is put beside it, so there are three tries.
    """
    for _ in range(3):
        reading = measured(library, behaviour)
        start, stop = (reading[name] - float(library["FAKE_NVML_START"]) for name in ("start", "stop"))
        wanted = 100 * (stop - start) + 100 * (stop**2 - start**2)
        if reading["joules"] == pytest.approx(wanted, rel=0.05):
            return reading
    raise AssertionError((reading["joules"], wanted))


@pytest.mark.parametrize(("behaviour", "unit"), [("power", "W"), ("counter", "J")])
def test_a_ramp_is_integrated(behaviour, unit, library):
    """The rule itself is exact (test_meters.py)."""
    reading = on_the_ramp(library, behaviour)
    assert reading["source"].startswith(f"nvml, Ramp, {'energy counter' if unit == 'J' else 'power'}")
    assert reading["unit"] == unit
    assert reading["reason"] == ""
    assert len(reading["samples"]) >= 4


def test_a_driver_without_the_call_has_power(tmp_path):
    library = built(tmp_path, "-DOLD_DRIVER")
    assert on_the_ramp(library, "counter")["unit"] == "W"


def test_the_draw_without_work_is_taken_before(library):
    reading = measured(library, "power", idle_seconds=0.3)
    assert 100 < reading["idle_watts"] < reading["samples"][0][1]


def test_a_driver_that_is_not_loaded_is_a_reason(library):
    reading = measured(library, "no driver")
    assert (reading["joules"], reading["samples"]) == (None, [])
    assert reading["reason"] == "nvml: Driver Not Loaded"
    assert reading["seconds"] > 0.5


def test_a_card_that_is_not_there_is_a_reason(library):
    assert measured(library, "power", card=1)["reason"].startswith("nvml: ")


def test_a_card_that_is_lost_in_the_middle_is_a_reason_and_its_samples_are_kept(library):
    reading = measured(library, "lost")
    assert reading["joules"] is None
    assert "GPU is lost, after 0." in reading["reason"]
    assert len(reading["samples"]) == 3
    assert reading["seconds"] > 0.5


def test_no_library_is_a_reason(tmp_path):
    pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")
    (tmp_path / "libnvidia-ml.so.1").write_text("not a library")
    assert "NVML Shared Library Not Found" in measured({"LD_LIBRARY_PATH": str(tmp_path)}, "")["reason"]


def read_samples(directory):
    with open(directory / "samples.csv") as file:
        return list(csv.DictReader(file))


def test_every_trial_has_its_energy_and_the_samples_are_kept(library, rfbench, tmp_path):
    words = ("meter=nvml", "meter.idle_seconds=0.2", "features=[64,96]", "seeds=2", "task.rows=20")
    environment = library | {"FAKE_NVML": "power", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = rfbench(*words, env=environment)
    assert done.returncode == 0, done.stderr
    assert "joules [J]" in done.stdout
    (directory,) = tmp_path.glob("outputs/*/*")
    assert json.loads((directory / "run.json").read_text())["meter"]["cuda"].startswith("nvml, Ramp, power")
    samples, found = read_samples(directory), {}
    for row in read_rows(directory / "results.csv"):
        found[row["features"], row["seed"], row["metric"]] = row
    assert {(r["device"], r["unit"]) for r in samples} == {("cuda", "W")}
    for trial in (("64", "0"), ("64", "1"), ("96", "0"), ("96", "1")):
        own = [r for r in samples if (r["features"], r["seed"]) == trial]
        t, watts = (np.array([float(r[column]) for r in own]) for column in ("seconds", "value"))
        joules, mean, idle = (found[*trial, metric] for metric in ("joules", "watts", "idle_watts"))
        assert joules["message"].startswith("nvml, Ramp, power")
        assert float(joules["value"]) == pytest.approx(trapezoid(watts, t), rel=1e-2)  # times are kept to the µs
        assert float(idle["value"]) < watts.min() <= float(mean["value"]) <= watts.max()
    assert rfbench(*words, "force=true", env=environment | {"FAKE_NVML": "counter"}).returncode == 0
    assert {r["unit"] for r in read_samples(directory)} == {"J"}
