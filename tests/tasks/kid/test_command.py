"""Kernel Inception Distance as a command: two files, its output, mistakes."""

import json
import re
import subprocess

import numpy as np
import pytest
from support.answers import one_line
from support.kid import double_loop, sets, standard

from rfbench.cli import main
from rfbench.datasets.pair import load_pair
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.results.rows import read_rows
from rfbench.tasks.kid.estimate import sets_of


@pytest.mark.parametrize("sketch", ["rademacher", "ctr_rademacher", "optimized_maclaurin"])
def test_features_of_single_degrees_are_reported(rfbench, tmp_path, sketch):
    """The allocation of the estimate, not that of the sketch for all degrees."""
    done = rfbench("task=kid", "dataset=wine", f"sketch={sketch}", "degree=4", "features=64", "seeds=1")
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob(f"outputs/wine-{sketch}-kid/*/run.json")
    (learned,) = (facts for facts in json.loads(path.read_text())["learned"].values() if "allocation" in facts)
    three, four = learned["allocation"]["3"], learned["allocation"]["4"]
    assert learned == {"allocation": {"3": three, "4": four}}
    assert three + four == 64
    assert three > four > 0
    assert f"allocation 3: {three}, 4: {four}" in done.stdout


@pytest.mark.parametrize("sketch", ["rademacher", "ctr_tensorsrht"])
def test_another_process_draws_the_same(rfbench, tmp_path, sketch):
    def numbers():
        rfbench("task=kid", "dataset=wine", f"sketch={sketch}", "features=32", "seeds=1", "force=true")
        (path,) = tmp_path.glob("outputs/*/*/results.csv")
        return [row["value"] for row in read_rows(path) if row["unit"] != "s"]

    assert numbers() == numbers()


def test_rows_are_taken_as_they_are(rfbench):
    """The distance is that of the given feature vectors; other preparations have to be asked for."""
    words = ("task=kid", "features=32", "seeds=1", "task.resamples=2", "task.subsets=0")
    as_they_are, shorter = rfbench(*words), rfbench(*words, "dataset.prepare=[unit_norm]")
    assert as_they_are.stdout.startswith("digits(prepare=[]) ")
    assert shorter.stdout.startswith("digits ")


def test_two_files_are_a_data_set(tmp_path, monkeypatch):
    monkeypatch.setattr("rfbench.datasets.splits.BLOCK_BYTES", 8 * 5 * 50)  # a block across both files
    X, Y = sets()
    files = {"x": tmp_path / "real.npy", "y": tmp_path / "fake.npy"}
    np.save(files["x"], X.astype(np.float32))
    np.save(files["y"], Y)
    data = load_pair({"name": "real-fake", **files})
    split = prepared_split(data, Preparation(()), 0, np.float32)
    for part, rows in ((split.train, X), (split.test, Y)):
        np.testing.assert_array_equal(np.concatenate([block for block, _ in part.blocks()]), rows.astype(np.float32))
        sample, _ = part.sample(7, np.random.default_rng(0))
        assert all(any(np.array_equal(row, other) for other in rows.astype(np.float32)) for row in sample)
    np.save(files["y"], Y + 1)
    assert load_pair({"name": "real-fake", **files}).digest != data.digest


