"""What every sketch promises, whatever it estimates."""

import numpy as np
import pytest
from support import zoo

from rfbench.config.files import choices
from rfbench.sketches import SKETCHES, make_sketch
from rfbench.sketches.base import CHUNK

D = 96


@pytest.fixture(params=zoo.CASES)
def name(request):
    return request.param


def draw(name, d, seed=0, dtype=np.float64, D=D):
    sketch = zoo.sketch_of(name)
    D = sketch.count(d, D)
    rows = np.random.default_rng(1).dirichlet(np.ones(d), 50)
    return sketch.adapt(rows, D).sample(d, D, np.random.default_rng(seed), dtype)


def test_one_class_one_yaml_one_line():
    assert set(zoo.CASES) == set(SKETCHES) == {name for name in choices("sketch") if "/" not in name}


def test_shape_and_dtype(name, digits):
    for dtype in (np.float32, np.float64):
        features = draw(name, 64, dtype=dtype)
        Phi = features(digits.astype(dtype))
        assert Phi.shape == (len(digits), features.D)
        assert Phi.dtype == features.dtype == np.result_type(dtype, np.complex64 if "complex" in name else dtype)


def test_the_recipe_says_what_a_draw_is(name, digits):
    sketch, features = zoo.sketch_of(name), draw(name, 64)
    assert sketch.is_complex == np.iscomplexobj(features(digits))
    assert sketch.explicit == features.explicit
    assert sketch.localized == bool(features.experts)
    assert sketch.by_degree == bool(features.counts)
    assert sum(features.counts.values()) in (0, features.D)
    assert (features.kernel is None) == (features.explicit or sketch.localized)
    assert bool(features.coupling) == name.startswith("orff_")
    X, Y = (features(Z) for Z in (digits[:5], digits[5:9]))
    if not features.coupling:
        assert np.allclose(features.product(X, Y), X @ Y.conj().T) == features.explicit


@pytest.mark.parametrize("base", ["rademacher", "complex_tensorsrht", "ctr_gaussian"])
@pytest.mark.parametrize("name", ["hierarchical", "craft", "random_maclaurin", "optimized_maclaurin"])
def test_a_sketch_over_a_complex_base_is_complex(name, base, digits):
    sketch = make_sketch(name, zoo.kernel_of(name), base=base)
    adapted = sketch.adapt(digits, D)
    assert sketch.is_complex == adapted.is_complex == base.startswith("complex_")
    assert np.iscomplexobj(adapted.sample(64, D, np.random.default_rng(0))(digits)) == sketch.is_complex


def test_only_identity_and_the_exact_kernel_are_not_random(name, digits):
    assert zoo.sketch_of(name).random == (name not in ("identity", "exact"))


def test_only_products_have_slopes(name):
    products = (*zoo.POLYNOMIAL, "tensorsketch", "complex_tensorsketch", "ctr_tensorsketch")
    products += ("mixed_weights", "circle_weights", *(name for name in zoo.CASES if "hamid" in name))
    assert zoo.sketch_of(name).factored == (name in products)


def test_same_seed_same_bits(name, digits):
    np.testing.assert_array_equal(draw(name, 64, 5)(digits), draw(name, 64, 5)(digits))


@pytest.mark.parametrize("name", zoo.RANDOM)
def test_another_seed_another_draw(name, digits):
    assert not np.allclose(draw(name, 64, 5)(digits), draw(name, 64, 6)(digits))


@pytest.mark.parametrize("name", [*zoo.RANDOM, "nystrom"])
def test_independent_draws_of_one_generator_differ(name, digits):
    rng, sketch = np.random.default_rng(0), zoo.sketch_of(name).adapt(digits, D)
    assert not np.allclose(sketch.sample(64, D, rng)(digits), sketch.sample(64, D, rng)(digits))


@pytest.mark.parametrize("rows", [1, 7, CHUNK["F"], CHUNK["C"] + 1])
def test_blocks_give_the_whole(name, digits, rows):
    features = draw(name, 64)
    blocks = [features(digits[i : i + rows]) for i in range(0, len(digits), rows)]
    np.testing.assert_allclose(np.concatenate(blocks), features(digits), rtol=1e-11, atol=1e-13)


def test_rows_do_not_see_each_other(name, digits):
    features = draw(name, 64)
    other = digits.copy()
    other[1:] = 0.5
    np.testing.assert_allclose(features(other)[0], features(digits)[0], rtol=1e-12)


def test_both_precisions_have_the_same_weights(name, digits):
    single, double = (draw(name, 64, dtype=dtype)(digits.astype(dtype)) for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(single, double, atol=2e-5)


def test_input_is_untouched_and_may_be_read_only(name, digits):
    before = digits.copy()
    draw(name, 64)(digits)
    np.testing.assert_array_equal(digits, before)


def test_global_random_state_is_left_alone(name, digits):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    draw(name, 64)(digits)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_writes_into_a_given_array_of_either_layout(name, digits):
    features = draw(name, 64)
    for order in "CF":
        out = np.empty((len(digits), features.D), features.dtype, order=order)
        assert features(digits, out) is out
        np.testing.assert_array_equal(out, features(digits))


def test_recipes_are_hashable_values(name):
    assert zoo.sketch_of(name) == zoo.sketch_of(name)
    assert hash(zoo.sketch_of(name)) == hash(zoo.sketch_of(name))
    has_degree = zoo.CASES[name].kernel.startswith("polynomial") and not zoo.CASES[name].degree
    assert (zoo.sketch_of(name, degree=2) != zoo.sketch_of(name, degree=3)) == has_degree


@pytest.mark.parametrize("name", [name for name in zoo.POLYNOMIAL if name.startswith("ctr_")])
def test_an_odd_number_of_complex_to_real_features_is_refused_in_words(name):
    assert "even" in zoo.sketch_of(name).objection(7)
    assert zoo.sketch_of(name).objection(8) is None
