"""What other systems lack is not needed: fcntl, resource, pwrite and preadv, as on Windows."""

import json
import subprocess
import sys

import numpy as np
import pytest
from support import ROOT

from rfbench.linalg import spill
from rfbench.memory import available_bytes, peak_bytes, physical_bytes

# psutil itself imports resource where there is one.
WITHOUT = """
import psutil, sys
sys.modules.update(fcntl=None, resource=None)
from rfbench.cli import main
sys.exit(main())
"""


@pytest.mark.medium
def test_a_run_without_fcntl_and_resource(tmp_path):
    words = ["task=ridge", "dataset=wine", "sketch=rff", "features=16", "seeds=1", "task.save=true"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "RFBENCH_CACHE": str(tmp_path / "cache"), "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (manifest,) = tmp_path.glob("outputs/*/*/run.json")
    assert json.loads(manifest.read_text())["peak_bytes"] > 1e7


def test_no_module_imports_them_when_it_is_loaded():
    for path in (ROOT / "rfbench").rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert not {"import fcntl", "import resource"} & set(lines), path


def test_memory_is_known():
    assert 1e7 < peak_bytes() < physical_bytes()
    assert 0 < available_bytes() < physical_bytes()


def test_numbers_in_a_file_without_positioned_reads(monkeypatch):
    numbers = np.arange(1000.0)
    found = []
    for missing in ((), ("pwrite", "preadv")):
        for name in missing:
            monkeypatch.delattr(spill.os, name)
        kept = spill.Spill(1000, np.float64, memory=0)
        for start in (500, 0):
            kept.write(start, numbers[start : start + 500])
        found.append(kept.read(300, (20, 20), lambda: np.empty((20, 20))).copy())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0].ravel(), numbers[300:700])
