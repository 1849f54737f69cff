"""What is computed once: found again in memory and on disk, never stale, complete or absent, and not required."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rfbench.cache import Memory, _from_disk, cached, kept, trim

A = np.arange(6.0).reshape(2, 3)


@pytest.fixture
def calls(monkeypatch, tmp_path):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    kept.clear()  # whatever another test has left
    made = []

    def make():
        made.append(1)
        return A, np.array(len(made))

    return made, make


def test_the_same_is_made_once(calls, tmp_path):
    made, make = calls
    for _ in range(3):
        kept.clear()  # as another process
        first, second = cached("thing", (A, "word", 1.0), make)
        np.testing.assert_array_equal(first, A)
        assert second == 1
    assert len(made) == 1
    (file,) = (tmp_path / "cache" / "references").iterdir()
    assert file.name.startswith("thing-")


def test_whatever_differs_is_made_again(calls):
    made, make = calls
    for depends_on in ((A,), (A.T,), (A.astype(np.float32),), (A + 1e-9,), (A, 1), (A, 1.0), (A, "1")):
        cached("thing", depends_on, make)
    cached("other", (A,), make)
    assert len(made) == 8


def test_another_version_computes_again(calls, monkeypatch):
    made, make = calls
    cached("thing", (A,), make)
    monkeypatch.setattr("rfbench.cache.__version__", "0.0.0")
    cached("thing", (A,), make)
    assert len(made) == 2


def test_a_damaged_file_is_made_again(calls, tmp_path):
    made, make = calls
    cached("thing", (A,), make)
    (file,) = (tmp_path / "cache" / "references").iterdir()
    whole = file.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"nonsense"):
        file.write_bytes(content)
        kept.clear()
        np.testing.assert_array_equal(cached("thing", (A,), make)[0], A)
    assert len(made) == 4


def test_a_cache_that_cannot_be_written_does_not_stop_a_run(calls, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "file"))
    _, make = calls
    assert cached("thing", (A,), make)[1] == 1
    kept.clear()
    assert cached("thing", (A,), make)[1] == 2


def test_within_a_command_the_disk_is_not_read(calls, tmp_path):
    made, make = calls
    cached("thing", (A,), make)
    (file,) = (tmp_path / "cache" / "references").iterdir()
    file.unlink()
    np.testing.assert_array_equal(cached("thing", (A,), make)[0], A)
    assert len(made) == 1


def test_memory_keeps_what_was_used_last_up_to_its_size():
    memory, made = Memory(most=2500), []
    for k in (0, 1, 0, 2, 0, 1):  # 1000 bytes each: 2 takes the place of 1, which was used before 0
        memory.get(("value", k), lambda k=k: made.append(k) or np.full(125, k))
    assert made == [0, 1, 2, 1]
    assert sum(size for _, size in memory.values.values()) == 2000


def test_who_wants_the_same_at_the_same_time_waits_for_it(tmp_path):
    made, path = [], tmp_path / "references" / "slow.npz"

    def make():
        made.append(1)
        time.sleep(0.2)
        return (A,)

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: _from_disk(path, make), range(4)):
            np.testing.assert_array_equal(found[0], A)
    assert len(made) == 1
    assert [one.name for one in path.parent.iterdir()] == ["slow.npz"]


def test_the_disk_keeps_what_was_used_last(tmp_path):
    for k, name in enumerate("abcd"):
        (tmp_path / name).write_bytes(b"x" * 100)
        os.utime(tmp_path / name, (1000 + k, 1000 + k))
    os.utime(tmp_path / "a", (2000, 2000))
    trim(tmp_path, 250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d"]
