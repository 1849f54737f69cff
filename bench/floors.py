"""Whole tasks against the BLAS and LAPACK calls that they cannot avoid, timed alternately in one process.

kernel_error  exact and estimated kernel matrix     one product of rows in double, one of features in single precision
gpr, ridge    one Gram matrix, one system           syrk, one Cholesky factor
gpc           ten classes                           syrk, ten Cholesky factors
kid           sums of features                      the features alone

fit_over_floor compares fitting alone, since the floor of Gaussian processes and ridge regression contains nothing else:
to predict the variance of ten classes at one row costs as much as to add ten rows to the Gram matrix.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.linalg import blas
from scipy.linalg import cholesky as lapack
from threadpoolctl import threadpool_limits
from timing import best_of, megabytes
from transforms import Row

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, Split, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches import FeatureMap, make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks import Task, Trial, make_task

SKETCH, CLASSES, TEST = "ctr_tensorsrht", 10, 1000
OPTIONS = {
    "kernel_error": {},
    "gpr": {"noise": 0.1, "reference_rows": 100},
    "gpc": {"alpha": 0.01, "reference_rows": 100},
    "ridge": {"alpha": 1e-6},
    "kid": {"resamples": 1, "subsets": 0, "exact_rows": 0},
}


@dataclass(frozen=True)
class DrawnTrial(Trial):
    """A trial that draws its map once."""

    @cached_property
    def drawn(self) -> Draw:
        return super().plan(0)

    def plan(self, k: int) -> Draw:
        return self.drawn

    def draw(self, k: int) -> FeatureMap:
        return self.drawn.features


def split_of(task: str, n: int, d: int) -> Split:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + TEST, d), np.float32) / np.float32(np.sqrt(d))
    y = X[:, 0].astype(float) if task == "gpr" else rng.integers(0, CLASSES, len(X))
    data = Dataset("bench", InMemory(X), InMemory(y), None if task == "gpr" else CLASSES, n)
    return prepared_split(data, Preparation(()), 0, np.float32)


def floor_of(task: str, n: int, d: int, D: int, engine: Local) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    rows, Phi = rng.standard_normal((TEST, d)), rng.standard_normal((min(n, 4096), D), np.float32)
    A = np.eye(D) * 2

    def call() -> None:
        with threadpool_limits(engine.workers):
            if task == "kernel_error":
                rows @ rows.T
                Phi[:TEST] @ Phi[:TEST].T
                return
            for _ in range(-(-n // len(Phi))):
                blas.ssyrk(1.0, Phi.T)
            for _ in range(CLASSES if task == "gpc" else 1):
                lapack(A, check_finite=False)

    return call


def measured(task: Task, trial: Trial, reference: object, fits: list[float]) -> None:
    fits += [measure.value for measure in task.measure(trial, reference) if measure.metric == "fit_seconds"]


def measure(n: int, d: int, D: int, turns: int) -> list[Row]:
    found = []
    kernel = make_kernel("polynomial", 3)
    sketch = make_sketch(SKETCH, kernel)
    for name, options in OPTIONS.items():
        task, split, fits = make_task(name, **options), split_of(name, n, d), list[float]()
        with Local().running() as engine:
            trial = DrawnTrial(split, kernel, sketch, d, D, 0, engine, name=SKETCH)
            features = trial.draw(0)
            call = partial(measured, task, trial, task.reference(split, kernel, 0, engine), fits)
            floor = floor_of(name, n, d, D, engine)
            if name == "kid":
                X, Phi = split.train.take(np.arange(n))[0], features.empty(n)
                floor = partial(engine.transform, features, X, Phi)
            seconds = best_of(turns, {"task": call, "floor": floor})
            memory = megabytes(call)
        found.append(
            {
                "task": name,
                "rows": n,
                "features": D,
                "over_floor": round(seconds["task"] / seconds["floor"], 2),
                "fit_over_floor": round(min(fits) / seconds["floor"], 2) if fits else "",
                "megabytes": round(memory),
            }
        )
    return found
