"""rfbench.kid: the task's own value, and a standard error that is true."""

import csv
import subprocess
import sys

import numpy as np
import pytest
from support.kid import sets

import rfbench
from rfbench.checks import InputError
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches import known_part, make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.kid.embedding import Embedder
from rfbench.tasks.kid.error import SamplingError


def test_the_value_is_that_of_the_task(rfbench, tmp_path):
    X, Y = sets(300, 200)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    words = "task=kid task.x=x.npy task.y=y.npy features=64 dtype=float64 task.resamples=4 task.subsets=0 seeds=[3]"
    done = rfbench(*words.split())
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("outputs/*/*/results.csv")
    with path.open() as file:
        (shown,) = (float(row["value"]) for row in csv.DictReader(file) if row["metric"] == "kid")
    from rfbench import kid

    assert kid(X, Y, features=64, seed=3).value == pytest.approx(shown, rel=1e-12)


@pytest.mark.parametrize("sketch", ["ctr_tensorsrht", "complex_rademacher", "optimized_maclaurin"])
@pytest.mark.parametrize("degree", [1, 2])
def test_the_witness_is_that_of_the_kernel(sketch, degree):
    """In the mean over draws, whichever degrees are known; a z-test on every row."""
    X, Y = sets()
    kernel = make_kernel("polynomial", 3, gamma=1 / X.shape[1])
    options = {"p_min": 3} if "maclaurin" in sketch else {}
    recipe, D = make_sketch(sketch, kernel, **options).adapt(X, 16), 16
    found = known_part(kernel, recipe, X, D, degree)
    assert found
    tangent, rest, D = found
    embedder = Embedder([Draw(rest, X.shape[1], D, 0, ("test", k), "float64") for k in range(300)], tangent)
    with Local(1).running() as engine:
        x, y = (embedder() for _ in range(2))
        x.add(X, np.zeros(len(X)), engine)
        y.add(Y, np.zeros(len(Y)), engine)
        f = embedder.witness(X, x.finish(), y.finish())
    exact = kernel.gram(X, X).mean(1) - kernel.gram(X, Y).mean(1)
    error = f.std(0, ddof=1) / np.sqrt(len(f))
    assert np.abs((f.mean(0) - exact) / error).max() < 4.8
    assert np.abs((f.mean(0) - 1.05 * exact) / error).max() > 4.8, "negative control"


def exact(kernel, X, Y):
    """The value, and what we say of its variance over rows, by the kernel itself; then its first-order terms alone."""
    (n, _), (m, _) = X.shape, Y.shape
    xx, yy, xy = (kernel.gram(*pair) for pair in ((X, X), (Y, Y), (X, Y)))
    f, g = xx.mean(1) - xy.mean(1), xy.mean(0) - yy.mean(1)
    within = (xx.sum() - xx.trace()) / n / (n - 1) + (yy.sum() - yy.trace()) / m / (m - 1)
    error = SamplingError(kernel, X, [Y], n, [m])
    variance = error.variance(np.ones(1), [np.array([f, f])], [np.array([g, g])])
    return within - 2 * xy.mean(), variance, 4 * f.var() / n + 4 * g.var() / m


def simulated(shift):
    """On fresh rows each time: variance of the values, mean of what we say, mean of the first-order terms alone."""
    kernel = make_kernel("polynomial", 3, gamma=0.2)
    found = np.array([exact(kernel, *sets(shift=shift, seed=seed)) for seed in range(400)])
    return found[:, 0].var(ddof=1), *found[:, 1:].mean(0)


def test_the_variance_over_rows_is_true():
    """For distributions that differ, and for equal ones, where the first-order terms alone would be twice too large."""
    real, ours, _ = simulated(0.6)
    assert ours / real == pytest.approx(1, abs=0.2)
    real, ours, first = simulated(0.0)
    assert 0.8 < ours / real < 1.5
    assert first / real > 1.5, "negative control"


def test_the_standard_error_covers_rows_and_sketches():
    """Its square is the variance over rows, by the exact kernel, plus that of the values of many seeds."""
    X, Y = sets(200, 150)
    over_rows = exact(make_kernel("polynomial", 3, gamma=0.2), X, Y)[1]
    assert rfbench.kid(X, Y, features=4096).standard_error == pytest.approx(over_rows**0.5, rel=0.02)
    over_rows = exact(make_kernel("polynomial", 3, gamma=0.2, bias=0.0), X, Y)[1]
    found = np.array([rfbench.kid(X, Y, features=8, coef0=0.0, seed=seed) for seed in range(150)])
    over_sketches = found[:, 0].var(ddof=1)
    assert over_sketches > over_rows, "otherwise the next line could not fail"
    assert (found[:, 1] ** 2).mean() == pytest.approx(over_rows + over_sketches, rel=0.25)


def test_single_precision_and_lists():
    X, Y = sets()
    value = rfbench.kid(X, Y, features=64).value
    assert rfbench.kid(X.astype(np.float32), Y.tolist(), features=64).value == pytest.approx(value, rel=1e-4)
    X.flags.writeable = False
    assert rfbench.kid(X, Y, features=64).value == value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Y": np.ones((5, 4))}, "X has 5 columns and Y 4"),
        ({"Y": np.ones((1, 5))}, "minimum of 2 is required"),
        ({"Y": np.ones(5)}, "Expected 2D array"),
        ({"X": np.full((9, 5), np.nan)}, "X contains NaN"),
        ({"sketch": "ctr_tensorshrt"}, "did you mean 'ctr_tensorsrht'"),
        ({"features": 63}, "even number"),
        ({"draws": 1}, "draws must be at least 2"),
        ({"degree": 0}, "degree must be at least 1"),
        ({"sketch": "rff"}, "approximates the gaussian kernel"),
    ],
)
def test_mistakes_are_explained(change, message):
    X, Y = sets()
    with pytest.raises(ValueError, match=message):
        rfbench.kid(**{"X": X, "Y": Y, "features": 64} | change)
    assert issubclass(InputError, ValueError)


def test_importing_rfbench_imports_nothing_else():
    code = "import sys, rfbench; assert not {'numpy', 'sklearn'} & set(sys.modules); rfbench.kid; rfbench.nothing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip().endswith("AttributeError: module 'rfbench' has no attribute 'nothing'")