def test_the_command_compares_two_files(rfbench, tmp_path):
    X, Y = sets(n=200, m=150)
    np.save(tmp_path / "real.npy", X)
    np.save(tmp_path / "fake.npy", Y)
    done = rfbench("task=kid", "task.x=real.npy", "task.y=fake.npy", "features=[32,64]", "seeds=1", "dtype=float64")
    assert done.returncode == 0, done.stderr
    heading = re.split("  +", done.stdout.splitlines()[1].strip())
    errors = ["kid_error", "kid_sampling_error", "kid_sketch_error"]
    assert heading == ["sketch", "features", "kid", *errors, "kid_std", "kid_seconds [s]", "sums [s]"]
    for word in (
        "\nkid: unbiased MMD² × 1, exact up to degree 1\n",
        "\nkid_std: of one draw of the sketch, over 20 draws\n",
        "(100 subsets of 75 rows)",
        "real-fake",
        "gamma=1/d",
    ):
        assert word in done.stdout
    (path,) = tmp_path.glob("outputs/real-fake-ctr_tensorsrht-kid/*/results.csv")
    rows = {(row["features"], row["metric"]): float(row["value"]) for row in read_rows(path)}
    assert len(rows) == 2 * 12
    sampling, sketch = (rows["64", f"kid_{name}_error"] for name in ("sampling", "sketch"))
    assert rows["64", "kid_error"] == pytest.approx(np.hypot(sampling, sketch))
    assert sketch == pytest.approx(rows["64", "kid_std"] / np.sqrt(20))
    assert {row["unit"] for row in read_rows(path)} == {"", "s"}
    assert rows["64", "exact_kid"] == pytest.approx(double_loop(X, Y, standard), rel=1e-9)
    assert (path.parent / "figure.png").exists()


def test_several_files_are_compared_with_one(rfbench, tmp_path):
    """Each as if alone, and the two of one distribution within chance."""
    names = {"near": 0.05, "far": 0.4, "also_far": 0.4}
    X, _ = sets(n=400)
    np.save(tmp_path / "real.npy", X)
    for seed, (name, shift) in enumerate(names.items(), 1):
        np.savez(tmp_path / f"{name}.npz", X=sets(m=400, shift=shift, seed=seed)[1])
    words = ("task=kid", "task.x=real.npy", "features=64", "seeds=1", "task.subsets=0")
    done = rfbench(*words, f"task.y=[{','.join(f'{name}.npz' for name in names)}]")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("real against 3 sets (400 training rows")
    assert "\nreal, 3 differences of distances (400 training rows" in done.stdout
    for line in (
        r"near is closer to real than far by [\d.]+ ± [\d.]+, beyond chance",
        r"near is closer to real than also_far by [\d.]+ ± [\d.]+, beyond chance",
        r"far and also_far: [\d.]+ ± [\d.]+, within chance",
        "± 95% interval for all differences together",
    ):
        assert re.search(rf"^{line}$", done.stdout, re.MULTILINE), done.stdout
    (path,) = tmp_path.glob("outputs/real-near-far-also_far-*/*/results.csv")
    assert path.with_name("figure.png").exists()
    rows = {(row["dataset"], row["metric"]): row for row in read_rows(path)}
    assert rfbench(*words, "task.y=far.npz").returncode == 0
    (path,) = tmp_path.glob("outputs/real-far-*/*/results.csv")
    for row in read_rows(path):
        if row["unit"] != "s":
            assert rows["real:far", row["metric"]]["value"] == row["value"], row["metric"]
    errors = [float(rows[f"real:{name}", "kid_error"]["value"]) for name in ("far", "also_far")]
    assert float(rows["real:far - also_far", "kid_difference_error"]["value"]) < np.hypot(*errors)


def test_a_set_compared_with_itself_is_named(rfbench, tmp_path):
    """Its rows are not independent of themselves: the estimate is below 0 by many of its errors."""
    np.save(tmp_path / "real.npy", sets()[0])
    done = rfbench("task=kid", "task.x=real.npy", "task.y=real.npy", "features=32", "seeds=1", "task.subsets=0")
    assert done.returncode == 0
    assert "real.npy is compared with itself; the estimate is for sets drawn apart" in done.stderr
    np.save(tmp_path / "other.npy", sets()[1])
    assert rfbench("task=kid", "task.x=real.npy", "task.y=other.npy", "features=32", "seeds=1").stderr == ""


