"""Derivatives of features with respect to the kernel's bias and scale, against finite differences."""

import numpy as np
import pytest

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.products.slopes import along, with_slope

NAMES = [
    variant + name
    for name in ("gaussian", "rademacher", "tensorsrht", "stacked_tensorsrht", "ahle_tensorsrht", "tensorsketch")
    for variant in ("", "ctr_", "complex_")
]


@pytest.mark.parametrize("degree", [1, 2, 5])
@pytest.mark.parametrize("name", NAMES)
def test_slopes_are_finite_differences(name, degree, digits):
    X = digits[:150]
    features = make_sketch(name, make_kernel("polynomial", degree, gamma=0.8, bias=0.6)).sample(
        64,
        300,
        np.random.default_rng(0),
        np.float64,  # several Hadamard blocks
    )

    def at(log_gamma, log_bias):
        return features.at(0.8 * np.exp(log_gamma), 0.6 * np.exp(log_bias))(X)

    Phi, slope = with_slope(features, X)
    h = 1e-5
    np.testing.assert_allclose(Phi, features(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(slope, (at(0, h) - at(0, -h)) / (2 * h), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(degree / 2 * Phi - slope, (at(h, 0) - at(-h, 0)) / (2 * h), rtol=1e-6, atol=1e-9)


def test_other_maps_have_none(digits):
    with pytest.raises(TypeError, match="RealFourierMap has no slope"):
        along(
            make_sketch("rff", make_kernel("gaussian", 1)).sample(64, 8, np.random.default_rng(0)), digits, digits[:1]
        )
