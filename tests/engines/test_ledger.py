"""Sums on disk: a pass goes on where it stopped, from whole files of the same pass only."""

import json
import pickle
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pytest
from support.passes import TASKS, passes

from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local, Rows, ShardWritten
from rfbench.engines.ledger import Ledger, Pass, read_sums

SIZE, PART = 40, 120


@dataclass(frozen=True)
class Interrupted:
    """Rows that end in an interruption after some blocks, as often as it has some left."""

    rows: Rows
    left: list

    def __len__(self):
        return len(self.rows)

    def cut(self, size):
        return (replace(self, rows=piece) for piece in self.rows.cut(size))

    def blocks(self):
        X, y = (np.concatenate(column) for column in zip(*self.rows.blocks(), strict=True))
        for first in range(0, len(X), SIZE):
            if self.left and self.left[0] == 0:
                self.left.pop(0)
                raise KeyboardInterrupt
            if self.left:
                self.left[0] -= 1
            yield X[first : first + SIZE], y[first : first + SIZE]

    def __reduce__(self):
        return Interrupted, (self.rows, [])


def summed(start, rows, directory=None, shard=None):
    with Local(2, part_rows=PART, checkpoint=0.0).running() as engine:
        engine.ledger.directory, engine.shard = directory, shard
        return engine.accumulate(start, rows, SIZE).state()


def same(one, other):
    return [
        name
        for name in one
        if not name.startswith("seconds") and np.asarray(one[name]).tobytes() != np.asarray(other[name]).tobytes()
    ]


@pytest.fixture(scope="module")
def described():
    return passes()


@pytest.mark.parametrize("task", TASKS)
def test_an_interrupted_pass_goes_on_with_the_same_bits(task, tmp_path, described):
    start, rows = described[task]
    wanted, broken = summed(start, rows), Interrupted(rows, [2, 3, 4])
    seen = []
    while broken.left:
        with suppress(KeyboardInterrupt):
            found = summed(start, broken, tmp_path)
        head, _ = read_sums(next(tmp_path.glob("*/sums.npz")))
        seen.append((head["parts"], head["blocks"]))
    found = summed(start, broken, tmp_path)
    assert same(wanted, found) == []
    assert seen == [(0, 2), (0, 3), (1, 1)]
    again = summed(start, Interrupted(rows, [0]), tmp_path)  # it is done: no row is read
    assert same(wanted, again) == []


def test_a_damaged_file_counts_as_absent_and_another_pass_has_other_sums(tmp_path, described):
    start, rows = described["ridge"]
    with pytest.raises(KeyboardInterrupt):
        summed(start, Interrupted(rows, [5]), tmp_path)
    (file,) = tmp_path.glob("*/sums.npz")
    content, numbers = bytearray(file.read_bytes()), np.load(file)["part/R"].tobytes()
    content[content.index(numbers)] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        read_sums(file)
    assert same(summed(start, rows), summed(start, Interrupted(rows, []), tmp_path)) == []
    other, _ = described["ridge cg, targets"]
    keys = {Pass.of(*one).key for one in ((start, rows, 40, 80), (start, rows, 40, 120), (other, rows, 40, 80))}
    keys.add(Pass.of(start, replace(rows, shift=rows.shift + 1), 40, 80).key)
    assert len(keys) == 4
    assert Pass.of(*passes()["ridge"], 40, 80).key in keys, "the same description, made again"


def test_another_process_has_the_rescaled_target():
    """A dataset goes to other processes as the arguments that load it: what a run makes of its targets goes, too."""
    data, keys = load({"name": "diabetes"}, data_dir=None, download=False), set()
    for target in ("as_published", "standardize"):
        train = prepared_split(data, Preparation((), target=target), 0, np.float64).train
        again = pickle.loads(pickle.dumps(train))
        np.testing.assert_array_equal(np.concatenate([*again.part.labels()]), np.concatenate([*train.part.labels()]))
        keys.add(Pass.of(dict, train, 40, 80).key)
    assert len(keys) == 2


def test_shards_add_up_to_one_pass(tmp_path, described):
    """Whoever comes last may go on; without others' sums a shard stops after its own."""
    start, rows = described["gpc"]
    wanted, count = summed(start, rows), -(-len(rows) // PART)
    assert count >= 2
    with pytest.raises(ShardWritten, match=r"shard 2/2 has 1 of 2 parts of rows; 1 parts are missing"):
        summed(start, rows, tmp_path, (2, 2))
    (file,) = tmp_path.glob("*/part-*.npz")
    with np.load(file, allow_pickle=False) as arrays:
        assert json.loads(str(arrays["about"])) | {"part": 1, "count": 2, "rows": len(rows)} == read_sums(file)[0]
    assert same(wanted, summed(start, rows, tmp_path, (1, 2))) == []


def test_a_pass_that_cannot_be_described_leaves_nothing(tmp_path, described):
    """Such as one through a device, which lives in this process."""
    start, rows = described["gpr"]
    found = summed(lambda: start(), rows, tmp_path / "partial")
    assert same(summed(start, rows), found) == []
    assert not list(tmp_path.iterdir())


def test_without_a_directory_nothing_is_written(tmp_path, monkeypatch, described):
    monkeypatch.chdir(tmp_path)
    summed(*described["gpr"])
    Ledger().clear()
    assert not list(tmp_path.iterdir())
