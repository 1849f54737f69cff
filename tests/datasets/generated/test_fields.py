"""The simulated functions of several outputs: what they are, and that a row is the same however it is read."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.datasets.splits import split

COMMON = {"rows": 3000, "test_rows": 1000, "noise": 0.0, "noise_on": "train"}


def made(name, **changes):
    more = {"field": "gradient"} if name == "five_gaussians" else {}
    return load({"name": name, **COMMON, **more, **changes}, data_dir=None, download=False)


@pytest.mark.parametrize("name", ["five_gaussians", "low_rank"])
def test_labels_are_a_function_of_the_row_however_they_are_read(name):
    data = made(name, noise=0.5, rows=1050, test_rows=50)
    whole = data.y.read(0, 1100)
    assert whole.shape == data.y.shape == (1100, 2 if name == "five_gaussians" else 20)
    index = np.array([0, 3, 1023, 1024, 1049, 1050, 1099])
    np.testing.assert_allclose(data.y.take(index), whole[index], atol=1e-12)
    np.testing.assert_allclose(data.y.read(1000, 1080), whole[1000:1080], atol=1e-12)


def test_noise_is_on_training_rows_or_on_all():
    clean, train, every = (
        made("five_gaussians", noise=noise, noise_on=on).y.read(0, 4000)
        for noise, on in ((0, "all"), (0.3, "train"), (0.3, "all"))
    )
    np.testing.assert_array_equal(train[3000:], clean[3000:])
    np.testing.assert_array_equal(train[:3000], every[:3000])
    assert abs((every - clean).std() - 0.3) < 0.01
    np.testing.assert_allclose(np.corrcoef((every - clean).T), np.eye(2), atol=0.06)


def test_the_gradient_is_that_of_the_mixture_and_its_rotation_has_no_divergence():
    data, rotated = made("five_gaussians"), made("five_gaussians", field="rotated")
    X = data.X.read(0, 4000) * 2  # prepared rows are raw ones over the scale
    np.testing.assert_array_equal(split(data, 0)[0].sample(3000, np.random.default_rng(0))[0], X[:3000])

    def scalar(x):
        centres = ((0, 0, 1), (0, 1, 1), (0, -1, 1), (-1, 0, -1), (1, 0, -1))
        return sum(s * np.exp(-((x[:, 0] - a) ** 2 + (x[:, 1] - b) ** 2) / (2 * 0.4**2)) for a, b, s in centres)

    gradient = np.stack([(scalar(X + h) - scalar(X - h)) / 2e-5 for h in 1e-5 * np.eye(2)], axis=1)
    np.testing.assert_allclose(data.y.read(0, 4000), gradient, atol=1e-8)
    np.testing.assert_array_equal(
        rotated.y.read(0, 4000), np.c_[-1 * data.y.read(0, 4000)[:, 1], data.y.read(0, 4000)[:, 0]]
    )


def test_low_rank_outputs_are_multiples_of_one_vector_with_noise_of_the_stated_norm():
    clean, noisy = (made("low_rank", noise=noise).y.read(0, 1000) for noise in (0, 1))
    assert np.linalg.matrix_rank(clean, tol=1e-8) == 1
    covariance = np.cov((noisy - clean).T)
    assert np.linalg.norm(covariance, 2) == pytest.approx(clean.std(), rel=0.1)


def test_drawn_training_rows_are_some_of_them_and_others_for_every_seed():
    data = Dataset("made", InMemory(np.arange(1000.0)[:, None]), InMemory(np.arange(1000.0)), None)
    train, test = split(data, 3)
    some, same = split(data, 3, 50)
    assert len(some) == 50
    np.testing.assert_array_equal(test.index, same.index)
    X, y = (np.concatenate(column) for column in zip(*some.blocks(), strict=True))
    np.testing.assert_array_equal(X[:, 0], y)
    assert set(y) < set(np.concatenate([y for _, y in train.blocks()]))
    drawn = some.sample(50, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn[0][:, 0], y)
    np.testing.assert_array_equal(drawn[1], y)
    assert not np.array_equal(split(data, 4, 50)[0].index, some.index)
    assert len(split(data, 3, 5000)[0]) == 900
    assert len(prepared_split(data, Preparation(()), 3, float, 50).train) == 50


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"field": "gradiant"}, "gradient or rotated"),
        ({"noise": -1}, "dataset.noise"),
        ({"noise": "much"}, "dataset.noise"),
        ({"rows": 0}, "dataset.rows"),
        ({"noise_on": "test"}, "all or train"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, words):
    with pytest.raises(InputError, match=words):
        made("five_gaussians", **changes)
