"""Measured tails against a loop over draws and pairs; features that suffice and that theorems demand."""

from dataclasses import replace

import numpy as np
import pytest
from support.trial import curve_of, make_trial, measured

from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import kernel_recipe, make_kernel
from rfbench.sketches import make_sketch, theorems_of
from rfbench.sketches.draw import Draw
from rfbench.tasks import make_task
from rfbench.tasks.bounds import GRID


@pytest.fixture(scope="module")
def split():
    X = np.random.default_rng(0).standard_normal((300, 3))
    return prepared_split(Dataset("drawn", InMemory(X), InMemory(X[:, 0]), None), Preparation(()), 0, np.float64)


def run(task, name, kernel, split, D=64):
    with Local(2).running() as engine:
        trial = make_trial(split, kernel, make_sketch(name, kernel), D, engine)
        reference = task.reference(split, kernel, 0, engine)
        return reference, measured(task, trial, reference), trial


@pytest.mark.parametrize(
    ("name", "kernel"), [("rff", "gaussian"), ("orff_curl_free", "curl_free"), ("complex_rff", "gaussian")]
)
def test_tails_are_counted_over_draws_and_pairs(name, kernel, split):
    task, kernel = make_task("bounds", draws=20, rows=8, most=64), make_kernel(kernel, 1, length_scale=1.5)
    (X, K, _), found, trial = run(task, name, kernel, split)
    p, errors = len(K) // len(X), []
    for k in range(20):
        features = Draw(trial.sketch, 3, 64, 0, ("bounds", "test", 64, k), "float64")()
        error = features.product(features(X), features(X)).real - K
        for i in range(len(X)):
            for j in range(i, len(X)):
                block = error[i * p : i * p + p, j * p : j * p + p]
                errors.append(np.linalg.norm(block, 2) / np.linalg.norm(kernel.gram(X[:1], X[:1]), 2))
    errors = np.array(errors).reshape(20, -1)
    assert found["tail"] == pytest.approx(np.mean(errors > 0.2))
    assert found["tail_sup"] == pytest.approx(np.mean(errors.max(1) > 0.2))
    levels, tail = curve_of(trial, "tail")
    assert levels == pytest.approx(GRID)
    assert tail == pytest.approx([(errors > level).mean() for level in GRID])
    for theorem in theorems_of(trial.sketch, kernel, X):
        assert found[f"bound_{theorem.name}"] == theorem.bound(0.2, 64)
        assert curve_of(trial, f"bound_{theorem.name}")[1][-1] == theorem.bound(GRID[-1], 64)


def test_features_that_suffice_are_fewer_than_those_demanded(split):
    """Chebyshev's inequality is within a factor of a hundred; the least power of two has a tail of at most δ."""
    task, kernel = make_task("bounds", draws=60, rows=10, delta=0.05), make_kernel("gaussian", 1, length_scale=1.0)
    reference, found, trial = run(task, "rff", kernel, split)
    enough = int(found["sufficient"])
    assert enough < found["demanded_chebyshev"] < 100 * enough
    assert enough <= found["sufficient_sup"] < found["demanded_rahimi_recht"]
    with Local(1).running() as engine:
        trial = replace(trial, engine=engine)
        tails = [task._tails(trial, reference, np.array([0.2]), D)[0][0] for D in (enough // 2, enough)]
    assert tails[1] <= 0.05 < tails[0]


def test_what_is_not_reached_says_so(split):
    task, kernel = make_task("bounds", draws=10, rows=6, epsilon=0.01, most=8), make_kernel("gaussian", 1)
    with Local(1).running() as engine:
        trial = make_trial(split, kernel, make_sketch("compressive_rff", kernel), 16, engine)
        measures = {m.metric: m for m in task.measure(trial, task.reference(split, kernel, 0, engine))}
    assert np.isnan(measures["sufficient"].value)
    assert "task.most=8" in measures["sufficient"].message
    assert "vacuous" in measures["demanded_chang_2"].message


@pytest.mark.parametrize("name", ["sorf", "exact", "localized_maclaurin"])
def test_a_sketch_without_a_theorem_is_refused(name):
    recipe = kernel_recipe("gaussian", 1, length_scale="median")
    assert "no theorem" in make_task("bounds").objection(make_sketch(name, recipe.provisional()), recipe)
    assert make_task("bounds").objection(make_sketch("rff", recipe.provisional()), recipe) is None


def test_wrong_options_are_refused():
    for option, value in (("epsilon", 0.0), ("delta", 1.0), ("rows", 1), ("draws", 2), ("most", 1)):
        with pytest.raises(InputError, match=rf"task\.{option}"):
            make_task("bounds", **{option: value})
