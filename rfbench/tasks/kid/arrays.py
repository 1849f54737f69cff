"""The Kernel Inception Distance of two arrays, for programs."""

from typing import Any, NamedTuple

import numpy as np

from rfbench.checks import InputError, require
from rfbench.datasets.base import InMemory
from rfbench.datasets.pair import stacked
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import kernel_recipe
from rfbench.sketches import make_sketch
from rfbench.tasks.base import Trial, fitted
from rfbench.tasks.kid.task import KID


class Distance(NamedTuple):
    """An unbiased estimate of a squared MMD, and its standard error."""

    value: float
    standard_error: float


def kid(
    X: Any,
    Y: Any,
    degree: int = 3,
    features: int = 4096,
    *,
    gamma: float | None = None,
    coef0: float = 1.0,
    sketch: str = "ctr_tensorsrht",
    draws: int = 4,
    seed: int = 0,
) -> Distance:
    """The Kernel Inception Distance of the rows of X and Y: their squared MMD under (γ⟨x, y⟩ + ν)ᵖ, γ = 1/d by default.

    The value is the mean of `draws` sketches with so many features, in one pass over each set; it is that of
    `rfbench task=kid task.x=… task.y=… features=4096 task.resamples=4 seeds=[0]` in the precision of the rows.  The
    standard error covers both the choice of the rows and that of the sketches: another sample of rows from the same
    two distributions, with another seed, gives a value that varies by so much.
    """
    X, Y = as_rows("X", X), as_rows("Y", Y)
    if X.shape[1] != Y.shape[1]:
        raise InputError(f"X has {X.shape[1]} columns and Y {Y.shape[1]}; extract both with the same network")
    require(draws >= 2, "draws", "at least 2, which tell the error of a sketch", draws)
    dtype = np.result_type(X, Y)
    split = prepared_split(stacked("X and Y", [("X", InMemory(X)), ("Y", InMemory(Y))]), Preparation(()), seed, dtype)
    recipe = kernel_recipe("polynomial", degree, gamma="1/d" if gamma is None else gamma, bias=coef0)
    task = KID(resamples=draws)
    with Local().running() as engine:
        kernel = task.fit(recipe, split.train, seed, engine)
        found = make_sketch(sketch, kernel)
        if objection := found.objection(features) or task.objection(found, recipe):
            raise InputError(objection)
        found = fitted(found, split.train, features, seed)
        trial = Trial(split, kernel, found, X.shape[1], features, seed, engine, dtype.name, sketch)
        estimate = task.distances(trial)[0].of(0)
        return Distance(estimate.value, estimate.total)


def as_rows(name: str, X: Any) -> Any:
    """A finite matrix with at least two rows, in single or double precision."""
    from sklearn.utils import check_array

    return check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=2, input_name=name)
