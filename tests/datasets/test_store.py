"""Converted datasets: complete or absent, converted again when the files change, with a digest of all they hold."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from support.answers import one_line

from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.commands import main
from rfbench.datasets.own import load_own, recipe_keys
from rfbench.datasets.store import open_arrays, write_rows, write_targets
from rfbench.storage import atomic_dir, checksum


@pytest.fixture
def yacht(tmp_path):
    (tmp_path / "data" / "yacht").mkdir(parents=True)
    np.savetxt(tmp_path / "data" / "yacht" / "data.txt", np.random.default_rng(0).random((308, 7)))
    return tmp_path / "data"


def test_a_killed_conversion_leaves_nothing_visible(yacht, cache):
    script = """
        import os, signal, sys
        from rfbench.datasets import load
        from rfbench.datasets.published import convert
        convert.write_targets = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
        load({"name": "yacht"}, data_dir=sys.argv[1], download=False)
    """
    died = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(yacht)])
    assert died.returncode == -signal.SIGKILL
    assert not [path for path in (cache / "arrays").iterdir() if not path.name.startswith(".")]
    assert load({"name": "yacht"}, data_dir=str(yacht), download=False).X.shape == (308, 6)


def test_a_failed_conversion_cleans_up(tmp_path):
    def interrupted():
        with atomic_dir(tmp_path / "a" / "b") as part:
            (part / "x").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list((tmp_path / "a").iterdir())


def test_the_first_of_two_wins(tmp_path):
    with atomic_dir(tmp_path / "b") as slow:
        (slow / "x").write_text("slow")
        with atomic_dir(tmp_path / "b") as fast:
            (fast / "x").write_text("fast")
    assert (tmp_path / "b" / "x").read_text() == "fast"
    assert len(list(tmp_path.iterdir())) >= 1


def test_changed_files_are_converted_again(yacht):
    before = load({"name": "yacht"}, data_dir=str(yacht), download=False).X.read(0, 308)
    np.savetxt(yacht / "yacht" / "data.txt", np.random.default_rng(1).random((308, 7)))
    after = load({"name": "yacht"}, data_dir=str(yacht), download=False).X.read(0, 308)
    assert (before != after).all()


def test_rows_written_in_blocks_are_an_ordinary_npy_file(tmp_path):
    blocks = [(np.full((n, 3), n), np.zeros(n)) for n in (1, 2000, 30)]
    shape, y = write_rows(tmp_path / "X.npy", iter(blocks), "int16")
    X = np.load(tmp_path / "X.npy")
    assert X.dtype == np.int16
    assert X.shape == shape == (2031, 3)
    assert y.shape == (2031,)
    np.testing.assert_array_equal(X, np.concatenate([X for X, _ in blocks]))


def test_numbers_that_do_not_fit_are_refused(tmp_path):
    for bad in (70_000, 0.5):
        with pytest.raises(ValueError, match="does not fit int16"):
            write_rows(tmp_path / "X.npy", [(np.full((1, 1), bad), np.zeros(1))], "int16")


def test_the_digest_sees_rows_and_targets(tmp_path):
    X, y = np.arange(12.0).reshape(4, 3), np.array([0.0, 1.0, 0.5, 2.0])

    def digest(name, X, y):
        (tmp_path / name).mkdir()
        write_rows(tmp_path / name / "X.npy", [(X, y)], "float64")
        write_targets(tmp_path / name, y, classification=False, n_train=None)
        return open_arrays("own", tmp_path / name).digest

    assert digest("a", X, y) == digest("again", X, y)
    assert len({digest("b", X, y), digest("rows", X + 1, y), digest("targets", X, y + 1)}) == 3


def test_results_of_other_targets_are_not_resumed(yacht, rfbench):
    """The rows are the same, and so is the name of the directory."""
    words = ("dataset=yacht", "task.rows=20", "features=16", f"data_dir={yacht}")
    assert rfbench(*words, "seeds=1").returncode == 0
    table = np.loadtxt(yacht / "yacht" / "data.txt")
    table[:, -1] += 1
    np.savetxt(yacht / "yacht" / "data.txt", table)
    one_line(rfbench(*words, "seeds=2"), "was computed from different data")


def test_a_cache_that_cannot_be_written_is_one_line(yacht, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="set RFBENCH_CACHE"):
        load({"name": "yacht"}, data_dir=str(yacht), download=False)


def flip(path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "a flipped bit": lambda directory: flip(directory / "X.npy"),
    "a flipped bit of a label": lambda directory: flip(directory / "y.npy"),
    "fewer rows": lambda directory: np.save(directory / "X.npy", np.load(directory / "X.npy")[:-1]),
    "truncated": lambda directory: os.truncate(directory / "X.npy", 200),
    "empty": lambda directory: os.truncate(directory / "y.npy", 0),
    "missing": lambda directory: (directory / "X.npy").unlink(),
    "no facts": lambda directory: (directory / "meta.json").unlink(),
    "broken facts": lambda directory: (directory / "meta.json").write_text('{"classes": nu'),
    "other facts": lambda directory: (directory / "meta.json").write_text("[]"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_arrays_of_a_published_dataset_are_converted_again(damage, yacht, cache, capsys):
    def rows():
        data = load({"name": "yacht"}, data_dir=str(yacht), download=False)
        return data.digest, data.X.read(0, 308).tobytes(), data.y.read(0, 308).tobytes()

    whole = rows()
    (directory,) = (cache / "arrays").glob("yacht-*")
    DAMAGES[damage](directory)
    assert rows() == whole
    assert "are damaged" in capsys.readouterr().err
    assert rows() == whole
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_arrays_of_an_own_file_are_noticed_and_added_again(damage, cache, tmp_path, capsys):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).random((30, 4)))
    words = ["add", str(tmp_path / "rows.npy"), "--name", "mine"]
    assert main(words) == 0
    (directory,) = (cache / "own").glob("mine-*")
    DAMAGES[damage](directory)
    assert main(["check", "mine"]) == 1
    assert "BAD" in capsys.readouterr().out
    assert main(words) == 0
    assert main(["check", "mine"]) == 0


def test_arrays_are_verified_again_only_where_their_time_has_changed(cache, tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).random((30, 4)))
    main(["add", str(tmp_path / "rows.npy"), "--name", "mine"])
    (directory,) = (cache / "own").glob("mine-*")
    os.utime(directory / "X.npy")
    passes = []
    monkeypatch.setattr("rfbench.datasets.store.checksum", lambda path: passes.append(path) or checksum(path))
    for _ in range(3):
        load_own(recipe_keys("mine"))
    assert len(passes) == 2  # both files, once
