"""The datasets that scikit-learn ships: real data without a download.

Its files are read without importing scikit-learn, because the import alone takes longer than the default experiment.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory


def load_embedded(name: str) -> Dataset:
    if name == "diabetes":  # unscaled: scikit-learn's scaling uses the test rows
        X, y = _numbers("diabetes_data_raw.csv.gz", None), _numbers("diabetes_target.csv.gz", None)
        return Dataset(name, InMemory(X), InMemory(y[:, 0]), None)
    if name == "digit_halves":  # the upper four lines of pixels, and the lower four to be predicted
        pixels = _numbers("digits.csv.gz")[:, :64] / 16
        return Dataset(name, InMemory(pixels[:, :32]), InMemory(pixels[:, 32:]), None)
    if name == "digits":
        table, scale = _numbers("digits.csv.gz"), 16.0
    else:
        file = {"wine": "wine_data.csv", "breast_cancer": "breast_cancer.csv"}[name]
        table, scale = _numbers(file, skip=1), 1.0
    y = table[:, -1].astype(np.int64)
    return Dataset(name, InMemory(table[:, :-1]), InMemory(y), int(y.max()) + 1, None, scale)


def _numbers(file: str, separator: str | None = ",", skip: int = 0) -> Array:
    spec = find_spec("sklearn")
    folder = Path((spec.submodule_search_locations or [""])[0] if spec else "", "datasets", "data")
    try:
        return np.loadtxt(folder / file, delimiter=separator, skiprows=skip, ndmin=2)
    except OSError:
        raise InputError(f"scikit-learn has no {file}; reinstall scikit-learn") from None
