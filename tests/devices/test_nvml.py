"""NVML as it is loaded and called in truth, by a library of the same name with a card of known power."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rfbench.results.rows import read_rows

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
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


def of_the_ramp(reading, library):
    """Joules from start to stop of the script, by the closed form."""
    start, stop = (reading[name] - float(library["FAKE_NVML_START"]) for name in ("start", "stop"))
    return 100 * (stop - start) + 100 * (stop**2 - start**2)


@pytest.mark.parametrize(("behaviour", "unit"), [("power", "W"), ("counter", "J")])
def test_a_ramp_is_integrated(behaviour, unit, library):
    """The rule itself is exact (test_meters.py); here a busy machine may come between a reading and its time."""
    reading = measured(library, behaviour)
    assert reading["source"] == f"nvml, Ramp, {'energy counter' if unit == 'J' else 'power'}"
    assert reading["unit"] == unit
    assert reading["reason"] == ""
    assert len(reading["samples"]) >= 4
    assert reading["joules"] == pytest.approx(of_the_ramp(reading, library), rel=0.05)


def test_a_driver_without_the_call_has_power(tmp_path):
    library = built(tmp_path, "-DOLD_DRIVER")
    reading = measured(library, "counter")
    assert reading["unit"] == "W"
    assert reading["joules"] == pytest.approx(of_the_ramp(reading, library), rel=0.05)


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
