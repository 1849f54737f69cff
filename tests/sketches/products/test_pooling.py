"""Compact bilinear pooling and sketches of tuples against explicit outer products."""

import numpy as np
import pytest
from support import stats
from support.stats import LIMIT

from rfbench.kernels import make_kernel
from rfbench.kernels.pooled import Patches
from rfbench.sketches import make_sketch, pooled, pooled_kernel
from rfbench.sketches.products.pooling import linear_factor
from rfbench.sketches.products.powers import homogeneous
from rfbench.sketches.products.tuples import BASES, TupleMap

RNG = np.random.default_rng(0)
INPUTS = [np.abs(RNG.standard_normal((3, d))) for d in (4, 7, 5)]
GREY = np.abs(RNG.standard_normal((3, 36)))  # images of 6 × 6 pixels
COLOUR = np.abs(RNG.standard_normal((3, 75)))  # of 5 × 5 pixels with three colours
SKETCHES = ("rademacher", "tensorsrht", "ctr_tensorsrht", "complex_rademacher", "tensorsketch", "ctr_tensorsketch")


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
        return TupleMap(homogeneous(base, 1), (4, 7, 5), 64, rng, np.float64)(*INPUTS)

    assert of_products(draw, outer(*INPUTS), 250) < LIMIT


def test_one_input_thrice_is_the_product_sketch():
    """With the closed-form variance of the sketch of ⟨x, y⟩³."""
    X = INPUTS[0]
    one = homogeneous("rademacher", 1)
    Phis = (TupleMap(one, (4, 4, 4), 64, np.random.default_rng(s), np.float64)(X, X, X) for s in range(2000))
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


@pytest.mark.parametrize("name", ["tensorsketch", "complex_tensorsketch", "ctr_tensorsketch"])
def test_count_sketches_of_three_inputs_are_convolved(name):
    one = linear_factor(make_sketch(name, make_kernel("polynomial", 3, bias=0.0)))

    def draw(rng):
        return TupleMap(one, (4, 7, 5), 64, rng, np.float64)(*INPUTS)

    assert of_products(draw, outer(*INPUTS), 250) < LIMIT


def patches_of(x, side, stride, colours=1, rows=None):
    """The patches of one image, by a loop over their corners."""
    s = round((len(x) / colours) ** 0.5)
    image = x.reshape(s, s, colours)[:rows]
    corners = [(i, j) for i in range(0, len(image) - side + 1, stride) for j in range(0, s - side + 1, stride)]
    # Patches, Multimodal and explicit products agree up to the order of the pixels within a patch.
    return np.array([image[i : i + side, j : j + side].transpose(2, 0, 1).ravel() for i, j in corners])


@pytest.mark.parametrize(("side", "stride"), [(3, 1), (4, 2), (2, 3), (6, 1)])
def test_patches_are_the_squares_of_an_image(side, stride):
    for X, colours in ((GREY, 1), (COLOUR, 3)):
        if side <= 5 or colours == 1:
            wanted = [patches_of(x, side, stride, colours) for x in X]
            np.testing.assert_array_equal(Patches(side, stride)(X), wanted)


def test_without_a_side_the_image_is_one_patch():
    np.testing.assert_array_equal(Patches(None)(GREY)[:, 0], GREY)
    halves = Patches(None, halves=True)
    np.testing.assert_array_equal(np.hstack((halves(GREY)[:, 0], halves.second(GREY))), GREY)


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian", "square"])
@pytest.mark.parametrize(("X", "side", "stride"), [(GREY, 3, 1), (GREY, 4, 2), (COLOUR, 3, 2)], ids=str)
def test_the_pooled_kernel_is_a_double_loop_over_patches(kernel, X, side, stride):
    """With second moments and without: 9 columns and 16 patches, 16 and 4, 27 and 4."""
    base = {
        "polynomial": make_kernel("polynomial", 3, gamma=0.5, bias=0.3),
        "gaussian": make_kernel("gaussian", 1, length_scale=2.0),
        "square": make_kernel("polynomial", 2, gamma=0.5, bias=0.3),
    }[kernel]
    sets = [patches_of(x, side, stride, 3 if X is COLOUR else 1) for x in X]
    wanted = [[sum(base.gram(a[None], b[None])[0, 0] for a in A for b in B) for B in sets] for A in sets]
    np.testing.assert_allclose(pooled_kernel(base, Patches(side, stride)).gram(X, X), wanted, rtol=1e-10)


