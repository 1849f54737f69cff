"""Features against the definition: a double loop that shares no code with the program."""

import numpy as np
import pytest
from scipy.linalg import hadamard
from support import oracles

from rfbench.arrays import padded
from rfbench.sketches.products.hadamard import factors, transform
from rfbench.sketches.products.product import ProductSketch
from rfbench.sketches.products.tensor_srht import TILE, StackedTensorSRHT, TensorSRHT
from rfbench.sketches.products.weights import COMPLEX_GAUSSIAN, COMPLEX_RADEMACHER, GAUSSIAN, RADEMACHER
from rfbench.sketches.wrappers import ComplexToRealMap

LAWS = {
    "gaussian": GAUSSIAN,
    "rademacher": RADEMACHER,
    "cgaussian": COMPLEX_GAUSSIAN,
    "crademacher": COMPLEX_RADEMACHER,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("p", [1, 2, 5])
def test_product_features(wine, law, p):
    features = ProductSketch(p, LAWS[law]).sample(13, 10, np.random.default_rng(0), np.float64)
    np.testing.assert_allclose(features(wine), oracles.product_features(wine, features.W), atol=1e-13)


@pytest.mark.parametrize("law", ["rademacher", "crademacher"])
@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("D", [1, 10, 16, 40])
def test_tensorsrht_features(wine, law, p, D):
    features = TensorSRHT(p, LAWS[law]).sample(13, D, np.random.default_rng(0), np.float64)
    expected = oracles.srht_features(wine, features.signs, features.index)
    np.testing.assert_allclose(features(wine), expected, atol=1e-13)


@pytest.mark.parametrize("law", ["rademacher", "crademacher"])
@pytest.mark.parametrize("d", [12, 60, 300])  # transforms of one to three factors, which end in different buffers
def test_tensorsrht_features_of_several_tiles(law, d):
    X = np.random.default_rng(1).standard_normal((3, d))
    features = TensorSRHT(3, LAWS[law]).sample(d, 2 * TILE + 5, np.random.default_rng(0), np.float64)
    expected = oracles.srht_features(X, features.signs, features.index)
    np.testing.assert_allclose(features(X), expected, atol=1e-11)
    if law == "crademacher":
        halves = np.hstack((expected.real, expected.imag))
        np.testing.assert_allclose(ComplexToRealMap(features)(X), halves, atol=1e-11)


@pytest.mark.parametrize("D", [10, 16, 40])
def test_upsampled_indices_are_balanced(D):
    index = TensorSRHT(4, RADEMACHER).sample(13, D, np.random.default_rng(0)).index
    counts = np.array([np.bincount(row, minlength=16) for row in index])
    assert counts.max() <= -(-D // 16)
    assert not np.array_equal(index[0], index[1])


def test_stacked_blocks_are_full_and_independent():
    features = StackedTensorSRHT(2, RADEMACHER).sample(13, 40, np.random.default_rng(0))
    assert [part.D for part in features.maps] == [16, 16, 8]
    for part in features.maps:
        assert all(len(np.unique(row)) == part.D for row in part.index)


@pytest.mark.parametrize("d", [2**bits for bits in range(13)])
def test_hadamard_by_products(d):
    U = np.random.default_rng(0).standard_normal((d, 3))
    assert np.prod(factors(d)) == d
    assert max(factors(d)) <= 16
    np.testing.assert_allclose(transform(U.copy(), np.empty_like(U), d)[0], hadamard(d) @ U, atol=1e-9)


@pytest.mark.parametrize(("d", "rows"), [(2, 1), (64, 33), (128, 65), (512, 1), (512, 257), (2048, 1025), (8192, 4500)])
def test_hadamard_of_padding_needs_no_zeros(d, rows):
    U = np.full((d, 2), np.nan)  # whatever a buffer held before
    U[:rows] = np.random.default_rng(0).standard_normal((rows, 2))
    wanted = hadamard(d)[:, :rows] @ U[:rows]
    np.testing.assert_allclose(transform(U, np.full_like(U, np.nan), rows)[0], wanted, atol=1e-9)


def test_padding_is_the_next_power_of_two():
    assert [padded(d) for d in (1, 2, 3, 784, 785, 1024, 1025)] == [1, 2, 4, 1024, 1024, 1024, 2048]


def test_weights_have_the_moments_they_state():
    rng = np.random.default_rng(0)
    for name, law in LAWS.items():
        w = law.draw((400_000,), rng, np.float64)
        assert abs(w.mean()) < 0.01, name
        assert abs((np.abs(w) ** 2).mean() - 1) < 0.02, name
        assert abs((np.abs(w) ** 4).mean() - law.kurtosis) < 0.1, name
        assert abs(abs((w**2).mean()) - np.sqrt(law.t)) < 0.02, name
    assert set(np.unique(COMPLEX_RADEMACHER.draw((100,), rng, np.float64))) == {1, -1, 1j, -1j}
