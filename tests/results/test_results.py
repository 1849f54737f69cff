"""Rows on disk: complete or absent, never doubled, whatever happens."""

import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from support import ROOT

from rfbench.checks import InputError
from rfbench.config.identity import directories, job_hash, short_hash
from rfbench.config.schema import Root
from rfbench.results import manifest
from rfbench.results.manifest import Manifest
from rfbench.results.pictures import MAPS, PictureKey, keep_pictures, read_pictures
from rfbench.results.rows import COLUMNS, Results, as_csv, only_writer, read_rows
from rfbench.results.series import Curve, add_series, joined_series, keep_series, read_series
from rfbench.storage import replace_file

CONTRACT = "dataset n_train n_test d task sketch kernel degree features seed metric value unit status message"


def row(seed, status="ok", features=8):
    return {"features": features, "seed": seed, "metric": "rel_frobenius", "value": "0.5", "status": status}


def test_columns_are_the_contract():
    assert list(COLUMNS) == CONTRACT.split()


def test_finished_trials_are_remembered_and_failed_ones_forgotten(tmp_path):
    Results(tmp_path).add([row(0), row(1, "failed"), row(2)])
    assert len(read_rows(tmp_path / "results.csv")) == 3
    again = Results(tmp_path)
    assert again.done == {("8", "0"), ("8", "2")}
    again.add([row(1)])
    assert [r["seed"] for r in read_rows(tmp_path / "results.csv")] == ["0", "2", "1"]
    assert Results(tmp_path, force=True).done == set()


def test_curves_of_a_trial_replace_its_earlier_ones_and_leave_the_others(tmp_path):
    known = set()
    for seed, *y in ((0, 1, 2), (1, 3, 4), (0, 5, 6)):
        curves = (Curve(name, np.arange(2), np.array(y)) for name in ("error", "seconds"))
        points = [point for curve in curves for point in curve.rows({"features": 8, "seed": seed})]
        add_series(tmp_path, points, known)
        known.add(("8", str(seed)))
    found = read_series(tmp_path)
    kept = [[point["seed"], point["x"], point["y"]] for point in found if point["name"] == "error"]
    assert kept == [["1", "0.0", "3.0"], ["1", "1.0", "4.0"], ["0", "0.0", "5.0"], ["0", "1.0", "6.0"]]
    assert len(found) == 8
    assert joined_series([tmp_path, tmp_path]) == found


def test_commas_and_quotes_survive(tmp_path):
    Results(tmp_path).add([row(0, "failed") | {"message": 'a, "b", c'}])
    assert read_rows(tmp_path / "results.csv")[0]["message"] == 'a, "b", c'