@pytest.mark.parametrize(("gamma", "bias"), [(1.0, 0.0), (0.5, 0.7)])
def test_the_multimodal_kernel_is_that_of_explicit_outer_products(gamma, bias):
    base, patches = make_kernel("polynomial", 2, gamma=gamma, bias=bias), Patches(2, 1, halves=True)

    def appended(A):
        return np.column_stack((np.sqrt(gamma) * A, np.full(len(A), np.sqrt(bias))))

    def explicit(x):
        A, t = appended(patches_of(x, 2, 1, rows=3)), appended(x[None, 18:])
        return outer(A, np.tile(t, (len(A), 1))).sum(0)

    wanted = np.array([explicit(x) for x in GREY])
    np.testing.assert_allclose(pooled_kernel(base, patches).gram(GREY, GREY), wanted @ wanted.T, rtol=1e-10)


@pytest.mark.parametrize("name", SKETCHES)
@pytest.mark.parametrize("halves", [False, True])
def test_pooled_features_estimate_outer_products(name, halves):
    """Σ a ⊗ a of all patches, and Σ a ⊗ t with the lower half, explicitly."""
    kernel, patches = make_kernel("polynomial", 2, bias=0.0), Patches(2, 1, halves=halves)
    sets = [patches_of(x, 2, 1, rows=3 if halves else None) for x in GREY]
    others = [np.tile(x[18:], (len(A), 1)) if halves else A for x, A in zip(GREY, sets, strict=True)]
    explicit = np.array([outer(A, B).sum(0) for A, B in zip(sets, others, strict=True)])
    sketch = pooled(make_sketch(name, kernel), kernel, patches)
    assert of_products(lambda rng: sketch.sample(36, 64, rng, np.float64)(GREY), explicit, 300) < LIMIT


@pytest.mark.parametrize("name", ["ctr_tensorsrht", "ctr_tensorsketch"])
@pytest.mark.parametrize("halves", [False, True])
def test_pooled_features_with_a_bias_have_the_mean_of_their_kernel(name, halves):
    kernel, patches = make_kernel("polynomial", 2, gamma=0.5, bias=0.7), Patches(2, 1, halves=halves)
    sketch, K = pooled(make_sketch(name, kernel), kernel, patches), pooled_kernel(kernel, patches).gram(GREY, GREY)
    values = stats.estimates(sketch, GREY, 64, 400, 0).real
    assert stats.z_of_mean(values, stats.of_pairs(K), values.var(0)) < LIMIT
    assert stats.z_of_mean(1.3 * values, stats.of_pairs(K), values.var(0)) > LIMIT


def test_one_patch_is_the_sketch_itself():
    kernel = make_kernel("polynomial", 2)
    whole, plain = pooled(make_sketch("tensorsrht", kernel), kernel, Patches(None)), make_sketch("tensorsrht", kernel)
    Phi, Psi = (sketch.sample(36, 32, np.random.default_rng(0), np.float64)(GREY) for sketch in (whole, plain))
    np.testing.assert_allclose(Phi, Psi)


@pytest.mark.parametrize("name", ["rademacher", "ctr_tensorsrht", "tensorsketch", "complex_rademacher", "rff"])
@pytest.mark.parametrize("side", [2, 5])
def test_pooled_features_are_the_sum_over_patches(name, side):
    """With more patches than a block of rows, 361 of 20 × 20 pixels, and with fewer, 256."""
    X = RNG.standard_normal((21, 400)).astype(np.float32)
    kernel = make_kernel(*(("gaussian", 1) if name == "rff" else ("polynomial", 2)))
    features = pooled(make_sketch(name, kernel), kernel, Patches(side)).sample(400, 32, np.random.default_rng(0))
    wanted = [features.base(patches_of(x, side, 1)).sum(0, dtype=complex) for x in X]
    np.testing.assert_allclose(features(X), wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max())


def test_the_exact_pooled_kernel_needs_no_features():
    kernel, patches = make_kernel("polynomial", 2), Patches(3)
    features = pooled(make_sketch("exact", kernel), kernel, patches).sample(36, 0, RNG, np.float64)
    np.testing.assert_allclose(features.product(GREY, GREY), pooled_kernel(kernel, patches).gram(GREY, GREY))
