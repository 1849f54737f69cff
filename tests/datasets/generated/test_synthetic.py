"""Random rows follow their laws, and a row does not depend on how it is read."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.generated.synthetic import BLOCK, LAWS

CONFIG = {"name": "synthetic", "distribution": "gaussian", "rows": 5000, "columns": 16, "density": 0.1}


def rows(**changes):
    return load({**CONFIG, **changes}, data_dir=None, download=False)


@pytest.mark.parametrize("law", LAWS)
def test_blocks_of_any_size_join_to_the_same_rows(law):
    X = rows(distribution=law).X
    whole = X.read(0, 5000)
    assert whole.shape == X.shape == (5000, 16)
    for size in (1, 777, 1024, 4999):
        stops = range(0, 5000, size) if size > 1 else range(3)
        parts = [X.read(start, start + size) for start in stops]
        np.testing.assert_array_equal(np.concatenate(parts), whole[: sum(map(len, parts))])
    index = np.array([0, 3, 1023, 1024, 2500, 4999])
    np.testing.assert_array_equal(X.take(index), whole[index])
    np.testing.assert_array_equal(rows(distribution=law, rows=50_000).X.read(0, 5000), whole)


@pytest.mark.parametrize("law", [law for law in LAWS if law != "ones"])
def test_blocks_are_independent(law):
    """Two blocks share hardly more entries, and correlate no more, than chance allows."""
    X = rows(distribution=law).X
    first, second = X.read(0, BLOCK), X.read(BLOCK, 2 * BLOCK)
    z = np.corrcoef(first.ravel(), second.ravel())[0, 1] * np.sqrt(first.size)
    assert abs(z) < 4.8
    assert (first != second).any(1).mean() > 0.5


@pytest.mark.parametrize("law", ["sphere", "ones", "one_hot"])
def test_rows_on_the_unit_sphere(law):
    np.testing.assert_allclose(np.linalg.norm(rows(distribution=law).X.read(0, 5000), axis=1), 1)


def test_gaussian_and_sphere_have_their_covariance():
    for law, variance in (("gaussian", 1), ("sphere", 1 / 16)):
        X = rows(distribution=law).X.read(0, 5000)
        np.testing.assert_allclose(X.T @ X / 5000, variance * np.eye(16), atol=0.1 * variance)


def test_sparse_has_its_density():
    for density in (0.1, 0.5, 1.0):
        X = rows(distribution="sparse", density=density).X.read(0, 5000)
        assert abs((X != 0).mean() - density) < 5 * np.sqrt(0.25 / X.size)


def test_one_hot_uses_every_column():
    X = rows(distribution="one_hot").X.read(0, 5000)
    assert (X.sum(axis=0) > 5000 / 16 / 2).all()
    assert set(np.unique(X)) == {0, 1}


def test_target_is_a_function_of_the_row():
    data = rows()
    np.testing.assert_array_equal(data.y.read(10, 20), data.X.read(10, 20)[:, 0])
    np.testing.assert_array_equal(data.y.take(np.array([4, 4000])), data.X.take(np.array([4, 4000]))[:, 0])
    assert data.y.shape == (5000,)
    assert data.classes is None


@pytest.mark.parametrize(
    "bad", [{"distribution": "gausian"}, {"rows": 1}, {"columns": 0}, {"density": 0}, {"density": 1.5}, {"rows": 2.5}]
)
def test_what_cannot_be_drawn_is_refused(bad):
    with pytest.raises(InputError):
        rows(**bad)
