"""Compact bilinear pooling and sketches of tuples against explicit outer products."""

import numpy as np
import pytest
from support import stats
from support.stats import LIMIT

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.products.pooling import bilinear_pooling, multimodal_pooling
from rfbench.sketches.products.tuples import BASES, TupleMap

RNG = np.random.default_rng(0)
INPUTS = [np.abs(RNG.standard_normal((3, d))) for d in (4, 7, 5)]
SETS = [np.abs(RNG.standard_normal((locations, 6))) for locations in (5, 1, 9)]
TEXTS = np.abs(RNG.standard_normal((3, 4)))


def outer(*inputs):
    """x₁ ⊗ ⋯ ⊗ x_p of every row."""
    product = inputs[0]
    for X in inputs[1:]:
        product = np.einsum("ni,nj->nij", product, X).reshape(len(X), -1)
    return product


def of_products(draw, wanted, draws):
    """Largest |z| of inner products of Φ over draws, from those of the explicit vectors."""
    values = []
    for seed in range(draws):
        Phi = draw(np.random.default_rng(seed))
        values.append(stats.of_pairs(Phi @ Phi.conj().T))
    values = np.array(values)
    k = stats.of_pairs(wanted @ wanted.T)
    assert stats.z_of_mean(1.4 * values, k, values.var(0)) > LIMIT  # the check has power
    return stats.z_of_mean(values, k, values.var(0))


@pytest.mark.parametrize("base", BASES)
def test_three_inputs_are_their_outer_product(base):
    def draw(rng):
        return TupleMap(base, (4, 7, 5), 64, rng, np.float64)(*INPUTS)

    assert of_products(draw, outer(*INPUTS), 250) < LIMIT


def test_one_input_thrice_is_the_product_sketch():
    """With the closed-form variance of the sketch of ⟨x, y⟩³."""
    X = INPUTS[0]
    Phis = (TupleMap("rademacher", (4, 4, 4), 64, np.random.default_rng(s), np.float64)(X, X, X) for s in range(2000))
    values = np.array([stats.of_pairs(Phi @ Phi.T) for Phi in Phis])
    sketch = make_sketch("rademacher", make_kernel("polynomial", 3, bias=0.0))
    variance = stats.of_pairs(sketch.closed_form.variance(X, X, 64))
    ratio, error = stats.variance_ratio(values, stats.of_pairs((X @ X.T) ** 3), variance)
    assert abs(ratio - 1) < 4 * error


def test_sketches_that_share_their_weights_are_seen():
    """The negative control: the product of one projection with itself does not sketch the outer product."""

    def draw(rng):
        W = rng.choice([-1.0, 1.0], (4, 64))
        return (INPUTS[0] @ W) ** 2 / 8

    with pytest.raises(AssertionError):
        assert of_products(draw, outer(INPUTS[0], INPUTS[0]), 400) < LIMIT


@pytest.mark.parametrize("name", ["ctr_tensorsrht", "tensorsketch"])
def test_pooled_sketches_estimate_bilinear_features(name):
    sketch = make_sketch(name, make_kernel("polynomial", 2, bias=0.0))
    explicit = np.array([outer(A, A).sum(0) for A in SETS])
    assert of_products(lambda rng: bilinear_pooling(sketch.sample(6, 64, rng, np.float64), SETS), explicit, 300) < LIMIT


@pytest.mark.parametrize("base", ["ctr_tensorsrht", "rademacher"])
def test_multimodal_pooling_estimates_the_sum_of_outer_products(base):
    explicit = np.array([outer(A, np.tile(t, (len(A), 1))).sum(0) for A, t in zip(SETS, TEXTS, strict=True)])

    def draw(rng):
        return multimodal_pooling(TupleMap(base, (6, 4), 64, rng, np.float64), SETS, TEXTS)

    assert of_products(draw, explicit, 300) < LIMIT
    features = TupleMap(base, (6, 4), 64, np.random.default_rng(0), np.float64)
    located = [features(A, np.tile(t, (len(A), 1))).sum(0) for A, t in zip(SETS, TEXTS, strict=True)]
    np.testing.assert_allclose(multimodal_pooling(features, SETS, TEXTS), located, atol=1e-10)


def test_pooling_is_the_sum_over_blocks():
    A = np.abs(RNG.standard_normal((300, 6))).astype(np.float32)
    features = make_sketch("tensorsrht", make_kernel("polynomial", 2)).sample(6, 32, np.random.default_rng(0))
    pooled = bilinear_pooling(features, [A, A[:10]])
    assert pooled.shape == (2, 32)
    assert pooled.dtype == np.float32
    np.testing.assert_allclose(pooled, [features(A).sum(0), features(A[:10]).sum(0)], rtol=1e-4)
