import numpy as np
import pytest


@pytest.fixture(scope="session")
def bits():
    """60 different real rows of 64 bits, between 13 and 27 of them ones."""
    from sklearn.datasets import load_digits

    X = np.unique((load_digits().data[:200] > 8).astype(np.uint8), axis=0)
    X = X[np.random.default_rng(1).permutation(len(X))[:60]]
    X.flags.writeable = False
    return X
