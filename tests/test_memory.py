"""Peak memory does not grow with the number of rows."""

import json

import numpy as np


def peak(rfbench_process, tmp_path, *words):
    done = rfbench_process("seeds=1", "features=1024", *words)
    assert done.returncode == 0, done.stderr
    (manifest,) = tmp_path.glob("outputs/*/*/run.json")
    value = json.loads(manifest.read_text())["peak_bytes"]
    manifest.unlink()
    manifest.parent.rename(manifest.parent.parent / (manifest.parent.name + ".seen"))
    return value


def test_a_hundred_times_the_rows_take_the_same_memory(rfbench_process, tmp_path):
    words = ("dataset=synthetic", "dataset.columns=64", "dataset.prepare=[standardize,unit_norm]", "task.rows=200")
    few, many = (peak(rfbench_process, tmp_path, *words, f"dataset.rows={rows}") for rows in (20_000, 2_000_000))
    # 2,000,000 x 64 doubles would be 1 GB; the index of the test rows is 2 bytes a row.
    assert many - few < 60e6


def test_covertype_stays_small(rfbench_process, tmp_path, data_dir):
    assert peak(rfbench_process, tmp_path, "dataset=covertype", "features=4096") < 1.5e9


def test_the_peak_is_that_of_the_run_not_of_who_started_it(rfbench_process, tmp_path):
    held = np.ones(60_000_000)  # 480 MB, which getrusage of a child would count
    assert peak(rfbench_process, tmp_path, "features=64") < 3e8 < held.nbytes
