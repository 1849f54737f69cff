"""A noisy sinc function of one variable, an example for Gaussian process regression [Wacker 2022, 5.3.3].

Training rows are drawn from the middle of the interval; test rows are a grid over all of it and show how a model
extrapolates.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rfbench.checks import require
from rfbench.datasets.base import Dataset, InMemory
from rfbench.seeds import rng_for

TEST_ROWS = 400


def load_sinc(config: Mapping[str, Any]) -> Dataset:
    """y = sin(ax)/x + noise, x in [−w, w] for training and in [−1.5w, 1.5w] for testing."""
    a, n, w, noise = (config[key] for key in ("frequency", "rows", "width", "noise"))
    require(isinstance(a, int | float) and a > 0, "dataset.frequency", "above 0", a)
    require(isinstance(n, int) and n >= 2, "dataset.rows", "an integer of at least 2", n)
    require(isinstance(w, int | float) and w > 0, "dataset.width", "above 0", w)
    require(isinstance(noise, int | float) and noise >= 0, "dataset.noise", "a variance, at least 0", noise)
    rng = rng_for(0, "sinc", a, n, w, noise)
    x = np.concatenate((rng.uniform(-w, w, n), np.linspace(-1.5 * w, 1.5 * w, TEST_ROWS)))
    y = a * np.sinc(a * x / np.pi) + np.sqrt(noise) * rng.standard_normal(len(x))
    return Dataset("sinc", InMemory(x[:, None]), InMemory(y), None, n_train=n)
