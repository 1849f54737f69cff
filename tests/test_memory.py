"""Peak memory does not grow with the number of rows, and what would not fit is refused before the work."""

import json
import resource

import numpy as np
import psutil
import pytest
from support.answers import one_line

from rfbench.checks import InputError
from rfbench.memory import cgroup_limits, parse_bytes, room
from rfbench.tasks import make_task
from rfbench.tasks.base import Size


def peak(rfbench_process, tmp_path, *words):
    done = rfbench_process("seeds=1", *(() if "features=" in " ".join(words) else ("features=1024",)), *words)
    assert done.returncode == 0, done.stderr
    (manifest,) = tmp_path.glob("outputs/*/*/run.json")
    value = json.loads(manifest.read_text())["peak_bytes"]
    manifest.unlink()
    manifest.parent.rename(manifest.parent.parent / (manifest.parent.name + ".seen"))
    return value


@pytest.mark.slow
def test_a_hundred_times_the_rows_take_the_same_memory(rfbench_process, tmp_path):
    words = ("dataset=synthetic", "dataset.columns=64", "dataset.prepare=[standardize,unit_norm]", "task.rows=200")
    few, many = (peak(rfbench_process, tmp_path, *words, f"dataset.rows={rows}") for rows in (20_000, 2_000_000))
    # 2,000,000 x 64 doubles would be 1 GB; the index of the test rows is 2 bytes a row.
    assert many - few < 60e6


@pytest.mark.slow
def test_covertype_stays_small(rfbench_process, tmp_path, data_dir):
    assert peak(rfbench_process, tmp_path, "dataset=covertype", "features=4096") < 1.5e9


def test_the_peak_is_that_of_the_run_not_of_who_started_it(rfbench_process, tmp_path):
    held = np.ones(60_000_000)  # 480 MB, which getrusage of a child would count
    assert peak(rfbench_process, tmp_path, "features=64") < 3e8 < held.nbytes


@pytest.mark.parametrize(
    "words",
    [
        ("task=svm", "features=100000"),
        ("task=ridge", "task.solver=cholesky", "features=15000"),
        ("task=gpr", "features=20000", "dataset=protein", "sketch=rff"),
    ],
    ids=lambda words: " ".join(words),
)
@pytest.mark.medium
def test_what_does_not_fit_is_refused_in_words(words, rfbench_process, request):
    """Three GB of address space, as ulimit -v gives them: without a word the process would be killed."""
    if "dataset=protein" in words:
        request.getfixturevalue("data_dir")
    three = 3 * 10**9

    def small():
        resource.setrlimit(resource.RLIMIT_AS, (three, three))

    done = rfbench_process("seeds=1", *words, preexec_fn=small, env={"OPENBLAS_NUM_THREADS": "1"})
    one_line(done, "GB of memory, and ulimit -v leaves", "Use fewer features")


def test_a_limit_of_the_config(rfbench):
    words = ("task=ridge", "features=2000", "seeds=1")
    one_line(rfbench(*words, "memory_limit=60MB"), "needs about", "and memory_limit leaves")
    one_line(rfbench(*words, "memory_limit=much"), "memory_limit must be an amount such as 4GB")


@pytest.mark.parametrize(("text", "count"), [("4GB", 4 * 10**9), ("1.5 gib", 3 << 29), ("100", 100), (None, None)])
def test_amounts_of_memory(text, count):
    assert parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "GB", "-4GB", "4XB", "0", "1e9"])
def test_other_words_are_no_amount(text):
    with pytest.raises(InputError, match="memory_limit must be"):
        parse_bytes(text)


def test_limits_of_control_groups_of_both_versions(tmp_path):
    def put(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def near(found):
        """In gigabytes of what the process has and may still take."""
        return round((found[0] + psutil.Process().memory_info().rss) / 1e9), found[1]

    assert list(cgroup_limits(tmp_path)) == []
    put("proc/self/cgroup", "4:memory:/box/inner\n3:cpu,cpuacct:/box\n0::/user.slice\n")
    put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "3000000000\n")
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    put("sys/fs/cgroup/user.slice/memory.max", "max\n")
    assert sorted(cgroup_limits(tmp_path)) == [3 * 10**9, 9223372036854771712]
    assert near(room(root=tmp_path)) == (3, "the control group")
    put("sys/fs/cgroup/user.slice/memory.max", "2000000000\n")
    assert near(room(root=tmp_path)) == (2, "the control group")
    assert near(room(10**9, tmp_path)) == (1, "memory_limit")


@pytest.mark.parametrize("name", ["gpr", "gpc", "ridge", "svm", "vector_field", "kernel_error", "pooling"])
def test_estimates_grow_with_features_and_rows(name):
    task = make_task(name)
    few, many = (task.memory(Size(n, n, D, True, 4, 8)) for n, D in ((1000, 100), (15_000, 8000)))
    assert 0 < few < many
    assert few < 1e8, "a small run is never refused"


@pytest.mark.slow
def test_estimates_are_near_the_peak(rfbench_process, tmp_path):
    """Ridge regression with 3000 features, above what it takes without them."""
    words = ("task=ridge", "task.alpha=1e-3", "dataset=synthetic", "dataset.rows=4000", "engine.workers=1")
    few, many = (peak(rfbench_process, tmp_path, *words, f"features={D}") for D in (64, 3000))
    estimate = make_task("ridge").memory(Size(3600, 400, 3000, True, 4, 8))
    assert 0.6 < estimate / (many - few) < 1.5
