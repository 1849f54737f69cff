"""Small sets of rows, and the task kid on them."""

import numpy as np

from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.tasks import make_task
from support import zoo
from support.trial import make_trial

D, DEGREE = 32, 3
MACLAURIN = ("random_maclaurin", "optimized_maclaurin")
SKETCHES = [name for name in zoo.RANDOM if (zoo.CASES[name].kernel, zoo.CASES[name].degree) == ("polynomial", None)]
SKETCHES.remove("compressive")  # its mean is another kernel: that of projected rows, averaged


def sets(n=60, m=45, d=5, shift=0.3, seed=0):
    rng = np.random.default_rng(seed)
    return np.abs(rng.standard_normal((n, d))), np.abs(rng.standard_normal((m, d))) + shift


def split_of(X, Y, dtype=np.float64):
    rows = np.concatenate((X, Y))
    data = Dataset("made", InMemory(rows), InMemory(np.zeros(len(rows))), None, len(X))
    return prepared_split(data, Preparation(()), 0, dtype)


def double_loop(X, Y, k):
    """Gretton et al. 2012, Eq. 3, as printed."""

    def mean(A):
        pairs = [k(a, b) for i, a in enumerate(A) for j, b in enumerate(A) if i != j]
        return sum(pairs) / len(pairs)

    return mean(X) + mean(Y) - 2 * np.mean([k(a, b) for a in X for b in Y])


def standard(x, y, p=DEGREE):
    return (x @ y / len(x) + 1) ** p


def run(
    split, name="ctr_tensorsrht", D=D, workers=2, block_rows=256, dtype=np.float64, seed=0, degree=DEGREE, **options
):
    task = make_task("kid", **options)
    d = split.train.part.dataset.X.shape[1]
    kernel = make_kernel("polynomial", degree, gamma=1 / d)
    sample = next(iter(split.train.blocks()))[0]
    all_degrees = {"p_min": 10} if name == "optimized_maclaurin" else {}
    sketch = make_sketch(name, kernel, **all_degrees).adapt(sample, D)

    with Local(workers, block_rows).running() as engine:
        trial = make_trial(split, kernel, sketch, D, engine, seed=seed, dtype=dtype)
        measures = list(task.measure(trial, task.reference(split, kernel, seed, engine)))
    return {m.metric: m.value for m in measures}, {m.metric: m.message for m in measures}, trial.draw


def z(found, draws):
    return (found["kid"] - found["exact_kid"]) / (found["kid_std"] / np.sqrt(draws))
