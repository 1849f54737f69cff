"""Prepared rows can be sent to another process: a copy by pickle reads the same bytes."""

import pickle

import numpy as np
import pytest

from rfbench.datasets import load
from rfbench.datasets.attention import head_config
from rfbench.datasets.prepare import FITTED, FIXED, Preparation, prepared_split

SIMULATED = {"rows": 1500, "test_rows": 200, "noise": 0.3, "noise_on": "train"}
CONFIGS = {
    "embedded": {"name": "wine"},
    "on disk": {"name": "yacht"},
    "synthetic": {"name": "synthetic", "distribution": "sparse", "rows": 2000, "columns": 8, "density": 0.3},
    "bits": {"name": "bits", "rows": 1100, "columns": 8},
    "five_gaussians": {"name": "five_gaussians", "field": "rotated", **SIMULATED},
    "low_rank": {"name": "low_rank", **SIMULATED},
    "sinc": {"name": "sinc", "frequency": 5.0, "rows": 50, "width": 4.0, "noise": 0.01},
    "pair": {"name": "a-b", "x": "a.npy", "y": "b.npy"},
    "attention": head_config({"length": 30, "columns": 4, "spread": 1.0}),
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    (tmp_path / "yacht").mkdir()
    np.savetxt(tmp_path / "yacht" / "data.txt", rng.random((308, 7)))
    for name, n in (("a", 40), ("b", 30)):
        np.save(tmp_path / f"{name}.npy", rng.standard_normal((n, 5)))
    monkeypatch.chdir(tmp_path)
    return str(tmp_path)


def content(split):
    """The bytes of all that tasks read."""
    for part in (split.train, split.test):
        blocks = [*part.blocks(), part.sample(20, np.random.default_rng(0)), part.take(np.array([0, 3, 9]))]
        yield [(X.dtype, X.shape, X.tobytes(), y.dtype, y.shape, y.tobytes()) for X, y in blocks]


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_copy_reads_the_same_bytes(kind, files):
    data = load(CONFIGS[kind], data_dir=files, download=False)
    split = prepared_split(data, Preparation(("standardize", "unit_norm")), 1, np.float32, train_rows=25)
    copy = pickle.loads(pickle.dumps(split))
    assert list(content(copy)) == list(content(split))
    rest, held_out = (part.divided(0.2, np.random.default_rng(0)) for part in (copy.train, split.train))
    assert [len(part) for part in rest] == [len(part) for part in held_out] == [20, 5]


def test_every_step_of_preparation_can_be_pickled(files):
    """Datasets of random rows are recipes: a copy takes no more than the test rows' index."""
    steps = (*FITTED, *FIXED, "binarize")
    data = load(CONFIGS["synthetic"], data_dir=None, download=False)
    split = prepared_split(data, Preparation(steps, 0.2), 0, np.float64)
    copied = pickle.dumps(split)
    assert list(content(pickle.loads(copied))) == list(content(split))
    assert len(copied) < 8 * len(split.train)
