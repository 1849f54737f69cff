"""The simulated OPU against the ideal light and against the closed form of what a camera counts."""

import numpy as np
import pytest
from support import stats

from rfbench.checks import InputError
from rfbench.devices.opu import make_opu
from rfbench.devices.opu.shared import SharedDevice
from rfbench.devices.opu.simulated import ExactMedium
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.optical.device import on_device
from rfbench.sketches.optical.ideal import OpticalMap
from rfbench.sketches.optical.medium import BLOCK, Medium

KEY, LIMIT = 11, 4.8


def fitted(D, ones=20.0, key=KEY, **options):
    opu = make_opu("simulated", **options)
    opu.fit(64, D, key, ones)
    return opu


def light(bits, D):
    """|Ux|² of the same medium, in floating point."""
    return OpticalMap(Medium(64, D, KEY, np.float32), 2.0, total=1)(bits.astype(np.float32))


def test_counts_are_the_light_in_levels_up_to_saturation(bits):
    opu = fitted(5000, range=2.0)
    assert opu.level == 2.0 * 20 / 255
    seen, true = opu.level * opu.intensities(bits), light(bits, 5000)
    below = true < 2.0 * 20
    assert np.abs(seen - true)[below].max() < 0.5 * opu.level + 0.02 * 20  # the grid of the medium adds a little
    assert np.abs(seen - true)[below].mean() < 0.27 * opu.level  # a quarter of a level
    assert opu.intensities(bits)[true > 2.1 * 20].min() == 255


@pytest.mark.parametrize(("bits_", "range_"), [(8, 10.0), (4, 10.0), (8, 1.5), (1, 3.0)])
def test_the_mean_count_is_the_closed_form(bits, bits_, range_):
    """E rint(I/l) = Σ_j P(I > (j − ½) l) for j = 1..levels, I exponential with mean μ = ‖x‖²."""
    D, opu = 50_000, fitted(50_000, bits=bits_, range=range_)
    counts = opu.intensities(bits[:20]).astype(float)
    j = np.arange(1, 2**bits_)
    mean = np.exp(-np.outer(opu.level / bits[:20].sum(1), j - 0.5)).sum(1)
    z = (counts.mean(1) - mean) / (counts.std(1) / np.sqrt(D))
    assert np.abs(z).max() < LIMIT
    if bits_ < 8 or range_ < 10:  # such a camera is seen to be none
        no_camera = bits[:20].sum(1) / opu.level
        assert np.abs((counts.mean(1) - no_camera) / (counts.std(1) / np.sqrt(D))).max() > LIMIT


def test_the_bias_of_eight_bits_is_small(bits):
    """Paired with the ideal light of the same medium, so that the variance of the medium cancels."""
    X, D = bits[:20], 100_000
    true = light(X, D).astype(float)
    exact = true @ true.T

    def bias(**options):
        opu = fitted(D, ones=float(X.sum(1).mean()), **options)
        seen = opu.level * opu.intensities(X).astype(float)
        return np.abs(seen @ seen.T / exact - 1).max()

    assert bias() < 5e-3
    assert bias(bits=3) > 5e-3
    assert bias(range=3.0) > 5e-3


def test_sums_over_the_medium_are_exact():
    """So that no order of summation changes them; those of a medium off the grid it does."""
    bits = np.random.default_rng(0).integers(0, 2, (50, 784)).astype(np.float32)
    for medium, exact in ((ExactMedium, True), (Medium, False)):
        U = medium(784, 1000, KEY, np.float32).draw(slice(0, 1000))
        assert np.array_equal(bits @ U, bits.astype(np.float64) @ U.astype(np.float64)) is exact
        assert U.var() == pytest.approx(0.5, rel=0.01)


