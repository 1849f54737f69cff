"""Small Gaussian process problems for the tests of solvers and tasks."""

from dataclasses import dataclass

import numpy as np

from rfbench.engines import Local
from rfbench.kernels import KernelRecipe, make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.base import FeatureMap
from rfbench.tasks import make_task
from rfbench.tasks.gp.posterior import Model
from rfbench.tasks.gp.statistics import collect
from rfbench.tasks.rows import Held
from support.trial import make_trial, measured

SIGNAL, NOISE = 2.5, 0.3
RNG = np.random.default_rng(0)
X, X_NEW = RNG.standard_normal((90, 6)), RNG.standard_normal((25, 6))
Y = X @ RNG.standard_normal(6) + np.sin(3 * X[:, 0]) + 0.5 * RNG.standard_normal(90)
REGRESSION = Model(np.array([[1 / NOISE]]), np.ones((1, 1)), SIGNAL)


@dataclass(frozen=True)
class Given:
    """A feature map in place of the draw of one."""

    features: FeatureMap


class Fixed(FeatureMap):
    """Φ(x) = exp(xW): smooth features, real or complex, in two parts if asked."""

    def __init__(self, W, parts=1):
        self.W, self.number = W, parts
        (self.d, self.D), self.dtype = W.shape, W.dtype

    def write(self, X, out):
        out[...] = np.exp(X @ self.W) / np.sqrt(self.D)

    def parts(self):
        total = self.D
        for W in np.array_split(self.W, self.number, axis=1):
            part = Fixed(W)
            part.write = lambda X, out, W=W: np.divide(np.exp(X @ W), np.sqrt(total), out=out)
            yield part


def features(D, kind):
    rng = np.random.default_rng(1)
    W = 0.3 * rng.standard_normal((6, D))
    return Fixed(W + 1j * rng.standard_normal((6, D)) if kind == "complex" else W)


def posterior(features, X=X, y=Y, model=REGRESSION, group=None, new=X_NEW, workers=2, **options):
    """(class, mean, variance) at new rows, of rows in groups."""
    group = np.zeros(len(X), int) if group is None else group
    groups = [Held(X[group == g], y[group == g]) for g in range(model.W.shape[1])]
    with Local(workers, **options).running() as engine:
        fitted = collect(Given(features), groups, engine).posterior(model, engine)
        return type(fitted), *fitted(new, engine)


def run(task, split, name, D, workers=2, dtype=np.float64, kernel=None, sketch_options=None, **options):
    """(reference, measures) of a task."""
    task, kernel = make_task(task, **options), kernel or make_kernel("gaussian", 1, length_scale=2.0)
    some, _ = split.train.sample(1000, np.random.default_rng(0))
    with Local(workers).running() as engine:
        kernel = task.fit(KernelRecipe.of(kernel), split.train, 0, engine)
    sketch = make_sketch(name, kernel, **sketch_options or {}).adapt(some, D)

    with Local(workers).running() as engine:
        reference = task.reference(split, kernel, 0, engine)
        return reference, measured(task, make_trial(split, kernel, sketch, D, engine, dtype=dtype), reference)


def without_times(measures):
    return {metric: value for metric, value in measures.items() if not metric.endswith("_seconds")}
