"""Meters against files and powers that are known."""

import os
import shutil
from time import perf_counter, sleep

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.cli import main
from rfbench.config.compose import compose_jobs, without_hydra
from rfbench.config.files import choices
from rfbench.config.identity import job_hash
from rfbench.config.schema import typed
from rfbench.devices.meters import METERS, Absent, make_meter
from rfbench.devices.meters.sampled import Sampled, Sensor, SensorError, energy, sampling
from rfbench.results.rows import read_rows

RANGE = 262_143_328_850


def test_one_class_one_yaml():
    assert set(METERS) == set(choices("meter"))


def test_a_ramp_is_integrated_exactly():
    t = np.sort(np.random.default_rng(0).uniform(0, 10, 57))
    watts = 40 + 7 * t
    exact = 40 * (t[-1] - t[0]) + 3.5 * (t[-1] ** 2 - t[0] ** 2)
    assert energy(list(zip(t, watts, strict=True)), "W") == pytest.approx(exact, rel=1e-14)
    # and what bends is not: the rule errs by P''/12 Σ h³
    bent = energy(list(zip(t, t**2, strict=True)), "W") - (t[-1] ** 3 - t[0] ** 3) / 3
    assert bent == pytest.approx((np.diff(t) ** 3).sum() / 6, rel=1e-9)


def test_samples_are_around_the_work_and_within_it():
    start = perf_counter()
    with sampling(Sensor("ramp", "W", lambda: 100 * (perf_counter() - start))) as reading:
        sleep(0.45)
    assert len(reading.samples) >= 4
    assert reading.seconds >= 0.45
    assert reading.joules == pytest.approx(50 * reading.seconds**2, rel=0.05)
    assert reading.watts == reading.joules / reading.seconds


def test_work_that_raises_still_ends_the_sampling():
    def fails():
        raise SensorError("broken")

    with pytest.raises(ZeroDivisionError), sampling(Sensor("counter", "J", fails)) as reading:
        _ = 1 / 0
    assert reading.reason.startswith("counter: broken, after 0.0 s")


@pytest.fixture
def powercap(tmp_path):
    """Two packages with their parts, as the kernel shows them."""

    def write(zone, name, shown):
        (tmp_path / zone).mkdir(exist_ok=True)
        for file, content in (("name", name), ("max_energy_range_uj", RANGE), ("energy_uj", shown)):
            (tmp_path / zone / file).write_text(f"{content}\n")

    write("intel-rapl:0", "package-0", RANGE - 2_000_000)
    write("intel-rapl:0:0", "core", 5)
    write("intel-rapl:0:1", "dram", 1_000_000)
    write("intel-rapl:1", "package-1", 7_000_000)
    write("intel-rapl:2", "psys", 0)
    write("intel-rapl-mmio:0", "package-0", 0)
    (tmp_path / "intel-rapl").mkdir()

    def show(**microjoules):
        zones = {"package0": "intel-rapl:0", "core": "intel-rapl:0:0", "dram": "intel-rapl:0:1", "psys": "intel-rapl:2"}
        for zone, shown in microjoules.items():
            part = tmp_path / "part"
            part.write_text(f"{shown}\n")
            os.replace(part, tmp_path / zones[zone] / "energy_uj")  # a file of the kernel is never seen half written

    show.meter = make_meter("rapl", root=str(tmp_path), idle_seconds=0)
    return show


def test_rapl_adds_packages_and_memory_and_goes_round(powercap):
    for _ in range(2):  # the sensor is kept, and what it showed between is not counted
        powercap(package0=RANGE - 2_000_000, dram=1_000_000)
        with powercap.meter.measure() as reading:
            powercap(package0=3_000_000, core=4_000_000, dram=1_500_000, psys=9_000_000)
        assert reading.source.removesuffix(", shorter than its resolution") == "rapl, package-0, dram, package-1"
        assert reading.joules == pytest.approx(5.5, rel=1e-12)


