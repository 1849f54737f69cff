"""What every sketch promises, whatever it estimates."""

from functools import cache

import numpy as np
import pytest
from support import zoo

from rfbench.commands.check import rows
from rfbench.config.files import choices
from rfbench.sketches import SKETCHES, make_sketch
from rfbench.sketches.contract import CHECKS, Subject

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


@cache
def subject(name):
    sketch, X = zoo.sketch_of(name), rows()
    return Subject(sketch, zoo.kernel_of(name), X, sketch.count(X.shape[1], 64), draws=250)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract(name, check):
    assert check(subject(name)) is None


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


def test_only_three_are_not_random(name, digits):
    assert zoo.sketch_of(name).random == (name not in ("identity", "exact", "quadrature"))


def test_only_products_have_slopes(name):
    products = (*zoo.POLYNOMIAL, "tensorsketch", "complex_tensorsketch", "ctr_tensorsketch")
    products += ("mixed_weights", "circle_weights", *(name for name in zoo.CASES if "hamid" in name))
    assert zoo.sketch_of(name).factored == (name in products)


def test_recipes_are_hashable_values(name):
    assert zoo.sketch_of(name) == zoo.sketch_of(name)
    assert hash(zoo.sketch_of(name)) == hash(zoo.sketch_of(name))
    has_degree = zoo.CASES[name].kernel.startswith("polynomial") and not zoo.CASES[name].degree
    assert (zoo.sketch_of(name, degree=2) != zoo.sketch_of(name, degree=3)) == has_degree


@pytest.mark.parametrize("name", [name for name in zoo.POLYNOMIAL if name.startswith("ctr_")])
def test_an_odd_number_of_complex_to_real_features_is_refused_in_words(name):
    assert "even" in zoo.sketch_of(name).objection(7)
    assert zoo.sketch_of(name).objection(8) is None
