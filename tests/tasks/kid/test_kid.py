"""Kernel Inception Distance against a double loop, scikit-learn's kernel, and itself by other ways."""

from itertools import count

import numpy as np
import pytest
from support import zoo
from support.kid import MACLAURIN, SKETCHES, D, double_loop, run, sets, split_of, standard, z

from rfbench.checks import InputError
from rfbench.kernels import kernel_recipe, make_kernel
from rfbench.tasks.kid import mmd
from rfbench.tasks.kid import task as kid

pytestmark = pytest.mark.medium


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(kid, "KNOWN", {})


@pytest.mark.parametrize("block_bytes", [8 * 5 * 7, 1 << 25])
def test_the_exact_value_is_the_double_loop(block_bytes, monkeypatch):
    monkeypatch.setattr("rfbench.datasets.splits.BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(mmd, "TILE", 4)
    X, Y = sets()
    found, messages, _ = run(split_of(X, Y), subsets=0)
    assert found["exact_kid"] == pytest.approx(double_loop(X, Y, standard), rel=1e-10)
    assert "block_kid" not in found
    assert messages["kid"] == "unbiased MMD² × 1, exact up to degree 1"


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
    monkeypatch.setattr("rfbench.tasks.kid.estimate.squared_mmd", lambda x, y: _biased(x, y))
    found, _, _ = run(split_of(*sets()), name, resamples=400, subsets=0, exact_degree=exact_degree)
    assert abs(z(found, 400)) > 5


def _biased(x, y):
    value = (np.abs(x.features / x.n - y.features / y.n) ** 2).sum(1)
    return value + _biased(x.known, y.known) if x.known else value


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
    found, messages, _ = run(split_of(X, Y), subsets=3, subset_rows=8, resamples=1)
    split = split_of(X, Y)
    parts = ((split.train, "x"), (split.test, "y"))
    values = []
    for r in range(3):
        some = [part.sample(8, mmd.rng_for(0, "kid", "subset", r, key))[0] for part, key in parts]
        assert len(np.unique(some[0], axis=0)) == 8
        values.append(double_loop(*some, standard))
    assert found["block_kid"] == pytest.approx(np.mean(values), rel=1e-9)
    assert found["block_kid_std"] == pytest.approx(np.std(values, ddof=1), rel=1e-9)
    assert messages["block_kid"] == "3 subsets of 8 rows"
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
    monkeypatch.setattr("rfbench.tasks.kid.estimate.MAPS_BYTES", 1)  # one draw held at a time
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


def test_values_of_other_kernels_are_others():
    """They are remembered for the sketches of a sweep, on the same rows."""
    X, Y = sets()
    subsets = set()
    for degree in (2, 3):
        found, _, _ = run(split_of(X, Y), degree=degree, subsets=4)
        assert found["exact_kid"] == pytest.approx(double_loop(X, Y, lambda x, y, p=degree: standard(x, y, p)))
        subsets.add(found["block_kid"])
    assert len(subsets) == 2


@pytest.mark.parametrize("name", ["ctr_tensorsrht", "rademacher"])
def test_estimates_and_subsets_depend_on_the_seed(name):
    """In one process, where Block-MMD is remembered, and where the rest of the kernel has features of its own."""
    one, again, other = (run(split_of(*sets()), name, seed=seed, subsets=4)[0] for seed in (0, 0, 1))
    for metric in ("kid", "kid_std", "block_kid", "block_kid_std"):
        assert one[metric] == again[metric] != other[metric]
    assert one["exact_kid"] == other["exact_kid"]


def test_seconds_are_those_of_one_draw(monkeypatch):
    """100 s for all draws, of which the features take 8 s; what the sampling error takes is not counted."""
    clock = iter((0.0, 20.0, 1000.0, 1080.0))
    monkeypatch.setattr("rfbench.linalg.stopwatch.perf_counter", clock.__next__)
    ticks = count()
    monkeypatch.setattr("rfbench.tasks.kid.embedding.perf_counter", lambda: float(next(ticks)))
    monkeypatch.setattr(mmd, "perf_counter", lambda: 0.0)
    found, _, _ = run(split_of(*sets()), workers=1, resamples=4, subsets=0)
    assert found["kid_seconds"] == 25
    assert found["sums_seconds"] == (100 - 2 * 4) / 4  # one second for each draw on each set


def test_gamma_is_one_over_the_columns():
    X, Y = sets()
    fitted = kernel_recipe("polynomial", 4, gamma="1/d").fit(X)
    from sklearn.metrics.pairwise import polynomial_kernel

    np.testing.assert_allclose(fitted.gram(X, Y), polynomial_kernel(X, Y, degree=4))  # gamma=None is 1/d there
    with pytest.raises(InputError, match=r"kernel.gamma=1/d needs training rows"):
        make_kernel("polynomial", 4, gamma="1/d")
    for wrong, words in (("1/n", "did you mean '1/d'"), (0, "must be above 0, or 1/d"), (-1.0, "above 0, or 1/d")):
        with pytest.raises(InputError, match=words):
            kernel_recipe("polynomial", 4, gamma=wrong)
