"""Kernel Inception Distance against a double loop, scikit-learn's kernel, and itself by other ways."""

import re
import subprocess
import sys

import numpy as np
import pytest
import zoo
from answers import one_line

from rfbench.checks import InputError
from rfbench.cli import main
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.pair import load_pair
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.results.rows import read_rows
from rfbench.sketches import make_sketch
from rfbench.tasks import Trial, kid, make_task, mmd

D, DEGREE = 32, 3
MACLAURIN = ("random_maclaurin", "optimized_maclaurin")
SKETCHES = [name for name in zoo.RANDOM if zoo.CASES[name].kernel == "polynomial"]


def sets(n=60, m=45, d=5, shift=0.3, seed=0):
    rng = np.random.default_rng(seed)
    return np.abs(rng.standard_normal((n, d))), np.abs(rng.standard_normal((m, d))) + shift


def split_of(X, Y, dtype=np.float64):
    rows = np.concatenate((X, Y))
    data = Dataset("made", InMemory(rows), InMemory(np.zeros(len(rows))), None, len(X))
    return prepared_split(data, Preparation(()), 0, dtype)


def double_loop(X, Y, k):
    """Gretton et al. 2012, Eq. 3, as printed."""

    def mean(A):
        pairs = [k(a, b) for i, a in enumerate(A) for j, b in enumerate(A) if i != j]
        return sum(pairs) / len(pairs)

    return mean(X) + mean(Y) - 2 * np.mean([k(a, b) for a in X for b in Y])


def standard(x, y, p=DEGREE):
    return (x @ y / len(x) + 1) ** p


def run(
    split, name="ctr_tensorsrht", D=D, workers=2, block_rows=256, dtype=np.float64, seed=0, degree=DEGREE, **options
):
    task = make_task("kid", **options)
    d = split.train.part.dataset.X.shape[1]
    kernel = make_kernel("polynomial", degree, gamma="1/d").fit(np.empty((1, d)))
    sample = next(iter(split.train.blocks()))[0]
    all_degrees = {"p_min": task.p_min} if name == "optimized_maclaurin" else {}
    sketch = make_sketch(name, kernel, **all_degrees).adapt(sample, D)

    def draw(k):
        return sketch.sample(d, D, np.random.default_rng([1, k]), dtype)

    with Local(workers, block_rows).running() as engine:
        trial = Trial(split, kernel, sketch, None, D, seed, draw, engine)
        measures = list(task.measure(trial, task.reference(split, kernel, seed, engine)))
    return {m.metric: m.value for m in measures}, {m.metric: m.unit for m in measures}, draw


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(kid, "KNOWN", {})


