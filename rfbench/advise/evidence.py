"""What advice is based on: training rows alone, some to fit sketches and some held out to predict their errors."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset
from rfbench.datasets.prepare import Prepared, prepared_split
from rfbench.job import Job
from rfbench.kernels import Kernel
from rfbench.seeds import rng_for

ROWS = 200  # held-out rows, all of whose pairs count
FITTED_ROWS = 4000  # training rows at most to which a sketch is fitted; a run may take more
MATRIX_ROWS = 1000  # rows of the kernel matrix whose error is predicted, unless the task says so
SEED = 0  # of the split; advice does not depend on the seeds of a run


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows for one kernel."""

    kernel: Kernel
    train: Prepared  # the rows to which sketches are fitted
    X: Array  # held-out rows
    n: int  # rows of the kernel matrix
    dtype: np.dtype[Any]

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def fitting_rows(self) -> Array:
        return self.train.sample(FITTED_ROWS, rng_for(SEED, "kernel"))[0]

    @cached_property
    def scale(self) -> float:
        """Σ k(x, y)² in the units of `total`."""
        return self.total(self.squares(self.kernel.gram(self.X, self.X)))

    def squares(self, K: Array) -> Array:
        """|k|² of every pair, summed over the entries of a matrix-valued kernel."""
        p = len(K) // len(self.X)
        return np.sum(np.abs(K.reshape(len(self.X), p, len(self.X), p)) ** 2, axis=(1, 3))

    def total(self, A: Array) -> float:
        """The sum over a matrix of n rows divided by n, times the rows of A, of which A is a sample.

        The diagonal of a matrix of n rows has the share 1/n of its entries, that of A a larger one.
        """
        trace = float(np.trace(A))
        return trace + (self.n - 1) / max(len(A) - 1, 1) * (float(A.sum()) - trace)


def observe(job: Job, dataset: Dataset) -> Evidence:
    """The evidence for the data and the kernel of a job."""
    if job.preparation.threshold is None:
        raise InputError("advice needs a number for dataset.threshold, not validation")
    split = prepared_split(dataset, job.preparation, SEED, job.dtype, job.config["train_rows"])
    if len(split.train) < 10:
        raise InputError(f"advice needs at least 10 training rows; dataset '{dataset.name}' has {len(split.train)}")
    with job.engine.running():
        kernel = job.task.fit(job.kernel, split.train, SEED, job.engine)
    rest, held_out = split.train.divided(min(ROWS / len(split.train), 0.2), rng_for(SEED, "advise"))
    X, _ = held_out.sample(ROWS, rng_for(SEED, "advise", "rows"))
    if objection := kernel.objection(X):
        raise InputError(objection)
    n = min(getattr(job.task, "rows", MATRIX_ROWS), len(split.test)) // kernel.size(X.shape[1])
    return Evidence(kernel, rest, X, max(n, 2), job.dtype)
