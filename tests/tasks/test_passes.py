"""How often a task reads its rows."""

import numpy as np
import pytest
from support.trial import make_trial, measured

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.tasks import make_task


class Counted:
    """Rows that count how many of them were read."""

    def __init__(self, array):
        self.array, self.shape, self.rows = array, array.shape, 0

    def read(self, start, stop):
        return self.take(np.arange(start, min(stop, len(self.array))))

    def take(self, index):
        self.rows += len(index)
        return self.array[index]


@pytest.mark.parametrize("D", [32, 700])
def test_ridge_with_a_penalty_reads_every_row_once_for_each_number_of_features(D):
    rng = np.random.default_rng(0)
    X = Counted(rng.standard_normal((3000, 4)))
    data = Dataset("made", X, InMemory(rng.standard_normal(3000)), None)
    split, kernel = (
        prepared_split(data, Preparation(("standardize",)), 0, np.float32),
        make_kernel("gaussian", 1, length_scale=1.0),
    )
    task = make_task("ridge", alpha=1e-3)
    with Local(2).running() as engine:
        reference = task.reference(split, kernel, 0, engine)
        trial = make_trial(split, kernel, make_sketch("sorf", kernel), D, engine)
        X.rows = 0
        measured(task, trial, reference)
    assert X.rows == 3000 + 300  # the test rows among the others, then those alone
