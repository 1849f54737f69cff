"""Large arrays in memory and in a file are the same."""

import numpy as np
import pytest
from support.gp import features

from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.linalg.spill import FeatureStore, Triangles
from rfbench.sketches import make_sketch
from rfbench.tasks.rows import Held

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("memory", [0, 1 << 23])
def test_triangles_are_read_as_they_were_written(memory):
    held = Triangles(3, 700, np.float32, memory)
    matrices = np.triu(np.random.default_rng(0).standard_normal((3, 700, 700)))
    with Local(2).running() as engine:
        for place in (2, 0, 1, 0):
            held.put(place, matrices[place], engine)
    assert (held.spill.file is None) == (memory > 0)
    for place in range(3):
        found = np.zeros((700, 700), np.float32)
        for j, panel in held.get(place):
            found[: j.stop, j] = panel
        np.testing.assert_array_equal(np.triu(found), matrices[place].astype(np.float32))


@pytest.mark.parametrize(
    ("kind", "options"),
    [("memory", {}), ("file", {"memory": 0}), ("computed again", {"memory": 0, "disk_share": 0.0})],
)
def test_features_are_the_same_from_memory_from_a_file_and_computed_again(kind, options):
    rng = np.random.default_rng(0)
    X, y, phi = rng.standard_normal((90, 6)), rng.standard_normal(90), features(150, "complex")
    with Local(3).running() as engine:
        store = FeatureStore(phi, Held(X, y), engine, entries=3000, least_rows=1, **options)
        first = list(store.first(lambda Phi, y: (Phi.copy(), y)))
        again = list(store.again(np.copy))
    where = "computed again" if store.spill is None else "file" if store.spill.file else "memory"
    assert where == kind
    assert [len(Phi) for Phi in again] == [20, 20, 20, 20, 10]
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in first]), y)
    np.testing.assert_allclose(np.concatenate([Phi for Phi, _ in first]), phi(X), rtol=1e-12)
    np.testing.assert_array_equal(np.concatenate(again), np.concatenate([Phi for Phi, _ in first]))


@pytest.mark.parametrize(("name", "where"), [("sorf", "computed again"), ("rff", "file")])
def test_structured_features_are_cheaper_than_a_file(name, where):
    """One row of 512 columns costs a dense frequency 1024 operations, a structured one 30."""
    phi = make_sketch(name, make_kernel("gaussian", 1, length_scale=1.0)).sample(512, 2048, RNG, np.float32)
    X = RNG.standard_normal((40, 512)).astype(np.float32)
    with Local(2).running() as engine:
        kept, small = FeatureStore(phi, Held(X, X), engine), FeatureStore(phi, Held(X, X), engine, memory=0)
    assert kept.spill
    assert kept.spill.held is not None
    assert where == ("file" if small.spill else "computed again")
