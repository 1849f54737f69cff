"""The sets that scikit-learn carries: real data with no file to find and no network."""

import numpy as np

from rfbench.datasets.base import Dataset, InMemory


def load_embedded(name: str) -> Dataset:
    from sklearn import datasets

    # Unscaled: scikit-learn's own scaling of diabetes has seen the test rows.
    options = {"scaled": False} if name == "diabetes" else {}
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, **options)
    if name == "diabetes":
        return Dataset(name, InMemory(X), InMemory(y.astype(np.float64)), None)
    scale = 16.0 if name == "digits" else 1.0
    return Dataset(name, InMemory(X), InMemory(y.astype(np.int64)), int(y.max()) + 1, None, scale)
