"""Splits and preparation: nothing of the test rows is learned, and every row is in one part."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.datasets.splits import Splitting, split


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


@pytest.mark.parametrize("n", [10, 506, 1001])
def test_the_split_of_scikit_learn_is_its_own(n):
    train, test = split(dataset(n), 7, splitting=Splitting("scikit_learn", 0.2, seed=123))
    theirs = train_test_split(np.arange(n), test_size=0.2, random_state=123)
    assert (set(rows_of(train)), set(rows_of(test))) == tuple(map(set, theirs))


def test_standard_splits_test_every_row_once():
    data = replace(dataset(), folds=InMemory((np.arange(500) * 7 % 10).astype(np.uint8)))
    tests = [rows_of(split(data, seed, splitting=Splitting("standard"))[1]) for seed in range(11)]
    assert sorted(np.concatenate(tests[:10])) == list(range(500))
    np.testing.assert_array_equal(tests[3], np.flatnonzero(data.folds.array == 3))
    np.testing.assert_array_equal(tests[10], tests[0])


def test_one_split_for_all_seeds_of_another_size():
    found = [rows_of(split(dataset(), seed, splitting=Splitting(fraction=0.5, seed=4))[1]) for seed in (0, 1)]
    assert len(found[0]) == 250
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("options", "word"),
    [({"rule": "standart"}, "standard"), ({"fraction": 1.0}, "test_fraction"), ({"seed": -1}, "seed")],
)
def test_a_wrong_split_is_refused(options, word):
    with pytest.raises(InputError, match=word):
        Splitting(**options)


@pytest.mark.parametrize("splitting", [Splitting("standard"), Splitting(fraction=0.2), Splitting("scikit_learn")])
def test_a_split_that_the_data_cannot_have_is_refused(splitting):
    with pytest.raises(InputError, match=r"dataset\.split=default"):
        split(dataset(n_train=400), 0, splitting=splitting)


def columns_of(part):
    return np.concatenate([X for X, _ in part.blocks()])


def test_preparation_may_be_fitted_to_all_rows_or_to_each_part():
    on = {name: prepared_split(dataset(), Preparation(("standardize",), fitted_on=name), 0, np.float64)
          for name in ("train", "all", "each")}  # fmt: skip
    joined = np.concatenate([columns_of(on["all"].train), columns_of(on["all"].test)])
    for rows in (columns_of(on["train"].train), joined, columns_of(on["each"].train), columns_of(on["each"].test)):
        np.testing.assert_allclose([rows.mean(0), rows.std(0)], [[0] * 3, [1] * 3], atol=1e-12)
    assert np.abs(columns_of(on["train"].test).mean(0)).max() > 0.01  # what "each" hides


@pytest.mark.parametrize("on", ["train", "all"])
def test_a_standardized_target_has_mean_0_and_variance_1_where_it_is_fitted(on):
    split = prepared_split(dataset(), Preparation((), target="standardize", fitted_on=on), 0, np.float64)
    y = rows_of(split.train) if on == "train" else np.concatenate([rows_of(split.train), rows_of(split.test)])
    np.testing.assert_allclose([y.mean(), y.std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose(np.concatenate(list(split.test.part.labels())), rows_of(split.test))


def test_classes_have_no_standardized_target():
    with pytest.raises(InputError, match="'made'"):
        prepared_split(replace(dataset(), classes=500), Preparation((), target="standardize"), 0, np.float64)
