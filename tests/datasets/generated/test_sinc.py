"""The sinc function with noise: its formula, its noise, its split."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.splits import split

CONFIG = {"name": "sinc", "frequency": 2.0, "rows": 3000, "width": 3.0, "noise": 0.04}


def test_function_noise_and_split():
    data = load(CONFIG, data_dir=None, download=False)
    train, test = split(data, 0)
    (x, y), (grid, _) = next(train.blocks()), next(test.blocks())
    assert (len(train), len(test)) == (3000, 400)
    assert np.abs(x).max() <= 3
    np.testing.assert_allclose(grid[[0, -1], 0], [-4.5, 4.5])
    residual = y - np.sin(2 * x[:, 0]) / x[:, 0]
    assert abs(residual.mean()) < 4 * 0.2 / np.sqrt(3000)
    assert residual.var() == pytest.approx(0.04, rel=4 * np.sqrt(2 / 3000))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"frequency": 0}, "above 0"),
        ({"rows": 1}, "at least 2"),
        ({"width": "wide"}, "above 0"),
        ({"noise": -1}, "variance"),
    ],
)
def test_mistakes(change, words):
    with pytest.raises(InputError, match=words):
        load(CONFIG | change, data_dir=None, download=False)