def test_other_columns_are_refused_not_overwritten(tmp_path):
    (tmp_path / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="other columns"):
        Results(tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "results.csv"
    replace_file(target, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        replace_file(target, "new")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["results.csv"]


TRIALS = [[row(seed) | {"metric": metric} for metric in ("rel_frobenius", "rel_spectral")] for seed in range(3)]


def written(directory):
    results = Results(directory)
    for trial in TRIALS:
        results.add(trial)
    return directory / "results.csv"


def test_a_trial_is_appended_whatever_came_before(tmp_path, monkeypatch):
    """Once the file exists it is never written anew: as many bytes for the last trial as for the first."""
    path, synced = written(tmp_path), []
    before, inode = path.read_bytes(), path.stat().st_ino
    results = Results(tmp_path)
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(file) or sync(file))
    results.add([row(3)])
    assert path.read_bytes() == before + b",,,,,,,,8,3,rel_frobenius,0.5,,ok,\n"
    assert path.stat().st_ino == inode
    assert len(synced) == 1


@pytest.mark.parametrize("journal", [True, False], ids=["journal cut too", "journal whole"])
def test_a_file_cut_anywhere_has_whole_trials_only(tmp_path, journal):
    """What a kill or a full disk leaves of the last trials; the next trial takes their place."""
    path = written(tmp_path)
    data, sums = path.read_bytes(), tmp_path / ".results.csv.sums"
    records = sums.read_bytes()
    ends = [0, *(len(as_csv([r for t in TRIALS[:k] for r in t], header=True)) for k in (1, 2, 3))]
    for length in range(0, len(data) + 1, 7):
        path.write_bytes(data[:length])
        sums.write_bytes(records)
        kept = max(k for k, end in enumerate(ends) if end <= length)
        assert len(read_rows(path)) == 2 * kept
    for length in range(len(records) if journal else 0):  # trials without a record are not known to be whole
        path.write_bytes(data)
        sums.write_bytes(records[:length])
        assert len(read_rows(path)) % 2 == 0
        results = Results(tmp_path)
        results.add([row(9)])
        assert [r["seed"] for r in read_rows(path)] == [str(r["seed"]) for r in results.rows]


@pytest.mark.parametrize("tail", [b"8,3,rel_fro", b"\0" * 500, b"8,3,x,nan,,ok,\n", b"a,b\n"])
def test_what_was_not_written_as_a_trial_is_dropped(tmp_path, tail):
    path = written(tmp_path)
    path.write_bytes(path.read_bytes() + tail)
    assert len(read_rows(path)) == 6
    results = Results(tmp_path)
    assert results.stale, "where nothing is left to compute, the file is written anew"
    results.add([row(3)])
    assert path.read_text().endswith("0.5,,ok,\n")
    assert len(read_rows(path)) == 7


LINE = ",,,,,,,,8,1,rel_spectral,0.5,,ok,\n"
DAMAGE = {
    "doubled row": (LINE, LINE + LINE),
    "lost row": (LINE, ""),
    "foreign row": (LINE, LINE + LINE.replace("rel_spectral", "kl")),
    "cut row": (LINE, LINE[:20] + "\n"),
    "not a number": (LINE, LINE.replace("0.5", "nan")),
    "other number": (LINE, LINE.replace("0.5", "0.4")),
    "no characters": (LINE, LINE.replace("spectral", "\0" * 8)),
    "a quote": (LINE, '"' + LINE),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_in_the_middle_is_refused_near_its_place(tmp_path, damage):
    path = written(tmp_path)
    path.write_text(path.read_text().replace(*DAMAGE[damage]))
    with pytest.raises(InputError, match=r"results\.csv is damaged near row [2-8]; move it away and rerun"):
        Results(tmp_path)


@pytest.mark.parametrize("damage", sorted(set(DAMAGE) - {"lost row", "foreign row", "other number"}))
def test_most_damage_is_seen_without_a_journal(tmp_path, damage):
    path = written(tmp_path)
    (tmp_path / ".results.csv.sums").unlink()
    assert len(read_rows(path)) == 6
    path.write_text(path.read_text().replace(*DAMAGE[damage]))
    with pytest.raises(InputError, match="damaged near row"):
        read_rows(path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"config": 3}', '{"config": {}, "learned": []}', "\0" * 20])
def test_a_damaged_manifest_is_one_line(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(InputError, match=r"run\.json is damaged; move .* away and rerun"):
        Manifest(tmp_path, {})


@pytest.mark.parametrize("cut", [0, 10, 200, -1])
def test_a_damaged_picture_is_one_line(tmp_path, cut):
    keep_pictures(tmp_path, {PictureKey(MAPS, "a", "b", 3, 0.5): np.random.default_rng(0).random((20, 20))})
    path = tmp_path / "maps.npz"
    data = path.read_bytes()
    path.write_bytes(data[:cut] if cut >= 0 else data[:60] + b"\1\2\3" + data[63:])
    with pytest.raises(InputError, match=r"maps\.npz is damaged"):
        read_pictures(tmp_path, MAPS)


def test_cut_curves_belong_to_no_finished_trial(tmp_path):
    for seed in (0, 1):
        add_series(tmp_path, Curve("error", np.arange(3), np.ones(3)).rows({"features": 8, "seed": seed}), ())
    path = tmp_path / "series.csv"
    path.write_text(path.read_text()[:-5])
    keep_series(tmp_path, {("8", "0")})
    assert [point["seed"] for point in read_series(tmp_path)] == ["0"] * 3
    path.write_text(path.read_text().replace("1.0,1.0", "1.0,one"))
    with pytest.raises(InputError, match=r"series\.csv is damaged near row 3"):
        read_series(tmp_path)


def _hold(directory, ready, leave):
    with only_writer(directory):
        ready.set()
        leave.wait(30)


def test_a_second_writer_is_refused_until_the_first_is_gone(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, leave = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(tmp_path, ready, leave))
    other.start()
    assert ready.wait(30)
    with pytest.raises(InputError, match="another run is writing"), only_writer(tmp_path):
        pass
    other.kill()  # the lock goes with the process
    other.join()
    with only_writer(tmp_path):
        pass


def test_the_directory_depends_on_what_determines_the_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {group: {"name": group} for group in ("dataset", "sketch", "task", "kernel", "opu", "meter", "engine")}
    config = asdict(Root()) | names
    here = job_hash(config)
    free = {"seeds", "force", "output_dir", "data_dir", "download", "memory_limit", "block_rows", "engine", "shard"}
    free |= {"plot", "spread", "size", "sizes"}
    for key in config:
        assert (job_hash(config | {key: "other"}) == here) == (key in free), key
    assert job_hash(config | {"task": {"name": "task", "save": True}}) == here
    one, other, changed = (
        job_hash(config | {"dataset": {"name": "mine", "file": f"{place}"}})
        for place in ("/home/one/cache/own/mine-1fe0", "/home/two/cache/own/mine-1fe0", "/home/one/cache/own/mine-2aa0")
    )
    assert one == other != changed  # of one file, added on two machines
    single, places = directories([config], None, False)
    assert places == [single] == [tmp_path / "outputs" / "dataset-sketch-task" / here]
    assert short_hash({"a": 1, "b": 2}) == short_hash({"b": 2, "a": 1})


def test_jobs_lie_below_the_joined_table_whatever_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    configs = [{"degree": degree, "output_dir": "outputs"} for degree in (3, 4)]
    target, places = directories(configs, None, True)
    assert target.parent == tmp_path / "outputs"
    assert target.name.startswith("sweep-")
    assert places == [target / "jobs" / job_hash(config) for config in configs]
    assert directories(configs[::-1], None, True) == (target, places[::-1])
    assert directories([configs[0] | {"degree": 5}], None, True)[0] != target
    assert directories(configs, "wacker/fig4_8", True)[0] == tmp_path / "outputs" / "wacker" / "fig4_8"


SWEEP = ("-m", "dataset=digits", "sketch=rademacher,gaussian", "features=[1024,2048]", "degree=6", "seeds=12")


@pytest.mark.slow
def test_kill_in_the_middle_of_a_sweep_then_the_same_command(tmp_path, rfbench):
    """Nothing lost, nothing doubled, and the numbers are those of a run that was never disturbed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "rfbench", *SWEEP]
    victim = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and victim.poll() is None:
        files = list(tmp_path.glob("outputs/sweep-*/jobs/*/results.csv"))
        if files and len(read_rows(files[0])) >= 20:
            break
        time.sleep(0.01)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    left = [r for path in tmp_path.glob("outputs/sweep-*/jobs/*/results.csv") for r in read_rows(path)]
    assert 20 <= len(left) < 2 * 2 * 12 * 4

    done = rfbench(*SWEEP)
    assert done.returncode == 0, done.stderr
    (joined,) = tmp_path.glob("outputs/sweep-*/results.csv")
    rows = read_rows(joined)
    trials = Counter((r["sketch"], r["features"], r["seed"], r["metric"]) for r in rows)
    assert set(trials.values()) == {1}
    assert len({key[:3] for key in trials}) == 2 * 2 * 12
    kept = {tuple(r.items()) for r in rows}
    assert all(tuple(r.items()) in kept for r in left)

    undisturbed = tmp_path / "elsewhere"
    undisturbed.mkdir()
    assert rfbench(*SWEEP, cwd=undisturbed).returncode == 0
    (other,) = undisturbed.glob("outputs/sweep-*/results.csv")
    numbers = [
        {(r["sketch"], r["features"], r["seed"], r["metric"]): r["value"] for r in read_rows(path) if r["unit"] != "s"}
        for path in (joined, other)
    ]
    assert numbers[0] == numbers[1]


def test_files_of_a_run(tmp_path, rfbench):
    done = rfbench("seeds=2", "features=[64,128]")
    assert done.returncode == 0, done.stderr
    (directory,) = tmp_path.glob("outputs/digits-ctr_tensorsrht-kernel_error/*")
    present = {path.name for path in directory.iterdir()}
    assert {
        "results.csv",
        "summary.csv",
        "run.json",
        "figure.png",
        "figure.pdf",
        "figure.svg",
        "figure.csv",
        "rfbench.log",
        ".hydra",
    } <= present
    assert (directory / "figure.png").read_bytes()[:4] == b"\x89PNG"
    with open(directory / "summary.csv") as file:
        summary = list(csv.DictReader(file))
    assert {r["count"] for r in summary} == {"2"}
    manifest = json.loads((directory / "run.json").read_text())
    assert manifest["config"]["degree"] == 3
    assert {"versions", "blas", "machine", "git", "seconds", "peak_bytes", "meter"} <= set(manifest)
    before = {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}
    assert rfbench("seeds=2", "features=[64,128]").returncode == 0
    assert before == {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def test_more_seeds_add_to_what_is_there(tmp_path, rfbench):
    rfbench("seeds=2", "features=64")
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    first = path.read_text()
    assert rfbench("seeds=[0,1,7]", "features=64").returncode == 0
    assert path.read_text().startswith(first)
    assert {r["seed"] for r in read_rows(path)} == {"0", "1", "7"}
    assert rfbench("seeds=1", "features=64", "force=true").returncode == 0
    assert [r["seed"] for r in read_rows(path)] == ["1"] * 4 + ["7"] * 4 + ["0"] * 4  # redone, the others kept


def test_the_state_of_the_checkout_is_read_without_a_lock(monkeypatch):
    """A run that is killed, or has no room on the disk, would leave it to the user."""
    asked = []
    done = subprocess.CompletedProcess([], 0, "# branch.oid abc\n", "")
    monkeypatch.setattr(manifest.subprocess, "run", lambda command, **_: asked.append(command) or done)
    manifest.git_state.__wrapped__()
    assert all("--no-optional-locks" in command for command in asked)
