"""What only a physical OPU does, by way of lightonml: one medium, windows of it, an exposure that is measured."""

import numpy as np
import pytest

from rfbench.checks import InputError
from rfbench.devices.opu import make_opu

lightonml = pytest.importorskip("lightonml", reason="lightonml is not installed: make test installs it")
pytest.importorskip("rfbench_lightonml", reason="rfbench-lightonml is not installed: make test installs it")

OUTPUTS, GAIN = 40_000, 9.0


@pytest.fixture
def device():
    """lightonml's simulated device as it comes, with one medium, behind a camera of its own, as a driver would be."""
    twin = lightonml.internal.simulated_device.SimulatedOpuDevice

    class SimulatedOpuDevice(twin):  # a name that lightonml asks for
        output_dtype = np.uint8
        gain = GAIN

        def transform1(self, X):
            return np.clip(np.rint(self.gain * super().transform1(X)), 0, 255).astype(np.uint8)

    opu = make_opu("lightonml", simulated=False, outputs=OUTPUTS, exposure_us=300)
    opu.opu = lightonml.OPU(n_components=OUTPUTS, opu_device=SimulatedOpuDevice(), max_n_features=64)
    yield opu
    opu.opu.close()


def test_a_key_is_a_window_of_the_one_medium(device, bits):
    device.fit(64, OUTPUTS, 12345, 20.0)
    whole = device.intensities(bits)
    device.fit(64, 700, 12345, 20.0)
    first = 12345 % (OUTPUTS - 700 + 1)
    np.testing.assert_array_equal(device.intensities(bits), whole[:, first : first + 700])


def test_the_level_is_measured_over_all_outputs(device, bits):
    """A medium of variance 2/d behind a gain: one count is d / (2 gain)."""
    device.fit(64, 50, 3, 20.0)
    assert device.level == pytest.approx(64 / 2 / GAIN, rel=0.02)
    before = device.level
    device.fit(64, 70, 4, 20.0)
    assert device.level == before  # one exposure, one level


@pytest.mark.parametrize(("gain", "reason"), [(0.0, "sees no light.*longer"), (900.0, "% of the .* saturate.*shorter")])
def test_a_wrong_exposure_is_refused(device, gain, reason):
    device.opu.device.gain = gain
    with pytest.raises(InputError, match=rf"{reason} opu\.exposure_us"):
        device.fit(64, 50, 3, 20.0)


def test_the_exposure_is_set_and_reported(device):
    device.fit(64, 50)
    assert device.info()["exposure_us"] == 300
    assert device.info()["device"] == "lightonml"
    assert device.seconds(1000) is None


def test_without_a_driver_there_is_a_way_out():
    with pytest.raises(InputError, match=r"cannot open an OPU \(.*lightonopu.*opu\.simulated=true"):
        make_opu("lightonml", simulated=False).__enter__()
    with pytest.raises(InputError, match=r"opu\.simulated must be true, false or auto; 'maybe'"):
        make_opu("lightonml", simulated="maybe")
