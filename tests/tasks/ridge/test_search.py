"""The search by rounds finds what a search of everything finds, for the features that are used, and costs less."""

import numpy as np
import pytest

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import kernel_recipe
from rfbench.tasks import make_task
from rfbench.tasks.ridge.search import LEAST_ROWS, Round, narrowed, rounds

SIZES = rounds(4096, 80, 41_000)


def searched(best_of, count=9, sizes=SIZES, beyond=0):
    """(the place that is found, how often each round was asked) where the best place of a round is known."""
    asked = dict.fromkeys(sizes, 0)

    def loss(place, size):
        asked[size] += 1
        return abs(place - best_of(size))

    return narrowed(loss, sizes, count, beyond)[0], list(asked.values())


def test_rounds_end_with_all_features_and_half_of_the_rows():
    assert SIZES == [(1024, 5125), (2048, 10_250), (4096, 20_500)]
    assert rounds(320, 320, 1455) == [(320, 1455)]  # nothing to save
    assert rounds(512, 320, 1455) == [(320, 1455), (512, 1455)]
    assert rounds(4096, 80, 5000)[0] == (1024, LEAST_ROWS)


@pytest.mark.parametrize("best", range(9))
def test_fewer_candidates_are_left_in_each_round(best):
    found, asked = searched(lambda size: best + 0.1)
    assert found == best
    assert asked[0] == 9
    assert asked[1] in (5, 6)
    assert asked[2] in (2, 3)


def test_a_best_place_that_moves_is_followed():
    """By two places a round, past the first candidate: a search that only halves would have lost it."""
    where = {size: 2.1 - 2 * number for number, size in enumerate(SIZES)}
    assert searched(where.get, beyond=9)[0] in (-2, -1)
    assert searched(where.get)[0] == 0
    assert searched(lambda size: -20.0, beyond=3)[0] == -3  # and no further


def test_candidates_without_a_number_are_the_last():
    losses = [np.inf, np.inf, 3.0, 1.0, 2.0]
    assert narrowed(lambda place, size: losses[place], SIZES, 5) == (3, 1.0)


def waves(n=6000):
    """Rows of two columns with a target that turns several times in each."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (n + 500, 2))
    y = np.sin(9 * X[:, 0]) * np.sin(9 * X[:, 1]) + 0.1 * rng.standard_normal(len(X))
    return prepared_split(Dataset("waves", InMemory(X), InMemory(y), None, n), Preparation(()), 0, np.float32)


@pytest.mark.medium
def test_more_features_have_a_shorter_length_scale_and_less_error():
    task, recipe, train = make_task("ridge"), kernel_recipe("gaussian", 1, length_scale="validation"), waves().train
    with Local(2).running() as engine:
        few, many = (task.fit(recipe, train, 0, engine, D) for D in (None, 512))
        size = Round(512, len(train))
        losses = {one: task.losses(one, train, 0, engine, size).min() for one in (few, many)}
    assert many.length_scale < few.length_scale
    assert losses[many] < 0.95 * losses[few]  # chosen by 64 features, as before the number of features was known
    assert losses[many] < 0.12  # the noise is 0.1
