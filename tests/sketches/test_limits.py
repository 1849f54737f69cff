"""Cases where the answer is known without statistics."""

import numpy as np
import pytest
from support import stats, zoo


@pytest.mark.parametrize(
    "name", ["tensorsrht", "stacked_tensorsrht", "complex_tensorsrht", "complex_stacked_tensorsrht"]
)
@pytest.mark.parametrize("D", [64, 128])
def test_full_hadamard_blocks_of_degree_one_are_exact(name, D, digits):
    sketch = zoo.sketch_of(name, 1, bias=0.0)
    Phi = sketch.sample(64, D, np.random.default_rng(3), np.float64)(digits)
    np.testing.assert_allclose(Phi @ Phi.conj().T, digits @ digits.T, atol=1e-12)
    np.testing.assert_allclose(sketch.closed_form.variance(digits, digits, D), 0, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in zoo.POLYNOMIAL if name.endswith("rademacher")])
@pytest.mark.parametrize("p", [1, 2, 6])
def test_one_hot_rows_have_no_rademacher_variance(name, p):
    X = np.eye(5)
    sketch = zoo.sketch_of(name, p, bias=0.0)
    same = np.eye(5, dtype=bool)
    assert (sketch.closed_form.variance(X, X, 8)[same] == 0).all()
    Phi = sketch.sample(5, 8, np.random.default_rng(0), np.float64)(X)
    np.testing.assert_allclose((Phi @ Phi.conj().T)[same], 1)


@pytest.mark.parametrize("family", ["gaussian", "rademacher", "tensorsrht", "stacked_tensorsrht"])
def test_complex_to_real_is_the_real_part_of_the_complex_estimate(family, digits):
    complex_ = zoo.sketch_of(f"complex_{family}").sample(64, 50, np.random.default_rng(7), np.float64)(digits)
    ctr = zoo.sketch_of(f"ctr_{family}").sample(64, 100, np.random.default_rng(7), np.float64)(digits)
    np.testing.assert_allclose(ctr @ ctr.T, (complex_ @ complex_.conj().T).real, atol=1e-12)


@pytest.mark.parametrize("variant", ["", "complex_", "ctr_"])
def test_stacked_and_upsampled_agree_for_one_block(variant, digits):
    D = 64 * (2 if variant == "ctr_" else 1)
    upsampled, stacked = (
        zoo.sketch_of(variant + name, 3, bias=0.0).sample(64, D, np.random.default_rng(1), np.float64)(digits)
        for name in ("tensorsrht", "stacked_tensorsrht")
    )
    np.testing.assert_array_equal(upsampled, stacked)


@pytest.mark.parametrize("name", [name for name in zoo.POLYNOMIAL if "ahle" not in name])  # it runs out of tuples
def test_error_falls_with_the_square_root_of_the_features(name, digits):
    kernel, sketch, X = zoo.kernel_of(name, 2), zoo.sketch_of(name, 2), digits[:60]
    assert -0.6 < stats.rate(sketch, X, kernel.gram(X, X), seeds=24) < -0.4


def test_zero_columns_change_nothing(wine):
    wider = np.pad(wine, ((0, 0), (0, 3)))
    for name in ("tensorsrht", "ctr_stacked_tensorsrht"):
        sketch = zoo.sketch_of(name, 3, bias=0.0)
        np.testing.assert_allclose(
            sketch.closed_form.variance(wine, wine, 40), sketch.closed_form.variance(wider, wider, 40)
        )
        draws = [sketch.sample(X.shape[1], 40, np.random.default_rng(2), np.float64)(X) for X in (wine, wider)]
        np.testing.assert_allclose(*draws, atol=1e-13)
