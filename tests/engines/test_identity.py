"""Every engine has the same sums, bit for bit, from processes that know only a description."""

import pickle

import numpy as np
import pytest
from support.passes import TASKS, passes

from rfbench.engines import Local, make_engine

SIZE, PART = 40, 80
TIMES = ("seconds",)


@pytest.fixture(scope="module", params=["processes", pytest.param("dask", marks=pytest.mark.slow)])
def spread(request):
    with make_engine(request.param, workers=2, part_rows=PART).running() as engine:
        yield engine


@pytest.fixture(scope="module")
def described():
    return passes()


def same(one, other):
    """The names of what differs, times aside."""
    assert one.keys() == other.keys()
    return [
        name
        for name in one
        if not name.startswith(TIMES) and np.asarray(one[name]).tobytes() != np.asarray(other[name]).tobytes()
    ]


@pytest.mark.parametrize("task", TASKS)
def test_other_processes_have_the_same_bits(task, spread, described):
    start, rows = described[task]
    with Local(2, part_rows=PART).running() as engine:
        wanted = engine.accumulate(start, rows, SIZE).state()
    assert len(rows) >= 2 * PART
    assert same(wanted, spread.accumulate(start, rows, SIZE).state()) == []


@pytest.mark.parametrize("task", TASKS)
def test_parts_are_the_rows_once_in_order(task, described):
    """One part has the bits of a plain sum over blocks; several have the same sums to rounding."""
    start, rows = described[task]
    with Local(1, part_rows=len(rows) + SIZE).running() as engine:
        wanted, plain = engine.accumulate(start, rows, SIZE).state(), start()
        X, y = (np.concatenate(column) for column in zip(*rows.blocks(), strict=True))
        for first in range(0, len(rows), SIZE):
            plain.add(X[first : first + SIZE], y[first : first + SIZE], engine)
        assert same(wanted, plain.state()) == []
    with Local(3, part_rows=PART).running() as engine:
        found = engine.accumulate(start, rows, SIZE).state()
    for name in wanted:
        if not name.startswith(TIMES):
            scale = np.abs(wanted[name]).max()
            np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("task", ["gpr", "gpc", "ridge", "kid"])
def test_a_description_has_recipes_seeds_and_a_range(task, described):
    """What a process is sent is the same few thousand bytes, however many rows and features there are."""
    start, rows = described[task]
    assert max(len(pickle.dumps((start, piece))) for piece in rows.cut(PART)) < 9000
    assert [len(piece) for piece in rows.cut(PART)][:-1] == [PART] * (-(-len(rows) // PART) - 1)
