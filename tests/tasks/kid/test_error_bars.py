"""The error bars of distances and of their differences hold as often as they say."""

import numpy as np
import pytest
from support.trial import make_trial

from rfbench.datasets.base import InMemory
from rfbench.datasets.pair import stacked
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.tasks.kid.error import SamplingError
from rfbench.tasks.kid.task import KID

pytestmark = pytest.mark.medium

PAIRS, D, COLUMNS = 200, 32, 6
KERNEL = make_kernel("polynomial", 3, gamma=1 / COLUMNS)
ATOMS = np.random.default_rng(0).gamma(2, 0.7, (60, COLUMNS))  # skewed, like features after a rectifier


def weights(tilt):
    """A distribution over the atoms."""
    p = np.exp(tilt * ATOMS[:, 0])
    return p / p.sum()


TILTS = {"x": 0.0, "y1": 0.7, "y2": 1.0, "same": 0.0}


def truth(name):
    """The squared MMD of two distributions, a finite sum."""
    difference = weights(TILTS["x"]) - weights(TILTS[name])
    return difference @ KERNEL.gram(ATOMS, ATOMS) @ difference


def estimates(seed, names, n=600, m=500, D=D):
    rng, seed = np.random.default_rng(seed), np.ravel(seed)[0]
    counts = dict.fromkeys(("x", *names), m) | {"x": n}
    parts = [(name, InMemory(ATOMS[rng.choice(60, k, p=weights(TILTS[name]))])) for name, k in counts.items()]
    split = prepared_split(stacked("made", parts), Preparation(()), 0, np.float64)
    with Local(1).running() as engine:
        trial = make_trial(split, KERNEL, make_sketch("ctr_rademacher", KERNEL), D, engine, seed=seed)
        return KID(exact_degree=0).distances(trial)[0]


def covered(errors, value, size):
    """Of how many of the intervals of 95 % the value is inside."""
    return np.mean([abs(error.value - value) < 1.96 * size(error) for error in errors])


@pytest.mark.slow
def test_intervals_hold_95_times_in_100():
    """Of distances and of a difference of several of their errors: nearer to 0 the estimates are not normal."""
    found = [estimates(seed, ("y1", "y2")) for seed in range(PAIRS)]
    difference = truth("y1") - truth("y2")
    for errors, value in (
        ([one.of(0) for one in found], truth("y1")),
        ([one.of(1) for one in found], truth("y2")),
        ([one.of(0, 1) for one in found], difference),
    ):
        assert 0.92 <= covered(errors, value, lambda error: error.total) <= 0.98
        assert covered(errors, value, lambda error: error.sketch) < 0.85, "negative control"
    paired = np.mean([one.of(0, 1).total ** 2 for one in found])
    apart = np.mean([one.of(0).total ** 2 + one.of(1).total ** 2 for one in found])
    real = np.var([one.of(0, 1).value for one in found], ddof=1)
    assert paired / real == pytest.approx(1, abs=0.3)
    assert apart / real > 1.3, "negative control: the sum of both variances"


@pytest.mark.slow
def test_intervals_hold_where_the_sketch_has_the_larger_error():
    """Many rows and few features: the error of the rows alone would be far too small."""
    errors = [estimates([seed, 4000, 16], ("y1",), 4000, 4000, 16).of(0) for seed in range(PAIRS)]
    assert np.mean([error.sketch > error.sampling for error in errors]) > 0.8
    assert 0.92 <= covered(errors, truth("y1"), lambda error: error.total) <= 0.98
    assert covered(errors, truth("y1"), lambda error: error.sampling) < 0.85, "negative control"


def test_equal_sets_are_rarely_beyond_chance():
    """Where all distributions are equal the estimates are not normal; the intervals then hold at least as often."""
    found = [estimates(seed, ("same",), 120, 100) for seed in range(60)]
    assert covered([one.of(0) for one in found], 0.0, lambda error: error.total) >= 0.92


def test_the_variance_of_a_difference_is_the_definition():
    """Equation (1), against the variance over fresh rows by the exact kernel."""
    values, ours = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X, Y, Z = (ATOMS[rng.choice(60, k, p=weights(t))] for k, t in ((80, 0.0), (60, 0.7), (70, 0.3)))
        (xy, yy), (xz, zz) = ((KERNEL.gram(X, A), KERNEL.gram(A, A)) for A in (Y, Z))
        f_y, f_z = KERNEL.gram(X, X).mean(1) - xy.mean(1), KERNEL.gram(X, X).mean(1) - xz.mean(1)
        g_y, g_z = xy.mean(0) - yy.mean(1), xz.mean(0) - zz.mean(1)
        error = SamplingError(KERNEL, X, [Y, Z], 80, [60, 70])
        twice = [np.array([f, f]) for f in (f_y, f_z, g_y, g_z)]
        ours.append(error.variance(np.array([1, -1]), twice[:2], twice[2:]))
        within = [(K.sum() - K.trace()) / len(K) / (len(K) - 1) for K in (yy, zz)]
        values.append(within[0] - 2 * xy.mean() - within[1] + 2 * xz.mean())
    assert np.mean(ours) / np.var(values, ddof=1) == pytest.approx(1, abs=0.25)
