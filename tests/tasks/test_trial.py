"""A trial: its draws depend on the seed, the sketch's name, D and k, and on nothing else."""

import multiprocessing

import numpy as np
import pytest
from support import zoo
from support.trial import make_trial

from rfbench.engines import Local
from rfbench.sketches.draw import Draw

X = np.random.default_rng(0).standard_normal((5, 8))


def draw(seed=0, D=32, k=0, name="rademacher"):
    sketch = zoo.sketch_of("rademacher")
    return Draw(sketch, 8, D, seed, ("sketch", name, D, k), "float64")()(X) * np.sqrt(D)


def test_a_draw_is_its_own_for_every_seed_name_number_of_features_and_k():
    first = draw()
    np.testing.assert_array_equal(first, draw())
    for other in (draw(seed=1), draw(k=1), draw(name="other"), draw(D=64)[:, :32]):
        assert not np.isclose(first, other).all()


def test_a_trial_names_its_draws_by_all_of_them():
    trials = [
        make_trial(None, None, zoo.sketch_of("rademacher"), D, Local(1), seed=s) for D, s in ((8, 0), (16, 0), (8, 1))
    ]
    plans = [trial.plan(k) for trial in trials for k in (0, 1)]
    assert len({(plan.seed, plan.names) for plan in plans}) == len(plans)
    assert plans[0].names == ("sketch", "test", 8, 0)


def features_of(draw):
    return draw()(X)


@pytest.mark.parametrize("name", zoo.CASES)
def test_a_plan_is_the_same_map_in_another_process(name, other_process):
    sketch = zoo.sketch_of(name).adapt(np.random.default_rng(1).standard_normal((40, 8)), 32)
    plan = Draw(sketch, 8, sketch.count(8, 32), 0, ("test", name), "float64")
    np.testing.assert_array_equal(other_process(features_of, plan), features_of(plan))


@pytest.fixture(scope="module")
def other_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield lambda function, argument: pool.apply(function, (argument,))
