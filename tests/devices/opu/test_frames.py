"""Frames kept and replayed: by row, each shown once, usable whenever the writer stops."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import ROOT
from support.opu import Failing

from rfbench.checks import InputError
from rfbench.devices.opu import OPUS, make_opu
from rfbench.devices.opu.shared import DeviceError, SharedDevice
from rfbench.devices.opu.simulated import Simulated
from rfbench.sketches.optical.device import DeviceSetting

SETTING = DeviceSetting(64, 200, 7, 20.0)


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "frames")


def recorder(folder, **options):
    device = make_opu("simulated", dump=folder, **options)
    device.fit(*SETTING)
    return device


def replay(folder):
    device = make_opu("replay", folder=folder)
    device.fit(*SETTING)
    return device


def test_a_replay_knows_rows_in_any_order_and_no_other(folder, bits):
    first = recorder(folder)
    shown = np.concatenate([first.intensities(bits[:20]), first.intensities(bits[20:50])])
    later = replay(folder)
    assert later.level == first.level
    order = np.random.default_rng(0).integers(0, 50, 300)
    np.testing.assert_array_equal(later.intensities(bits[order]), shown[order])
    with pytest.raises(InputError, match=r"has no frames of 10 of 15 rows; run the same .* opu.dump="):
        later.intensities(bits[45:60])


def test_a_row_is_shown_once(folder, bits, monkeypatch):
    """So that a row has one frame also where a device is noisy, and a resumed run asks for the rest only."""
    asked = []
    frames = Simulated.frames
    monkeypatch.setattr(Simulated, "frames", lambda self, rows: asked.append(len(rows)) or frames(self, rows))
    first = recorder(folder)
    first.intensities(bits[[3, 3, 5, 3]])
    first.intensities(bits[:10])
    recorder(folder).intensities(bits[:12])
    assert asked == [2, 8, 2]


def test_another_setting_has_other_frames(folder, bits):
    recorder(folder).intensities(bits)
    device = make_opu("replay", folder=folder)
    for other in (
        SETTING._replace(D=201),
        SETTING._replace(key=8),
        SETTING._replace(ones=21.0),
        SETTING._replace(d=65),
    ):
        with pytest.raises(InputError, match=f"has no frames of {other.D} features"):
            device.fit(*other)
    with pytest.raises(InputError, match=r"another device or exposure; choose another opu\.dump"):
        recorder(folder, noise=1.0)
    with pytest.raises(InputError, match=r"opu\.folder must be a folder"):
        make_opu("replay")


def test_damaged_batches_are_ignored(folder, bits):
    first = recorder(folder)
    for start in (0, 20, 40):
        first.intensities(bits[start : start + 20])
    cut, empty, _ = sorted(Path(folder).glob("*/*.npy"))
    cut.write_bytes(cut.read_bytes()[:-1])
    empty.write_bytes(b"")
    (cut.parent / f".{cut.name}.123").write_bytes(b"half")
    with pytest.raises(InputError, match="has no frames of 40 of 60 rows"):
        replay(folder).intensities(bits)
    np.testing.assert_array_equal(recorder(folder).intensities(bits), make_simulated().intensities(bits))
    np.testing.assert_array_equal(replay(folder).intensities(bits), make_simulated().intensities(bits))


def make_simulated():
    device = make_opu("simulated")
    device.fit(*SETTING)
    return device


CRASH = """
import os, sys
import numpy as np
import rfbench.storage as files
from rfbench.devices.opu import OPUS, make_opu
folder, after = sys.argv[1], int(sys.argv[2])
device = make_opu("simulated", dump=folder)
device.fit(64, 200, 7, 20.0)
bits = np.load(sys.argv[3])
device.intensities(bits[:20])
calls = 0
def dying(name, real):
    def call(*args):
        global calls
        calls += 1
        if calls == after:
            os._exit(9)  # as if killed, before this call
        return real(*args)
    setattr(os, name, call)
dying("fsync", os.fsync)
dying("replace", os.replace)
device.intensities(bits[20:40])
os._exit(0)
"""


@pytest.mark.parametrize("after", [1, 2])
def test_a_crash_keeps_earlier_batches(folder, bits, tmp_path, after):
    """Killed with a batch written but not synced, or synced but not yet in place."""
    np.save(tmp_path / "bits.npy", bits)
    call = [sys.executable, "-c", CRASH, folder, str(after), str(tmp_path / "bits.npy")]
    assert subprocess.run(call, env=os.environ | {"PYTHONPATH": str(ROOT)}).returncode == 9
    later = replay(folder)
    np.testing.assert_array_equal(later.intensities(bits[:20]), make_simulated().intensities(bits[:20]))
    with pytest.raises(InputError, match="has no frames of 20 of 40 rows"):
        later.intensities(bits[:40])


def test_a_batch_that_fails_is_tried_once_more(bits):
    device = SharedDevice(Failing(2))
    for start in (0, 20, 40):
        counts, _ = device.counts(SETTING, bits[start : start + 20])
        np.testing.assert_array_equal(counts, make_simulated().intensities(bits[start : start + 20]))
    assert (device.backend.calls, device.backend.fits) == (4, 2)  # fitted again before the second try


def test_a_second_failure_is_reported_and_earlier_frames_are_kept(folder, bits, monkeypatch):
    monkeypatch.setitem(OPUS, "failing", lambda: Failing(3, 4))
    device = SharedDevice(make_opu("failing", dump=folder))
    device.counts(SETTING, bits[:20])
    device.counts(SETTING, bits[20:40])
    with pytest.raises(DeviceError, match=r"failed twice on 20 rows \(the camera went away\).*opu=replay opu.folder="):
        device.counts(SETTING, bits[40:])
    np.testing.assert_array_equal(replay(folder).intensities(bits[:40]), make_simulated().intensities(bits[:40]))
    counts, _ = device.counts(SETTING, bits)  # it is there again
    np.testing.assert_array_equal(counts, make_simulated().intensities(bits))


def test_a_mistake_in_the_rows_is_not_tried_again(bits):
    device = SharedDevice(Failing())
    with pytest.raises(InputError, match="rows of 0 and 1"):
        device.counts(SETTING, bits * 0.5)
    assert device.backend.calls == 0
