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

pytestmark = pytest.mark.medium

HERE = Path(__file__).parent
MEASURE = """
import dataclasses, json, sys, time
from rfbench.devices.meters import make_meter
meter = make_meter("nvml", **json.loads(sys.argv[1]))
times = [time.perf_counter()]
with meter.measure() as reading:
    times.append(time.perf_counter())
    time.sleep(0.55)
    times.append(time.perf_counter())
times.append(time.perf_counter())
print(json.dumps(dataclasses.asdict(reading) | {"times": times}))
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
    """A reading whose energy lies between those of the work and of all of the measurement, in closed form.

    A sample of power may be shown a little after its time, which 2 % allows for.
    """
    reading = measured(library, behaviour)
    t = np.array(reading["times"]) - float(library["FAKE_NVML_START"])
    energy = 100 * t + 100 * t**2
    assert energy[2] - energy[1] <= reading["joules"] * 1.02
    assert reading["joules"] <= 1.02 * (energy[3] - energy[0])
    return reading


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


KEEP = """
import json, sys, time
from pathlib import Path
from rfbench.devices.meters import make_meter
from rfbench.results.readings import Readings
meter, readings, joules = make_meter("nvml", idle_seconds=0), Readings(), []
for seed in json.loads(sys.argv[1]):
    with readings.taken(meter, (64, seed, "cuda")) as reading:
        time.sleep(0.25)
    joules.append(reading.joules)
    readings.keep(Path(sys.argv[2]))
print(json.dumps([joules, readings.sources]))
"""


def test_samples_are_kept_and_those_of_a_repeated_trial_replaced(library, tmp_path):
    def kept(behaviour, seeds):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])} | library
        call = [sys.executable, "-c", KEEP, json.dumps(seeds), str(tmp_path)]
        done = subprocess.run(call, env=environment | {"FAKE_NVML": behaviour}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / "samples.csv") as file:
            return *json.loads(done.stdout), list(csv.DictReader(file))

    joules, sources, samples = kept("power", [0, 1])
    assert sources["cuda"].startswith("nvml, Ramp, power")
    assert {(r["features"], r["device"], r["unit"]) for r in samples} == {("64", "cuda", "W")}
    for seed, energy in enumerate(joules):
        own = [(float(r["seconds"]), float(r["value"])) for r in samples if r["seed"] == str(seed)]
        t, watts = np.array(own).T
        assert len(own) >= 3
        assert energy == pytest.approx(trapezoid(watts, t), rel=1e-2)  # times are kept to the µs
    again = kept("counter", [1])[2]
    assert {(r["seed"], r["unit"]) for r in again} == {("0", "W"), ("1", "J")}
