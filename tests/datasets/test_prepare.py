"""Splits and preparation: nothing of the test rows is learned, and every row is in one part."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.datasets.splits import split


def dataset(n=500, d=3, n_train=None, seed=0, scale=1.0):
    X = np.random.default_rng(seed).gamma(2.0, size=(n, d)) + np.arange(d)
    return Dataset("made", InMemory(X), InMemory(np.arange(n)), None, n_train, scale)


def rows_of(part):
    return np.concatenate([y for _, y in part.blocks()])


@pytest.mark.parametrize("n", [10, 506, 20_000])
def test_every_row_is_in_one_part(n):
    train, test = split(dataset(n), 3)
    assert len(test) == {10: 1, 506: 51, 20_000: 2000}[n]
    assert sorted([*rows_of(train), *rows_of(test)]) == list(range(n))


def test_seeds_give_other_splits_of_the_same_set():
    parts = [set(rows_of(split(dataset(), seed)[1])) for seed in range(20)]
    assert len(set(map(frozenset, parts))) == 20
    assert all(len(part) == 50 for part in parts)
    assert set(rows_of(split(dataset(), 4)[1])) == parts[4]


def test_a_given_split_is_kept_for_every_seed():
    for seed in (0, 1):
        train, test = split(dataset(n_train=400), seed)
        np.testing.assert_array_equal(rows_of(train), np.arange(400))
        np.testing.assert_array_equal(rows_of(test), np.arange(400, 500))


@pytest.mark.parametrize("n_train", [None, 400])
def test_train_rows_are_drawn_for_each_seed(n_train):
    parts = [rows_of(split(dataset(n_train=n_train), seed, 30)[0]) for seed in range(20)]
    assert all(len(set(part)) == 30 for part in parts)
    assert len({tuple(part) for part in parts}) == 20
    for seed, part in enumerate(parts):
        assert set(part) <= set(rows_of(split(dataset(n_train=n_train), seed)[0]))
        np.testing.assert_array_equal(part, rows_of(split(dataset(n_train=n_train), seed, 30)[0]))


@pytest.mark.parametrize("n_train", [None, 400])
@pytest.mark.parametrize("which", [0, 1])
def test_a_sample_is_of_its_part_without_repetition(n_train, which):
    data = dataset(n_train=n_train)
    part = split(data, 1)[which]
    X, _ = part.sample(40, np.random.default_rng(0))
    own = np.concatenate([X for X, _ in part.blocks()])
    assert len(np.unique(X, axis=0)) == 40
    assert all((own == x).all(1).any() for x in X)
    assert len(part.sample(10**6, np.random.default_rng(0))[0]) == len(part)


STEPS = {
    "center": lambda X, train: X - train.mean(0),
    "standardize": lambda X, train: (X - train.mean(0)) / train.std(0),
    "min_zero": lambda X, train: X - train.min(0),
    "min_max": lambda X, train: (X - train.min(0)) / (train.max(0) - train.min(0)),
    "unit_norm": lambda X, train: X / np.linalg.norm(X, axis=1, keepdims=True),
    "binarize": lambda X, train: (X > 2.5).astype(float),
    "zero_pad": lambda X, train: np.pad(X, ((0, 0), (0, 1))),
}


def whole(part):
    return np.concatenate([X for X, _ in part.blocks()])


@pytest.mark.parametrize(
    "steps", [(step,) for step in STEPS] + [("standardize", "unit_norm"), ("unit_norm", "center", "min_max")]
)
def test_preparation_is_learned_on_train_only_and_in_order(steps):
    data = dataset(20_000)  # several blocks
    raw = [whole(part) for part in split(data, 0)]
    train, test = raw
    for step in steps:
        train, test = STEPS[step](train, train), STEPS[step](test, train)
    ours = prepared_split(data, Preparation(steps, 2.5), 0, np.float64)
    np.testing.assert_allclose(whole(ours.train), train, atol=1e-10)
    np.testing.assert_allclose(whole(ours.test), test, atol=1e-10)


def test_a_value_at_the_threshold_becomes_zero():
    X = np.tile([[0.25, 0.5, np.nextafter(0.5, 1)]], (50, 1))
    data = Dataset("made", InMemory(X), InMemory(np.zeros(50)), None)
    prepared = prepared_split(data, Preparation(("binarize",), 0.5), 0, np.float64)
    np.testing.assert_array_equal(whole(prepared.train)[0], [0, 0, 1])


def test_moments_survive_a_large_offset():
    X = np.random.default_rng(0).standard_normal((20_000, 2)) + 1e8
    data = Dataset("made", InMemory(X), InMemory(np.zeros(len(X))), None)
    prepared = whole(prepared_split(data, Preparation(("standardize",)), 0, np.float64).train)
    np.testing.assert_allclose(prepared.std(0), 1, atol=1e-6)


def test_constant_columns_and_zero_rows_stay_finite():
    X = np.zeros((50, 2))
    data = Dataset("made", InMemory(X), InMemory(np.zeros(50)), None)
    for step in ("standardize", "min_max", "unit_norm"):
        assert np.isfinite(whole(prepared_split(data, Preparation((step,)), 0, np.float32).train)).all()


def test_raw_numbers_are_divided_by_the_scale():
    np.testing.assert_allclose(whole(split(dataset(scale=2.0), 0)[0]), whole(split(dataset(), 0)[0]) / 2)


def test_a_missing_number_is_named():
    X = np.ones((50, 3))
    X[17, 2] = np.nan
    data = Dataset("made", InMemory(X), InMemory(np.zeros(50)), None, n_train=40)
    with pytest.raises(InputError, match="'made' has nan in row 18, column 3"):
        list(split(data, 0)[0].blocks())


def test_an_unknown_step_is_refused():
    with pytest.raises(InputError, match="did you mean 'standardize'"):
        Preparation(("standardise",))
