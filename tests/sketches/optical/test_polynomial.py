"""Optical features of degree 2: mean, variance, the mistake of the thesis, and the light of a device."""

import numpy as np
import pytest
from support import stats
from support.answers import one_line
from support.stats import LIMIT

from rfbench.checks import InputError
from rfbench.devices.opu import make_opu
from rfbench.devices.opu.shared import SharedDevice
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch, on_device
from rfbench.sketches.optical.polynomial import Appended, AppendedIntensities

CORRECTIONS = ("centred", "appended")


def quadratic(correction, **options):
    kernel = make_kernel("polynomial", 2, **options)
    return kernel, make_sketch("optical_polynomial", kernel, correction=correction)


def judged(kernel, sketch, X, D=192, draws=2000):
    values = stats.estimates(sketch, X, D, draws, seed=5).real
    k, V = stats.of_pairs(kernel.gram(X, X)), stats.of_pairs(sketch.closed_form.variance(X, X, D))
    return stats.z_of_mean(values, k, V), stats.z_of_mean(1.05 * values, k, V), stats.variance_ratio(values, k, V)


@pytest.mark.medium
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("options", [{"bias": 0.0}, {"gamma": 0.5, "bias": 0.3}])
def test_mean_and_variance(correction, options, digits):
    """Rows of several lengths, so that ‖x‖ and ‖x‖² differ."""
    X = digits[:10] * np.linspace(0.7, 1.5, 10)[:, None]
    z, wrong, (ratio, error) = judged(*quadratic(correction, **options), X)
    assert z < LIMIT < wrong
    assert abs(ratio - 1) < 3 * error
    assert error < 0.1 / 3, error


class AsPrinted(Appended):
    """i‖x‖ appended in place of i‖x‖² [Wacker 2022, 6.2]."""

    def sample(self, d, D, rng, dtype=np.float32):
        features = super().sample(d, D, rng, dtype)
        assert isinstance(features, AppendedIntensities)

        class Printed(AppendedIntensities):
            def write(self, X, out):
                super().write(X, out)
                out[:, -1] = np.linalg.norm(X, axis=1)

        return Printed(features.base)


def test_the_length_in_place_of_its_square_is_seen(digits):
    kernel, sketch = quadratic("appended", bias=0.0)
    X = digits[:10] * np.linspace(0.7, 1.5, 10)[:, None]
    assert judged(kernel, sketch, X, draws=200)[0] < LIMIT
    assert judged(kernel, AsPrinted(sketch.base), X, draws=200)[0] > LIMIT


def test_centred_light_is_as_good_as_a_gaussian_product(wine):
    gaussian = make_sketch("gaussian", make_kernel("polynomial", 2, bias=0.4)).closed_form.variance(wine, wine, 50)
    centred, appended = (quadratic(c, bias=0.4)[1].closed_form.variance(wine, wine, 50) for c in CORRECTIONS)
    np.testing.assert_allclose(centred, gaussian, rtol=1e-12)
    ratios = appended / centred * 49 / 50  # one of its features is not random
    assert 2.5 - 1e-9 < ratios.min() < 2.6 < 3 < ratios.max() < 3.12  # 3.10 at c = 0.13


def test_only_the_appended_estimate_has_negative_eigenvalues(digits):
    for correction in CORRECTIONS:
        _, sketch = quadratic(correction, bias=0.0)
        features = sketch.sample(64, 200, np.random.default_rng(0), np.float64)
        Phi = features(digits)
        lowest = np.linalg.eigvalsh(features.product(Phi, Phi))[0]
        assert (lowest < -0.1) == (correction == "appended") == sketch.indefinite
        left, right = Phi[:5], Phi[5:10]
        np.testing.assert_allclose(features.paired(left, right)[:, 0], features.product(left, right).diagonal())


def test_parts_are_the_whole(digits):
    _, sketch = quadratic("centred", bias=1.0)
    features = sketch.sample(64, 20_000, np.random.default_rng(0))
    X = digits[:5].astype(np.float32)
    np.testing.assert_allclose(np.concatenate([part(X) for part in features.parts()], axis=1), features(X), atol=1e-6)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_on_a_device(correction, bits):
    """The camera has a bias of half a percent, far below the spread of these draws."""
    kernel, ideal = quadratic(correction, bias=1.0)
    rows, X = bits.astype(float), bits[:10].astype(float)
    sketch = on_device(ideal, SharedDevice(make_opu("simulated"))).adapt(rows, 500)
    values = stats.estimates(sketch, X, 500, 40, seed=6).real
    V = stats.of_pairs(ideal.closed_form.variance(X, X, 500))
    assert sketch.closed_form is None
    assert stats.z_of_mean(values, stats.of_pairs(kernel.gram(X, X)), V) < LIMIT
    assert stats.z_of_mean(values, stats.of_pairs(make_kernel("optical", 2, bias=1.0).gram(X, X)), V) > LIMIT
    with pytest.raises(InputError, match=r"use kernel\.gamma=1 and kernel\.bias=0 or 1, not 1 and 2"):
        on_device(quadratic(correction, bias=2.0)[1], SharedDevice(make_opu("simulated")))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["degree=3"], "use degree=2"),
        (["sketch.correction=centered"], "did you mean 'centred'?"),
        (["sketch.correction=appended", "task=gpr", "dataset=diabetes"], "use sketch.correction=centred"),
        (["sketch.correction=appended", "features=1"], "features=2 or more"),
    ],
)
def test_mistakes_are_one_line(words, said, rfbench):
    one_line(rfbench("sketch=optical_polynomial", *words), said)


def test_a_user_runs_both(rfbench):
    words = ("sketch=optical_polynomial", "sketch.correction=centred,appended", "features=8d", "seeds=1")
    done = rfbench("-m", *words)
    assert done.returncode == 0, done.stderr
    assert "optical_polynomial(correction=appended)" in done.stdout