@pytest.mark.parametrize("block_bytes", [8 * 5 * 7, 1 << 25])
def test_the_exact_value_is_the_double_loop(block_bytes, monkeypatch):
    monkeypatch.setattr("rfbench.datasets.splits.BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(mmd, "TILE", 4)
    X, Y = sets()
    found, units, _ = run(split_of(X, Y), subsets=0)
    assert found["exact_kid"] == pytest.approx(double_loop(X, Y, standard), rel=1e-10)
    assert "block_kid" not in found
    assert units["kid"] == "unbiased MMD² × 1, exact up to degree 1"


def test_features_are_the_double_loop_over_their_products():
    X, Y = sets()
    for name in ("ctr_tensorsrht", "complex_rademacher"):
        found, _, draw = run(split_of(X, Y), name, resamples=3, subsets=0, exact_degree=0)
        values = []
        for k in range(3):
            features = draw(k)
            values.append(double_loop(features(X), features(Y), lambda a, b: (a @ b.conj()).real))
        assert found["kid"] == pytest.approx(np.mean(values), rel=1e-9)
        assert found["kid_std"] == pytest.approx(np.std(values, ddof=1), rel=1e-9)


@pytest.mark.parametrize("exact_degree", [1, "auto"])
@pytest.mark.parametrize("degree", [3, 6])
@pytest.mark.parametrize("name", SKETCHES)
def test_every_sketch_is_unbiased(name, degree, exact_degree):
    draws = 1000 if name in zoo.HEAVY else 200  # rare large values, without which mean and deviation are both too low
    options = {"D": 2 * D, "degree": degree, "exact_degree": exact_degree}
    found, _, _ = run(split_of(*sets()), name, resamples=draws, subsets=0, **options)
    assert abs(z(found, draws)) < 4


@pytest.mark.parametrize("name", ["rademacher", "ctr_tensorsrht", "tensorsketch", *MACLAURIN])
def test_sketches_are_unbiased_without_what_is_known(name):
    """Also optimized_maclaurin, which for other tasks may leave out a degree."""
    found, _, _ = run(split_of(*sets()), name, resamples=400, subsets=0, exact_degree=0)
    assert abs(z(found, 400)) < 4


@pytest.mark.parametrize("name", ["tensorsrht", "ctr_tensorsrht"])
@pytest.mark.parametrize("exact_degree", [0, 1, 2])
def test_the_check_sees_the_biased_estimate(name, exact_degree, monkeypatch):
    """The negative control: with i = j counted in, as a V-statistic does, the same test must fail."""
    monkeypatch.setattr("rfbench.tasks.kid.squared_mmd", lambda x, y: _biased(x, y))
    found, _, _ = run(split_of(*sets()), name, resamples=400, subsets=0, exact_degree=exact_degree)
    assert abs(z(found, 400)) > 5


def _biased(x, y):
    value = (np.abs(x.features / x.n - y.features / y.n) ** 2).sum(1)
    return value + _biased(x.known, y.known) if x.known else value


def z(found, draws):
    return (found["kid"] - found["exact_kid"]) / (found["kid_std"] / np.sqrt(draws))


def test_the_deviation_falls_as_the_root_of_features():
    """Table 4.2 of Wacker 2022: doubling D divides it by √2."""
    split = split_of(*sets(d=12, n=200, m=200))
    stds = [run(split, D=D, resamples=400, subsets=0)[0]["kid_std"] for D in (16, 64, 256)]
    slope = np.polyfit(np.log([16, 64, 256]), np.log(stds), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.12)


def test_complex_to_real_varies_less_at_degree_6(digits):
    """Table 4.2 of Wacker 2022, where it is 0.67 to 0.71 of that of the real sketch."""
    X = 8 * digits
    split = split_of(X[:150], X[150:])
    ctr, real = (
        run(split, name, D=64, degree=6, resamples=400, subsets=0)[0]["kid_std"]
        for name in ("ctr_tensorsrht", "tensorsrht")
    )
    assert ctr < 0.9 * real


def test_block_mmd_is_the_double_loop_on_subsets():
    X, Y = sets()
    found, units, _ = run(split_of(X, Y), subsets=3, subset_rows=8, resamples=1)
    split = split_of(X, Y)
    parts = ((split.train, "x"), (split.test, "y"))
    values = []
    for r in range(3):
        some = [part.sample(8, mmd.rng_for(0, "kid", "subset", r, key))[0] for part, key in parts]
        assert len(np.unique(some[0], axis=0)) == 8
        values.append(double_loop(*some, standard))
    assert found["block_kid"] == pytest.approx(np.mean(values), rel=1e-9)
    assert found["block_kid_std"] == pytest.approx(np.std(values, ddof=1), rel=1e-9)
    assert units["block_kid"] == "3 subsets of 8"
    assert "kid_std" not in found  # of one draw


def test_block_mmd_is_unbiased_and_varies_more_than_a_sketch():
    found, _, _ = run(split_of(*sets(n=400, m=400)), D=256, subsets=400, subset_rows=40, resamples=50)
    error = found["block_kid_std"] / np.sqrt(400)
    assert abs(found["block_kid"] - found["exact_kid"]) < 4 * error
    assert found["kid_std"] < found["block_kid_std"] / 3


@pytest.mark.parametrize("name", ["ctr_tensorsrht", "gaussian", "random_maclaurin"])
def test_workers_change_no_bit_and_blocks_only_rounding(name, monkeypatch):
    split = split_of(*sets(n=300, m=200))
    metrics = ("kid", "kid_std", "exact_kid", "block_kid", "block_kid_std")

    def found(workers, rows, subsets=4):
        return run(split, name, resamples=5, subsets=subsets, workers=workers, block_rows=rows)[0]

    one, four, small = ([found(*how)[metric] for metric in metrics] for how in ((1, 64), (4, 64), (2, 7)))
    assert one == four
    np.testing.assert_allclose(one, small, rtol=1e-9)
    monkeypatch.setattr(kid, "MAPS_BYTES", 1)  # one draw held at a time
    assert found(2, 64, subsets=0)["kid"] == one[0]


def test_sums_are_in_double_precision():
    """Rows so alike that sums in single precision would lose the distance altogether."""
    rng = np.random.default_rng(0)
    X, Y = (np.float32(100 + rng.standard_normal((20_000, 3))) for _ in range(2))
    options = {"name": "rademacher", "D": 16, "resamples": 2, "subsets": 0, "exact_rows": 0}
    single, wide = (run(split_of(X, Y, dtype), dtype=dtype, **options)[0] for dtype in (np.float32, np.float64))
    assert single["kid"] == pytest.approx(wide["kid"], rel=1e-3)


def test_sketches_of_a_sweep_share_the_exact_value(monkeypatch):
    split, calls = split_of(*sets()), []
    monkeypatch.setattr(kid, "exact", lambda *args: calls.append(1) or mmd.exact(*args))
    values = {run(split, name, subsets=5)[0]["exact_kid"] for name in ("rademacher", "tensorsketch")}
    assert len(values) == len(calls) == 1
    run(split_of(*sets(seed=1)))
    assert len(calls) == 2


def test_features_of_single_degrees_are_told(rfbench, tmp_path):
    done = rfbench("task=kid", "dataset=wine", "sketch=rademacher", "degree=4", "features=64", "seeds=1")
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/wine-rademacher-kid/*/results.csv")
    told = next(row["message"] for row in read_rows(path) if row["metric"] == "kid")
    three, four = map(int, re.fullmatch(r"features: (\d+) of degree 3, (\d+) of degree 4", told).groups())
    assert three > four > 0
    assert three + four == 64


def test_gamma_is_one_over_the_columns():
    X, Y = sets()
    kernel = make_kernel("polynomial", 4, gamma="1/d")
    fitted = kernel.fit(X)
    from sklearn.metrics.pairwise import polynomial_kernel

    np.testing.assert_allclose(fitted.gram(X, Y), polynomial_kernel(X, Y, degree=4))  # gamma=None is 1/d there
    assert np.isnan(kernel.gram(X, Y)).all()  # before the columns are known there is no answer
    for wrong in ("1/n", 0, -1.0):
        with pytest.raises(InputError, match=r"kernel.gamma must be above 0, or 1/d"):
            make_kernel("polynomial", 4, gamma=wrong)


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
    for word in (
        "kid [unbiased MMD² × 1, exact up to degree 1]",
        "kid_std [of 20 draws]",
        "100 subsets of 75",
        "real-fake",
        "gamma=1/d",
    ):
        assert word in done.stdout
    (path,) = tmp_path.glob("outputs/real-fake-ctr_tensorsrht-kid/*/results.csv")
    rows = {(row["features"], row["metric"]): float(row["value"]) for row in read_rows(path)}
    assert len(rows) == 2 * 9
    assert rows["64", "exact_kid"] == pytest.approx(double_loop(X, Y, standard), rel=1e-9)
    assert (path.parent / "figure.png").exists()


MISTAKES = {
    "task.x=real.npy": "only task.x was given",
    "task.x=real.npy task.y=fake.npy": "there is no",
    "task.x=real.npy task.y=other.npy": "4 columns and task.y of 5",
    "task.x=real.npy task.y=flat.npy": "one a row; flat.npy is float64 of shape (30,)",
    "task.x=words.csv task.y=real.npy": "task.x wants an .npy file",
    "task.x=real.npy task.y=one.npy": "at least 2 rows of each set; there are 30 and 1",
    "task.x=real.npy task.y=real.npy task.subset_rows=1000": (
        "cannot be drawn from sets of 30 and 30 rows; use at most 30, or task.subsets=0"
    ),
    "task.x=real.npy task.y=real.npy dataset=wine": "'dataset=wine' would be ignored; leave it out",
    "sketch=exact": "use a sketch with features",
    "task.exact_degree=3": "task.exact_degree must be 0, 1, 2 or auto",
    "task.exact_degree=2 sketch=tensorsketch": "is of product and Maclaurin sketches of degree 3 and above",
    "task.exact_degree=2 kernel.bias=0": "of degree 3 and above with a bias; use auto",
    "sketch=random_maclaurin sketch.p_max=2": "needs all degrees of the kernel; use sketch.p_max=3",
    "sketch=optimized_maclaurin degree=12": "needs all degrees of the kernel; use sketch.p_max=12 (and",
    "sketch=localized_maclaurin": "the series of kernel 'gaussian' has no end",
    "task.resample=3": "did you mean 'task.resamples'",
    "kernel.gamma=1/n": "kernel.gamma must be above 0, or 1/d",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(words, tmp_path, monkeypatch, capfd):
    shapes = {"real": (30, 4), "other": (30, 5), "flat": (30,), "one": (1, 4)}
    for name, shape in shapes.items():
        np.save(tmp_path / f"{name}.npy", np.ones(shape))
    (tmp_path / "words.csv").write_text("a,b\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["rfbench"])
    code = main(["task=kid", *words.split()])
    one_line(subprocess.CompletedProcess(words, code, *capfd.readouterr()), MISTAKES[words])
    assert not list(tmp_path.glob("outputs/*/*"))
