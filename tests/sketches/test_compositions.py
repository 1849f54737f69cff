"""Sketches of several inputs, of sketches, and of more features than wanted: unbiased, and better at high degrees."""

import numpy as np
import pytest
from support import stats
from support.stats import LIMIT

from rfbench.checks import InputError
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import BASES, TupleMap

pytestmark = pytest.mark.medium

FEW = ("rademacher", "complex_gaussian", "ctr_gaussian", "tensorsrht", "complex_tensorsrht", "ctr_stacked_tensorsrht")


@pytest.mark.parametrize("base", FEW)
def test_product_sketch_of_different_inputs_estimates_the_outer_product(base):
    """⟨x ⊗ u, y ⊗ v⟩ = ⟨x, y⟩⟨u, v⟩, for inputs of 5 and of 9 columns."""
    rng = np.random.default_rng(0)
    X, U = np.abs(rng.standard_normal((4, 5))), np.abs(rng.standard_normal((4, 9)))
    outer = np.einsum("ni,nj->nij", X, U).reshape(4, -1)
    values = []
    for _ in range(4000):
        Phi = TupleMap(homogeneous(base, 1), (5, 9), 32, rng, np.float64)(X, U)
        assert Phi.shape == (4, 32)
        values.append(stats.of_pairs(Phi @ Phi.conj().T))
    values = np.array(values)
    k = stats.of_pairs(outer @ outer.T)
    assert stats.z_of_mean(values, k, values.var(0)) < LIMIT
    assert stats.z_of_mean(1.05 * values, k, values.var(0)) > LIMIT


@pytest.mark.parametrize("base", FEW)
@pytest.mark.parametrize("options", [{"shape": "sequential"}, {"shape": "tree"}, {"up": 3}], ids=str)
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_mean_is_the_kernel(base, options, degree, digits):
    X, name = digits[:8], "craft" if "up" in options else "hierarchical"
    kernel = make_kernel("polynomial", degree, gamma=0.5, bias=0.5)
    values = stats.estimates(make_sketch(name, kernel, base=base, **options), X, 96, 600, seed=degree)
    k = stats.of_pairs(kernel.gram(X, X))
    assert stats.z_of_mean(values, k, values.var(0)) < LIMIT
    assert stats.z_of_mean(1.3 * values, k, values.var(0)) > LIMIT


@pytest.mark.parametrize("shape", ["sequential", "tree"])
def test_pairs_are_combined_in_the_shape_asked_for(shape, digits):
    kernel = make_kernel("polynomial", 4, bias=0.0)
    features = make_sketch("hierarchical", kernel, shape=shape).sample(64, 32, np.random.default_rng(0), np.float64)
    first, second, last = features.pairs
    X = digits[:9]
    wanted = {
        "sequential": lambda: last(second(first(X, X), X), X),
        "tree": lambda: last(first(X, X), second(X, X)),
    }
    np.testing.assert_allclose(features(X), wanted[shape]())


@pytest.mark.parametrize("name", ["hierarchical", "craft"])
def test_they_beat_their_base_at_a_high_degree(name, digits):
    X, kernel = digits[:60], make_kernel("polynomial", 6)
    K = kernel.gram(X, X)

    def error(sketch):
        draws = (sketch.sample(64, 512, np.random.default_rng(seed), np.float64)(X) for seed in range(40))
        return np.median([np.linalg.norm(Phi @ Phi.T - K) for Phi in draws])

    assert error(make_sketch(name, kernel, base="tensorsrht")) < 0.9 * error(make_sketch("tensorsrht", kernel))


def test_what_is_no_product_sketch_is_refused():
    kernel = make_kernel("polynomial", 3)
    for name in ("hierarchical", "craft"):
        with pytest.raises(InputError, match="did you mean 'rademacher'"):
            make_sketch(name, kernel, base="rademacer")
    with pytest.raises(InputError, match="sequential or tree"):
        make_sketch("hierarchical", kernel, shape="bush")
    assert "ctr_ahle_tensorsrht" in BASES
