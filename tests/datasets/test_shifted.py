"""Test rows unlike the training rows."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.datasets import load


def shifted(test, train="digits"):
    return load({"name": "shifted", "train": train, "test": test}, data_dir=None, download=False)


def test_training_rows_stay_and_test_rows_change():
    digits = load({"name": "digits"}, data_dir=None, download=False)
    X, y = digits.X.read(0, 1797) / digits.scale, digits.y.read(0, 1797)
    for name in ("negated", "gaussian"):
        data = shifted(name)
        n = data.n_train
        assert (n, data.X.shape, data.classes) == (1618, X.shape, 10)
        np.testing.assert_array_equal(data.X.read(0, n), X[:n])
        np.testing.assert_array_equal(data.y.read(0, 1797), y)
    np.testing.assert_array_equal(shifted("negated").X.read(1600, 1797), np.concatenate((X[1600:n], -X[n:])))
    np.testing.assert_array_equal(shifted("negated").X.take(np.array([3, 1700])), [X[3], -X[1700]])
    rows = shifted("gaussian").X.read(n, 1797)
    assert abs(rows.mean()) < 4 / np.sqrt(rows.size)
    assert abs(rows.var() - 1) < 4 * np.sqrt(2 / rows.size)


def test_other_columns_are_refused():
    with pytest.raises(InputError, match="'digits' has 64 columns and 'wine' 13"):
        shifted("wine")
    with pytest.raises(InputError, match=r"no dataset\.test=negatd; did you mean .negated.\?"):
        shifted("negatd")
    with pytest.raises(InputError, match=r"no dataset .digist.; did you mean .digits.\?"):
        shifted("digist")
