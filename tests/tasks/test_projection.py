"""Time and energy of projections: what is timed, what it is divided by, where devices cross."""

import csv
import json
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, sleep

import numpy as np
import pandas as pd
import pytest
from support.answers import one_line
from support.trial import make_trial

from rfbench.cli import main
from rfbench.devices import projectors
from rfbench.devices.meters import Meter, Reading
from rfbench.devices.opu.base import OpticalBackend
from rfbench.devices.opu.recorded import Recorded
from rfbench.devices.opu.shared import SharedDevice
from rfbench.devices.opu.simulated import Simulated
from rfbench.devices.projectors import OPU, NoRoomError, NumPy, Torch, available_projectors, widened
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.reports.figures.projections import crossing
from rfbench.results.rows import read_rows
from rfbench.sketches import make_sketch
from rfbench.tasks import make_task
from rfbench.tasks.projection import mean_seconds

BITS = np.random.default_rng(0).integers(0, 2, (40, 24)).astype(np.float32)


@pytest.mark.parametrize("D", [7, 24, 100])
def test_columns_are_repeated_or_cut(D):
    X = widened(BITS, D)
    assert X.shape == (40, D)
    assert all(np.array_equal(X[:, j], BITS[:, j % 24]) for j in range(D))


@pytest.mark.parametrize("make", [lambda: NumPy(2), lambda: Torch("cpu")], ids=["numpy", "torch"])
def test_the_product_is_all_rows_by_a_square_matrix(make, request):
    if "torch" in request.node.name:
        pytest.importorskip("torch", reason="torch is not installed")

    def projected(rows):
        with make().ready(rows, 50, np.random.default_rng(1)) as project:
            return np.asarray(project())

    W = projected(np.eye(50, dtype=np.float32))
    assert W.shape == (50, 50)
    assert len(np.unique(W)) > 2000
    np.testing.assert_allclose(projected(BITS), widened(BITS, 50) @ W, rtol=1e-5)


@pytest.mark.parametrize(("duration", "least", "count"), [(0.02, 0.1, (2, 5)), (0.05, 0.01, (1, 1)), (0.01, 0, (1, 1))])
def test_work_is_repeated_until_it_takes_long_enough_and_once_at_least(duration, least, count):
    seconds, repeats = mean_seconds(lambda: sleep(duration), least)
    assert count[0] <= repeats <= count[1]
    assert seconds >= duration
    assert seconds * repeats >= least


def test_what_does_not_fit_into_memory_has_a_reason(monkeypatch):
    monkeypatch.setattr(projectors, "available_bytes", lambda: 4 * (50 + 2 * 40) * 50)
    with NumPy(1).ready(BITS, 50, np.random.default_rng(1)):
        pass
    with pytest.raises(NoRoomError, match="51 columns need"), NumPy(1).ready(BITS, 51, np.random.default_rng(1)):
        pass


class Slow(OpticalBackend):
    """A device that is here, and takes 1 ms for a frame."""

    def fit(self, d, D, key=0, ones=None):
        self.d, self.D, self.level, self.seen = d, D, 1.0, 0

    def frames(self, bits):
        sleep(1e-3 * len(bits))
        self.seen += len(bits)
        return np.zeros((len(bits), self.D), np.uint8)

    def info(self):
        return {}


@pytest.mark.parametrize("kept", [False, True])
def test_an_opu_that_is_here_is_fitted_before_and_shown_all_rows_again(kept, tmp_path):
    backend = Slow()
    opu = OPU(SharedDevice(Recorded(backend, tmp_path) if kept else backend))
    assert opu.seconds(40) is None
    with opu.ready(BITS, 30, np.random.default_rng(0)) as project:
        assert (backend.d, backend.D) == (30, 30)
        before = backend.seen
        seconds, repeats = mean_seconds(project, 0.3)
    assert (backend.seen - before) / repeats == 40
    assert repeats >= 2
    assert seconds >= 0.04


def test_a_simulated_opu_states_the_time_of_the_device_whatever_the_columns():
    opu = OPU(SharedDevice(Simulated(frames_per_second=1900.0)))
    assert opu.seconds(3000) == pytest.approx(3000 / 1900)


def test_available_devices_are_the_processor_and_the_chosen_one():
    device = SharedDevice(Simulated())
    assert [type(one) for one in available_projectors(1, device) if not isinstance(one, Torch)] == [NumPy, OPU]
    assert [type(one) for one in available_projectors(1, None) if not isinstance(one, Torch)] == [NumPy]


