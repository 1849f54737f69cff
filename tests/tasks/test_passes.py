"""The statistics of a task from passes over halves of the rows, each in a process that knows only a description."""

import multiprocessing
import pickle
from functools import partial

import numpy as np
import pytest
from support.passes import Range, in_a_process

from rfbench.datasets import load
from rfbench.datasets.base import Dataset, InMemory
from rfbench.datasets.prepare import Preparation, prepared_split
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.linalg.gram import FoldedGramSums, GramSums
from rfbench.sketches import make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks import make_task
from rfbench.tasks.rows import Centred, Targets


def passes(dtype="float32"):
    """(start, rows) of the statistics of every task."""
    X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    field = Dataset("field", InMemory(X), InMemory(np.c_[np.sin(3 * X[:, 0]), X[:, 1] ** 2]), None)
    diabetes, digits, fields = (
        prepared_split(data, Preparation(steps), 0, np.dtype(dtype)).train
        for data, steps in (
            (load({"name": "diabetes"}, data_dir=None, download=False), ("standardize", "unit_norm")),
            (load({"name": "digits"}, data_dir=None, download=False), ("unit_norm",)),
            (field, ()),
        )
    )
    polynomial, gaussian = make_kernel("polynomial", 3), make_kernel("gaussian", 1, length_scale=1.0)
    curl_free = make_kernel("curl_free", 1, length_scale=0.4)

    def draw(name, kernel, d, D):
        return Draw(make_sketch(name, kernel), d, D, 7, ("sketch", name, D, 0), dtype)

    gpr = draw("ctr_tensorsrht", polynomial, 10, 64)
    gpc = draw("complex_rff", gaussian, 64, 600)
    ridge, orff = draw("rff", gaussian, 64, 520), draw("orff_curl_free", curl_free, 2, 50)
    return {
        "gpr": (partial(GramSums, gpr), Centred(diabetes, 150.0)),
        "gpc": (partial(GramSums, gpc), make_task("gpc").groups(digits, np.zeros(10))[3]),
        "ridge": (partial(GramSums, ridge), Targets(digits, np.full(10, -0.8), signed=True)),
        "vector_field": (partial(FoldedGramSums, orff, 5), Targets(fields, np.array([0.1, -0.2]))),
    }


@pytest.mark.parametrize("task", ["gpr", "gpc", "ridge", "vector_field"])
def test_halves_of_the_rows_in_fresh_processes_merge_to_one_pass(task):
    start, rows = passes()[task]
    size, count = 40, -(-len(rows) // 40)
    assert count >= 4
    with Local(2).running() as engine:
        wanted = engine.accumulate(start, rows, size)
    halves = [Range(rows, size, part) for part in ((0, count // 2), (count // 2, count))]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        first, second = pool.map(in_a_process, [pickle.dumps((start, half, size)) for half in halves])
    watches = [(half if task != "vector_field" else half.folds[0]).watch["features"] for half in (first, second)]
    first.merge(second)
    pairs = [(first, wanted)] if task != "vector_field" else list(zip(first.folds, wanted.folds, strict=True))
    for found, one in pairs:
        assert found.n == one.n > 0
        assert found.squares == pytest.approx(one.squares)
        scale = np.abs(one.G).max()
        np.testing.assert_allclose(np.triu(found.G), np.triu(one.G), atol=1e-6 * scale)
        np.testing.assert_allclose(found.R, one.R, atol=1e-6 * np.abs(one.R).max())
        assert np.abs(one.R).max() > 0
    assert pairs[0][0].watch["features"] == sum(watches) > max(watches)
