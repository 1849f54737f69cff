"""Every OPU backend: binary rows in, counts out, and features that estimate the optical kernel."""

import json
from importlib.util import find_spec

import numpy as np
import pytest
from support import stats

from rfbench.checks import InputError
from rfbench.devices.opu import make_opu
from rfbench.devices.opu.recorded import Recorded
from rfbench.devices.opu.replay import Replay
from rfbench.devices.opu.shared import SharedDevice
from rfbench.engines import Local
from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch
from rfbench.sketches.optical.device import on_device

pytestmark = pytest.mark.medium

LIMIT = 4.8


class Rehearsed(Replay):
    """A replay of rows that a simulated device was shown just before."""

    def fit(self, *setting):
        self.setting = setting
        self.show(np.zeros((1, setting[0]), np.uint8))
        super().fit(*setting)

    def show(self, bits):
        with Recorded(make_opu("simulated"), self.folder) as device:
            device.fit(*self.setting)
            device.intensities(bits)

    def frames(self, bits):
        self.show(bits)
        super().fit(*self.setting)
        return super().frames(bits)


@pytest.fixture(params=["simulated", "noisy", "recorded", "replay", "lightonml"])
def opu(request, tmp_path):
    if request.param == "lightonml" and not (find_spec("lightonml") and find_spec("rfbench_lightonml")):
        pytest.skip("rfbench-lightonml is not installed: make test installs it")
    folder = str(tmp_path / "frames")
    made = {
        "simulated": lambda: make_opu("simulated"),
        "noisy": lambda: make_opu("simulated", noise=0.5),
        "recorded": lambda: make_opu("simulated", dump=folder),
        "replay": lambda: Rehearsed(folder),
        "lightonml": lambda: make_opu("lightonml", simulated=True),
    }[request.param]()
    with made as device:
        yield device


def test_rows_of_any_type_give_bytes(opu, bits):
    opu.fit(64, 100, 5, 20.0)
    counts = opu.intensities(bits)
    assert counts.shape == (60, 100)
    assert counts.dtype == np.uint8
    assert 0 < counts.min() + 1 < counts.mean() < counts.max()
    for same in (bits.astype(np.float32), bits.astype(bool), np.asfortranarray(bits, np.int64)):
        np.testing.assert_array_equal(opu.intensities(same), counts)


@pytest.mark.parametrize("wrong", [0.5, -1, 2, np.nan])
def test_rows_that_are_not_binary_are_refused_with_the_way_out(opu, bits, wrong):
    rows = bits.astype(np.float64)
    rows[7, 3] = wrong
    opu.fit(64, 10)
    with pytest.raises(InputError, match=r"rows of 0 and 1.*dataset\.prepare=\[min_max,binarize\]"):
        opu.intensities(rows)
    with pytest.raises(ValueError, match="64 columns; got 63"):
        opu.intensities(bits[:, 1:])


def test_a_row_is_seen_alike_in_any_batch(opu, bits):
    """To rounding: by one count in a few of many where the arithmetic is another's."""
    opu.fit(64, 1000, 5, 20.0)
    order = np.random.default_rng(0).integers(0, 60, 200)  # with repetitions
    whole, shuffled = opu.intensities(bits).astype(int), opu.intensities(bits[order]).astype(int)
    alone = np.concatenate([opu.intensities(bits[i : i + 1]) for i in range(5)]).astype(int)
    for one, other in ((whole[order], shuffled), (whole[:5], alone)):
        assert np.abs(one - other).max() <= 1
        assert (one != other).mean() < 1e-4


def test_a_key_is_a_medium(opu, bits):
    seen = []
    for key in (3, 2**62 + 3, 3):
        opu.fit(64, 500, key, 20.0)
        seen.append(opu.intensities(bits).astype(float))
    np.testing.assert_array_equal(seen[0], seen[2])
    columns = (z.ravel() for z in ((one - one.mean(1, keepdims=True)) for one in seen[:2]))
    assert abs(np.corrcoef(*columns)[0, 1]) < 0.05


def test_one_count_stands_for_its_level(opu, bits):
    """Intensities behind x are exponential with mean ‖x‖²."""
    D, ones = 20_000, bits.sum(1)
    opu.fit(64, D, 5, 20.0)
    means = opu.level * opu.intensities(bits).mean(1)
    z = (means / ones - 1) * np.sqrt(D)
    assert np.abs(z).max() < LIMIT
    assert np.abs(z + 0.05 * np.sqrt(D)).max() > LIMIT  # a level that is off by 5 %


def test_it_says_what_it_is(opu):
    opu.fit(64, 10)
    info = json.loads(json.dumps(opu.info()))
    source = info.get("frames of", info)
    assert {"device", "versions", "frames per second"} <= set(source)
    assert source["frames per second"] == 2000
    assert opu.seconds(4000) in (None, 2.0)


@pytest.mark.parametrize("m", [2.0, 4.0])
def test_features_estimate_the_kernel(opu, bits, m):
    """The mean over media, against the closed form."""
    D, draws, X = 2000, 40, bits[:12]
    kernel = make_kernel("optical", 3, exponent=m)
    ideal = make_sketch("optical", kernel, exponent=m)
    sketch = on_device(ideal, SharedDevice(opu)).adapt(bits, D)
    assert sketch.ones == bits.sum(1).mean()
    values = stats.estimates(sketch, X, D, draws, seed=6).real
    k, V = stats.of_pairs(kernel.gram(X, X)), stats.of_pairs(ideal.closed_form.variance(X, X, D))
    assert stats.z_of_mean(values, k, V) < LIMIT
    assert stats.z_of_mean(values * (1.1 if m == 2 else 1.3), k, V) > LIMIT


def test_two_threads_are_one_thread(opu, bits):
    """Two maps that take turns on one device, from two threads."""
    sketch = on_device(make_sketch("optical", make_kernel("optical", 3)), SharedDevice(opu)).adapt(bits, 300)
    maps = [sketch.sample(64, 300, np.random.default_rng(seed)) for seed in (0, 1)]
    alone, step = [features(bits) for features in maps], sketch.device.level / np.sqrt(300)
    with Local(2, block_rows=15).running() as engine:
        spans = [(which, start) for start in range(0, 60, 15) for which in (0, 1)]
        for (which, start), Phi in zip(
            spans, engine.map(lambda at: maps[at[0]](bits[at[1] : at[1] + 15]), spans), strict=True
        ):
            np.testing.assert_allclose(Phi, alone[which][start : start + 15], rtol=0, atol=1.01 * step)
            assert (Phi != alone[which][start : start + 15]).mean() < 1e-3
