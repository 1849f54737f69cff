"""shard=i/n on several machines, merged, is one run; engines and shards refuse what they cannot do in one line."""

import pytest
from support.answers import one_line

from rfbench.results.rows import read_rows

RIDGE = ("task=ridge", "sketch=rff", "kernel.length_scale=4", "features=32", "seeds=1", "task.alpha=1e-3")
ROWS = ("dataset=synthetic", "dataset.columns=4", "dataset.rows=7000", "engine.part_rows=2048")


def numbers(directory):
    (path,) = directory.glob("outputs/*/*/results.csv")
    return [row for row in read_rows(path) if "seconds" not in row["metric"]]


def test_merged_shards_have_the_numbers_of_one_run(rfbench, tmp_path):
    one, home, *machines = (tmp_path / name for name in ("one", "home", "a", "b"))
    for directory in (one, home, *machines):
        directory.mkdir()
    for i, machine in enumerate(machines, 1):
        done = rfbench(*RIDGE, *ROWS, f"shard={i}/2", cwd=machine)
        assert done.returncode == 0, done.stderr
        assert "2 of 4 parts of training rows; 2 parts are missing" in done.stdout
        assert not list(machine.rglob("results.csv"))
    assert "2 of 4 parts" in rfbench("merge", machines[0], cwd=home).stdout
    merged = rfbench("merge", *machines, cwd=home)
    assert (merged.returncode, "4 of 4 parts, 6,300 rows; run the command without shard" in merged.stdout) == (0, True)
    assert rfbench(*RIDGE, *ROWS, cwd=home).returncode == 0
    assert rfbench(*RIDGE, *ROWS, cwd=one).returncode == 0
    assert numbers(home) == numbers(one)
    assert not list(home.rglob("partial"))
    (file, *_) = sorted(machines[1].rglob("part-*.npz"))
    file.write_bytes(file.read_bytes()[:-200])
    one_line(rfbench("merge", machines[1], cwd=home), "is damaged")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("task=svm", "engine=dask"), "task=svm has no sums over rows"),
        (("task=svm", "shard=1/2"), "task=svm has no sums over rows"),
        (("shard=3/2",), "shard must be null, or i/n"),
        (("shard=a",), "shard must be null, or i/n"),
        (("engine=dask", "engine.address=node1"), "engine.address must be of the form tcp://HOST:PORT"),
        (("engine=processes", "engine.workers=0"), "engine.workers must be auto or at least 1"),
        (("engine.part_rows=0",), "engine.part_rows must be at least 1"),
        (("engine.checkpoint=-1",), "engine.checkpoint must be a number of seconds"),
        (("engine=dsk",), "did you mean 'dask'?"),
        (
            ("engine=processes", "sketch=optical", "opu=simulated", "dataset.prepare=[binarize]"),
            "other processes cannot share the device",
        ),
    ],
)
def test_what_cannot_be_is_one_line(words, said, rfbench):
    one_line(rfbench(*words), said)