def test_counts_do_not_depend_on_batches_to_the_last_bit(bits):
    for options in ({}, {"noise": 1.5}):
        opu = fitted(9000, **options)
        whole = opu.intensities(np.tile(bits, (5, 1)))
        for start, stop in ((0, 1), (3, 50), (120, 300)):
            np.testing.assert_array_equal(opu.intensities(np.tile(bits, (5, 1))[start:stop]), whole[start:stop])


def test_noise_is_of_the_row_and_as_strong_as_asked(bits):
    quiet, noisy = fitted(20_000).intensities(bits).astype(int), fitted(20_000, noise=2.0).intensities(bits).astype(int)
    inside = (quiet > 12) & (quiet < 240)  # not cut at either end
    added = (noisy - quiet)[inside]
    assert abs(added.mean()) < LIMIT * 2 / np.sqrt(added.size)
    assert added.std() == pytest.approx(np.sqrt(2.0**2 + 2 / 12), rel=0.005)  # and two roundings
    rows = (noisy - quiet)[:2]
    assert abs(np.corrcoef(rows)[0, 1]) < 0.05


def test_noise_differs_between_blocks_of_outputs_and_between_keys(bits):
    def noise(key):
        quiet, noisy = (fitted(2 * BLOCK, key=key, noise=n).intensities(bits).astype(int) for n in (0.0, 2.0))
        return np.where((quiet > 12) & (quiet < 240), noisy - quiet, np.nan)  # not cut at either end

    def z(one, other):
        inside = np.isfinite(one) & np.isfinite(other)
        return abs(np.corrcoef(one[inside], other[inside])[0, 1]) * np.sqrt(inside.sum())

    first, second = np.hsplit(noise(KEY), 2)
    assert z(first, second) < LIMIT
    assert z(first, noise(KEY + 1)[:, :BLOCK]) < LIMIT
    assert z(first, noise(KEY)[:, :BLOCK]) > LIMIT


def test_a_large_medium_is_drawn_again_and_alike(bits, monkeypatch):
    kept = fitted(9000).intensities(bits)
    monkeypatch.setattr("rfbench.sketches.optical.medium.KEPT_BYTES", 0)
    opu = fitted(9000)
    assert opu.medium.kept is None
    np.testing.assert_array_equal(opu.intensities(bits), kept)


def test_a_bias_is_so_many_ones(bits):
    kernel = make_kernel("optical", 3, bias=7.0)
    ideal, X, D = make_sketch("optical", kernel), bits[:12].astype(np.float64), 2000
    sketch = on_device(ideal, SharedDevice(make_opu("simulated"))).adapt(bits, D)
    assert sketch.ones == bits.sum(1).mean() + 7
    values = stats.estimates(sketch, X, D, 40, seed=6).real
    V = stats.of_pairs(ideal.closed_form.variance(X, X, D))
    assert stats.z_of_mean(values, stats.of_pairs(kernel.gram(X, X)), V) < LIMIT
    assert stats.z_of_mean(values, stats.of_pairs(make_kernel("optical", 3, bias=6.0).gram(X, X)), V) > LIMIT
    with pytest.raises(InputError, match=r"kernel\.bias must be a whole number; 0\.5 was given"):
        on_device(make_sketch("optical", make_kernel("optical", 3, bias=0.5)), SharedDevice(make_opu("simulated")))


@pytest.mark.parametrize(
    ("option", "value"), [("bits", 9), ("bits", 0), ("range", 0.0), ("noise", -1.0), ("frames_per_second", 0)]
)
def test_settings_out_of_range_are_refused(option, value):
    with pytest.raises(InputError, match=f"opu.{option} must be"):
        make_opu("simulated", **{option: value})


def test_a_missing_plugin_is_refused_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr("rfbench.registry.entry_points", lambda group: ())
    with pytest.raises(InputError, match=r"needs its plugin: pip install .*--no-deps lightonml"):
        make_opu("lightonml")
    with pytest.raises(InputError, match="no opu 'simulatd'; did you mean 'simulated'"):
        make_opu("simulatd")