def test_energy_is_that_of_one_projection_and_work_lasts_as_long_as_the_meter_needs():
    sketch, asked = make_sketch("optical", make_kernel("optical", 3)), []

    @dataclass(frozen=True)
    class Known(Meter):
        device = "cpu"

        def on(self, device):
            asked.append(device)
            return self

        @contextmanager
        def measure(self):
            reading = Reading("a known meter", least_seconds=0.3)
            start = perf_counter()
            yield reading
            reading.seconds = perf_counter() - start
            reading.joules = 50 * reading.seconds

    with Local(1).running() as engine:
        trial = make_trial(None, None, sketch, 64, engine, energy_meter=Known())
        start = perf_counter()
        time, joules, watts = (m for m in make_task("projection", seconds=0.0).metered(trial, BITS))
        elapsed = perf_counter() - start
    assert asked == ["cpu"]
    assert elapsed >= 0.3
    repeats = int(time.message.removeprefix("mean of "))
    assert repeats > 10
    assert 0.3 <= repeats * time.value <= elapsed
    assert joules.value == pytest.approx(50 * time.value)
    assert (watts.value, joules.message) == (pytest.approx(50), "a known meter")
    assert {m.where["sketch"] for m in (time, joules, watts)} == {"numpy"}


def test_the_crossing_of_power_laws_is_exact():
    D = np.array([500.0, 1000, 2000, 4000, 8000])
    curve, level = pd.Series(3e-8 * D**2, D), pd.Series(0.5, D)
    found, value = crossing(curve, level)
    assert found == pytest.approx(np.sqrt(0.5 / 3e-8))
    assert value == pytest.approx(0.5)
    assert crossing(curve * 1e-3, level)[0] == np.inf
    assert crossing(curve * 1e3, level)[0] == 0
    assert crossing(curve.drop(4000.0), level)[0] == pytest.approx(found)  # a device without room at one D


def test_the_crossing_is_the_last_one():
    D = np.array([1.0, 10, 100, 1000])
    found, _ = crossing(pd.Series([2.0, 0.5, 2, 3], D), pd.Series(1.0, D))
    assert found == pytest.approx(np.sqrt(1000))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """The command in this process, on a machine that has no counters."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = main(["task=projection", "task.seconds=0", f"meter.root={tmp_path}", "seeds=2", *words])
        return subprocess.CompletedProcess(words, code, *capsys.readouterr())

    return call


def test_times_are_measured_and_stated_and_energy_is_there_or_has_a_reason(run, tmp_path, monkeypatch):
    monkeypatch.setattr(projectors, "available_bytes", lambda: 4 * (300 + 2 * 50) * 300)
    done = run("dataset.rows=50", "features=[100,200,300,400]", "meter.watts=20")
    assert done.returncode == 0, done.stderr
    (directory,) = tmp_path.glob("outputs/bits-optical-projection/*")
    assert {"figure.png", "figure.svg", "figure.csv", "summary.csv"} <= {path.name for path in directory.iterdir()}
    rows = read_rows(directory / "results.csv")
    cells = {(r["sketch"], int(r["features"]), r["seed"], r["metric"]): r for r in rows}
    assert {(r["n_train"], r["dataset"]) for r in rows} == {("50", "bits(rows=50)")}
    assert all(r["d"] == r["features"] for r in rows)
    for D in (100, 200, 300):
        assert float(cells["numpy", D, "0", "transform_seconds"]["value"]) > 0
    assert "400 columns need" in cells["numpy", 400, "1", "transform_seconds"]["message"]
    assert cells["numpy", 300, "1", "joules"]["status"] == "missing"
    assert f"no joules of numpy: rapl: no energy counter of a processor in {tmp_path}" in done.stdout
    for D in (100, 200, 300, 400):
        opu = {m: cells["optical(opu=simulated)", D, "0", m] for m in ("transform_seconds", "joules", "watts")}
        assert float(opu["transform_seconds"]["value"]) == 50 / 2000
        assert float(opu["watts"]["value"]) == pytest.approx(20)
        assert float(opu["joules"]["value"]) == pytest.approx(20 * 50 / 2000)
        assert opu["joules"]["message"] == "opu, constant 20 W"
    assert set(json.loads((directory / "run.json").read_text())["meter"]) == {"cpu", "opu"}
    with open(directory / "crossings.csv") as file:
        (found,) = csv.DictReader(file)
    assert (found["device"], found["metric"], found["opu"]) == ("numpy", "transform_seconds", "optical(opu=simulated)")


def test_without_an_opu_there_is_the_processor_alone(run, tmp_path):
    done = run("dataset.rows=20", "features=[64,128]", "opu=none", "meter=rapl")
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    assert {r["sketch"] for r in read_rows(path)} == {"numpy"}
    assert not (path.parent / "crossings.csv").exists()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("sketch=rff opu=none", "remove sketch=…"),
        ("sketch=rff", "use sketch=optical"),
        ("opu=replay opu.folder=x", "recorded frames have no times"),
        ("task.seconds=-1", "task.seconds must be at least 0"),
        ("dataset=wine", "rows of 0 and 1"),
        ("dataset.rows=0", "dataset.rows must be a positive integer"),
        ("meter.watt=3", "did you mean 'meter.watts'"),
    ],
)
def test_mistakes_are_one_line(run, words, wanted):
    one_line(run(*words.split()), wanted)