def test_rapl_is_read_often_enough_to_go_round_twice(powercap):
    with powercap.meter.measure() as reading:
        for shown in (RANGE // 2, RANGE - 1, RANGE // 3, RANGE - 2_000_000):
            powercap(package0=shown)
            sleep(0.25)
    assert reading.joules == pytest.approx(2 * RANGE / 1e6, rel=1e-12)


def test_a_counter_that_goes_away_is_a_reason(powercap, tmp_path):
    with powercap.meter.measure() as reading:
        shutil.rmtree(tmp_path / "intel-rapl:1")
    assert reading.joules is None
    assert "No such file" in reading.reason
    assert len(reading.samples) == 1


def test_idle_power_is_in_watts():
    """Constant 100 W, over a time that is not a second."""

    class Constant(Sampled):
        name = device = "constant"
        least_seconds = 0.0

        def sensor(self):
            return Sensor("constant", "W", lambda: 100.0)

    with Constant(idle_seconds=0.25).measure() as reading:
        pass
    assert reading.idle_watts == pytest.approx(100)


def test_the_draw_without_work(powercap, tmp_path):
    meter = make_meter("rapl", root=str(tmp_path), idle_seconds=0.05)
    with meter.measure() as reading:
        powercap(package0=1_000_000)
    assert reading.idle_watts == 0
    assert reading.watts > 0


@pytest.mark.parametrize(("content", "reason"), [("twelve", "is not a number"), (None, "Is a directory")])
def test_files_that_cannot_be_read_are_a_reason(content, reason, powercap, tmp_path):
    path = tmp_path / "intel-rapl:1" / "energy_uj"
    path.unlink()
    path.write_text(content) if content else path.mkdir()
    with powercap.meter.measure() as reading:
        pass
    assert reading.joules is None
    assert reason in reading.reason


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_for_root_only_are_a_reason(powercap, tmp_path):
    (tmp_path / "intel-rapl:0" / "energy_uj").chmod(0)
    with powercap.meter.measure() as reading:
        pass
    assert "sudo chmod a+r" in reading.reason


def test_a_machine_without_counters_is_a_reason(tmp_path):
    with make_meter("rapl", root=str(tmp_path)).measure() as reading:
        sleep(0.01)
    assert reading.joules is None
    assert reading.reason == f"rapl: no energy counter of a processor in {tmp_path}"
    assert reading.seconds >= 0.01


def test_constant_draw_is_watts_times_seconds():
    with make_meter("opu", watts=25).measure() as reading:
        sleep(0.02)
    assert reading.joules == 25 * reading.seconds
    assert reading.source == "opu, constant 25 W"


def test_auto_is_the_meter_of_the_device():
    auto = make_meter("auto", watts=20, card=1)
    assert auto.on("opu") == make_meter("opu", watts=20)
    assert auto.on("cuda") == make_meter("nvml", card=1)
    assert auto.on("cpu") == make_meter("rapl")
    assert auto.on("abacus") == Absent("no meter measures abacus")


def test_a_meter_of_one_device_does_not_measure_another():
    for name, device in (("nvml", "cuda"), ("rapl", "cpu"), ("opu", "opu")):
        assert make_meter(name).on(device) == make_meter(name)
        for other in {"cuda", "cpu", "opu"} - {device}:
            with make_meter(name).on(other).measure() as reading:
                pass
            assert (reading.joules, reading.watts) == (None, None)
            assert reading.reason == f"meter={name} measures {device}, but {other} does this work; use meter=auto"
    assert make_meter("none").on("cpu") == make_meter("none")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"name": "opu", "watts": 0}, "meter.watts must be above 0"),
        ({"name": "auto", "watts": -1.0}, "meter.watts must be above 0"),
        ({"name": "nvml", "card": -1}, "meter.card must be at least 0"),
        ({"name": "rapl", "idle_seconds": 100.0}, "meter.idle_seconds must be from 0"),
        ({"name": "rapl", "watts": 3.0}, "no 'meter.watts'"),
        ({"name": "nvlm"}, "did you mean 'nvml'"),
    ],
)
def test_wrong_options_are_one_sentence(options, wanted):
    with pytest.raises(InputError, match=wanted):
        make_meter(**options)


def test_a_run_without_a_meter_has_an_empty_cell_with_a_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["meter=rapl", f"meter.root={tmp_path}", "features=64", "seeds=2", "task.rows=20"]
    assert main(words) == 0
    reason = f"rapl: no energy counter of a processor in {tmp_path}"
    assert f"no joules of ctr_tensorsrht: {reason}" in capsys.readouterr().out
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    rows = read_rows(path)
    missing = [r for r in rows if r["metric"] == "joules"]
    assert [(r["seed"], r["value"], r["status"]) for r in missing] == [("0", "", "missing"), ("1", "", "missing")]
    assert {r["message"] for r in missing} == {reason}
    assert {r["status"] for r in rows if r["metric"] != "joules"} == {"ok"}
    assert not list(path.parent.glob("samples.csv"))
    before = path.read_bytes()
    assert main(words) == 0
    assert path.read_bytes() == before


def run_rows(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    return path.parent, {row["metric"]: row for row in read_rows(path)}


SMALL = ["features=64", "seeds=1", "task.rows=20"]


@pytest.mark.parametrize(
    ("words", "joules"),
    [
        (["meter=opu", "sketch=rff"], "meter=opu measures opu, but cpu does this work; use meter=auto"),
        (["meter=opu", "sketch=optical", "opu=simulated"], "opu, constant 30 W"),
        (["meter=auto", "sketch=optical", "opu=simulated"], "opu, constant 30 W"),
        (["meter=auto", "sketch=rff"], "rapl: no energy counter of a processor in "),
        (["meter=auto", "sketch=optical"], "rapl: no energy counter of a processor in "),
    ],
)
def test_a_job_is_metered_by_the_device_that_makes_the_features(words, joules, tmp_path, monkeypatch):
    data = ["dataset.prepare=[binarize]", "dataset.threshold=0.5"] if "sketch=optical" in words else []
    root = [f"meter.root={tmp_path}"] if "meter=auto" in words else []
    _, found = run_rows([*words, *data, *root, *SMALL], tmp_path, monkeypatch)
    assert found["joules"]["message"].startswith(joules)
    constant = joules.startswith("opu")
    assert (found["joules"]["status"] == "ok") == constant
    assert ("watts" in found) == constant


def test_energy_and_samples_of_a_job(powercap, tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    words = ["meter=rapl", f"meter.root={tmp_path}", "meter.idle_seconds=0.1", "sketch=rff", *SMALL]
    directory, found = run_rows(words, tmp_path / "run", monkeypatch)
    assert [float(found[metric]["value"]) for metric in ("joules", "watts", "idle_watts")] == [0, 0, 0]
    assert found["joules"]["message"].startswith("rapl, package-0, dram, package-1")
    header, *samples = (directory / "samples.csv").read_text().splitlines()
    assert header == "features,seed,device,source,seconds,value,unit"
    assert len(samples) >= 2
    assert all(line.startswith("64,0,cpu,") and line.endswith(",J") for line in samples)


def test_a_job_without_a_meter_has_the_name_of_one_from_before_there_were_any():
    words = (["meter=none"], ["meter=rapl"])
    plain, metered = (typed(without_hydra(compose_jobs(one, False)[0])) for one in words)
    without = {key: value for key, value in plain.items() if key != "meter"}
    assert job_hash(plain) == job_hash(without) != job_hash(metered)
