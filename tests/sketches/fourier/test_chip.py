"""An analogue chip: the digital features when it is perfect, the stated rounding and noise when it is not."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.devices.opu import make_opu
from rfbench.devices.opu.shared import SharedDevice
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch, on_device
from rfbench.sketches.fourier.chip import ChipMap, converted

X = np.clip(np.random.default_rng(0).standard_normal((200, 6)), -2.5, 2.5)
GAUSSIAN, STEPS = make_kernel("gaussian", 1, length_scale=3.0), make_kernel("arc_cosine", 1, order=0)


def features(name, kernel, **options):
    sketch = on_device(make_sketch(name, kernel), SharedDevice(make_opu("analog", **options)))
    return sketch.sample(6, 64, np.random.default_rng(1), np.float64)


def digital(name, kernel):
    return make_sketch(name, kernel).sample(6, 64, np.random.default_rng(1), np.float64)


PERFECT = {"weight_noise": 0.0, "input_bits": 16, "output_bits": 16, "clip": 12.0}


@pytest.mark.parametrize("name", ["rff", "orf", "sorf"])
def test_a_perfect_chip_has_the_digital_features(name):
    np.testing.assert_allclose(features(name, GAUSSIAN, **PERFECT)(X), digital(name, GAUSSIAN)(X), atol=2e-3)


def test_frequencies_on_a_sphere_stay_there():
    sketch = make_sketch("rff", make_kernel("bessel", length_scale=3.0), directions="sobol")
    found, wanted = (
        one.sample(6, 64, np.random.default_rng(1), np.float64)(X)
        for one in (on_device(sketch, SharedDevice(make_opu("analog", **PERFECT))), sketch)
    )
    np.testing.assert_allclose(found, wanted, atol=2e-3)


@pytest.mark.parametrize(("name", "kernel"), [("rff", GAUSSIAN), ("arc_cosine", STEPS)])
def test_noise_and_few_bits_err_more_and_do_not_change_between_calls(name, kernel):
    def error(**options):
        Phi = features(name, kernel, **options)
        np.testing.assert_array_equal(Phi(X), np.concatenate([Phi(X[:70]), Phi(X[70:])]))
        return np.linalg.norm(Phi(X) - digital(name, kernel)(X))

    assert error(weight_noise=0.2) > 1.5 * error(weight_noise=0.01) > 0
    assert error(weight_noise=0.0, output_bits=3) > 1.5 * error(weight_noise=0.0, output_bits=10)


def test_the_noise_of_weights_has_the_stated_size():
    W = np.random.default_rng(2).standard_normal((50, 400))
    chip = make_opu("analog", weight_noise=0.05).chip
    largest = 3 * np.sqrt(np.mean(W**2))
    noise = (ChipMap(W, chip, np.random.default_rng(3)).W - np.clip(W, -largest, largest)) / largest
    n = noise.size
    assert abs(noise.mean()) < 4 * 0.05 / np.sqrt(n)
    assert abs(noise.std() / 0.05 - 1) < 4 / np.sqrt(2 * n)


def test_a_converter_has_2_to_the_bits_less_1_levels():
    levels = np.unique(converted(np.linspace(-5, 5, 100_001), 3.0, 4))
    np.testing.assert_allclose(levels, np.linspace(-3, 3, 15))


@pytest.mark.parametrize("options", [{"input_bits": 1}, {"clip": 0.0}, {"weight_noise": -1.0}])
def test_an_impossible_chip_is_refused(options):
    with pytest.raises(InputError, match="opu"):
        make_opu("analog", **options)


def test_other_sketches_are_refused_with_the_way_out():
    with pytest.raises(InputError, match="use sketch=rff"):
        on_device(make_sketch("rademacher", make_kernel("polynomial", 2)), SharedDevice(make_opu("analog")))
    with pytest.raises(InputError, match="opu=simulated"):
        make_opu("analog").fit(4, 4)