MISTAKES = {
    "task.x=real.npy": "compare two files; give task.y too",
    "task.x=real.npy task.y=fake.npy": "fake.npy does not exist",
    "task.x=real.npy task.y=other.npy": "real.npy (task.x) has 4 columns and other.npy (task.y) 5; extract both",
    "task.x=real.npy task.y=[real.npy,bad.npy]": "bad.npy has nan in row 7, column 3; drop the row",
    "task.x=bad.npy task.y=real.npy": "bad.npy has nan in row 7, column 3; drop the row",
    "task.x=real.npy task.y=[real.npy,real.npy]": "task.y names a file twice",
    "task.x=real.npy task.y=[]": "give task.y too",
    "task.x=real.npy task.y=two.npz": "rfbench: error: two.npz has a, b; save one array, or call one of them features",
    "task.x=real.npy task.y=broken.npz": "is not a numeric NPZ file",
    "task.x=real.npy task.y=flat.npy": "flat.npy has float64 of shape (30,)",
    "task.x=real.npy task.y=text.npy": "text.npy is not a numeric NPY file (the magic string is not correct",
    "task.x=words.csv task.y=real.npy": "task.x must be an .npy or .npz file with one feature vector",
    "task.x=real.npy task.y=one.npy": "at least 2 rows of each set; one.npy has one",
    "task.x=real.npy task.y=real.npy task.subset_rows=1000": (
        "cannot be drawn from sets of 30 and 30 rows; use at most 30, or task.subsets=0"
    ),
    "task.x=real.npy task.y=real.npy dataset=wine": "'dataset=wine' has no effect; remove it",
    "sketch=exact": "use a sketch with features",
    "task.exact_degree=3": "task.exact_degree must be 0, 1, 2 or auto",
    "task.exact_degree=2 sketch=tensorsketch": "needs a product or Maclaurin sketch of degree 3 or more",
    "task.exact_degree=2 kernel.bias=0": "of degree 3 or more and a bias; use auto",
    "sketch=random_maclaurin sketch.p_max=2": "needs all degrees of the kernel; use sketch.p_max=3",
    "sketch=optimized_maclaurin degree=12": "needs all degrees of the kernel; use sketch.p_max=12 (and",
    "sketch=localized_maclaurin": "the series of kernel 'gaussian' is infinite",
    "task.resample=3": "did you mean 'task.resamples'",
    "kernel.gamma=1/n": "no kernel.gamma '1/n'; did you mean '1/d'?",
}


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("real.npy", "fake.npy", "fake2.npy"), ["fake", "fake2"]),
        (("real.npy", "a/fake.npy", "b/fake.npy"), ["a/fake", "b/fake"]),
        (("real.npy", "a/1/fake.npy", "b/1/fake.npy"), ["a/1/fake", "b/1/fake"]),
        (("real.npy", "fake.npy", "fake.npz"), ["fake.npy", "fake.npz"]),
        (("real.npy", "real.npy", "fake.npy"), ["real", "fake"]),
    ],
)
def test_no_set_is_lost_for_its_name(tmp_path, files, names):
    for number, file in enumerate(files):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        rows = np.full((4 + number, 2), float(number))
        np.savez(tmp_path / file, rows) if file.endswith("npz") else np.save(tmp_path / file, rows)
    x, *y = (str(tmp_path / file) for file in files)
    found = sets_of(prepared_split(load_pair({"name": "sets", "x": x, "y": y}), Preparation(()), 0, np.float64))
    assert [(name, len(part)) for name, part in found.items()] == list(zip(names, (5, 6), strict=True))


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(words, tmp_path, monkeypatch, capfd):
    shapes = {"real": (30, 4), "other": (30, 5), "flat": (30,), "one": (1, 4)}
    for name, shape in shapes.items():
        np.save(tmp_path / f"{name}.npy", np.ones(shape))
    bad = np.ones((30, 4))
    bad[6, 2] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    np.savez(tmp_path / "two.npz", a=bad, b=bad)
    (tmp_path / "broken.npz").write_text("no archive")
    (tmp_path / "text.npy").write_text("words in place of numbers")
    (tmp_path / "words.csv").write_text("a,b\n")
    monkeypatch.chdir(tmp_path)
    code = main(["task=kid", *words.split()])
    one_line(subprocess.CompletedProcess(words, code, *capfd.readouterr()), MISTAKES[words])
    assert not list(tmp_path.glob("outputs/*/*"))
