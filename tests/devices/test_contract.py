"""What `rfbench check` tests of OPU backends and meters: ours pass, broken ones fail."""

from contextlib import contextmanager, suppress

import numpy as np
import pytest

from rfbench.commands.check import outcomes
from rfbench.devices.contract import METER_CHECKS, OPU_CHECKS
from rfbench.devices.meters import METERS, Meter, Reading
from rfbench.devices.opu.simulated import Simulated


def failed(checks, *subject):
    return {what for what, wrong in outcomes(checks, *subject) if wrong}


class WrongLevel(Simulated):
    def frames(self, bits):
        self.level /= 1.1
        counts = super().frames(bits)
        self.level *= 1.1
        return counts


class OneMedium(Simulated):
    def fit(self, d, D, key=0, ones=None):
        super().fit(d, D, 0, ones)


class AnyRows(Simulated):
    def intensities(self, rows):
        return self.frames((np.nan_to_num(rows) > 0).astype(np.uint8))


class Batches(Simulated):
    def frames(self, bits):
        return np.minimum(super().frames(bits) + np.uint8(len(bits) > 1) * 2, 255).astype(np.uint8)


class Signed(Simulated):
    def frames(self, bits):
        return super().frames(bits).astype(np.int64)


@pytest.mark.parametrize(
    ("opu", "wrong"),
    [
        (Simulated, None),
        (WrongLevel, "a count is its level"),
        (OneMedium, "a key is a medium"),
        (AnyRows, "other rows are refused"),
        (Batches, "batches do not matter"),
        (Signed, "rows give counts"),
    ],
)
def test_opu_backends(opu, wrong, bits):
    with opu() as device:
        found = failed(OPU_CHECKS, device, bits)
    assert wrong in found if wrong else not found


class Silent(Meter):
    device = "cpu"

    @contextmanager
    def measure(self):
        yield Reading("silent")


class Negative(Silent):
    @contextmanager
    def measure(self):
        yield Reading("negative", 1.0, -1.0)


class Swallowing(Silent):
    @contextmanager
    def measure(self):
        with suppress(ZeroDivisionError):
            yield Reading("swallowing", 1.0, 1.0)


def test_meters():
    for name in set(METERS) - {"none"}:
        assert failed(METER_CHECKS, METERS[name](), lambda: np.linalg.svd(np.eye(100))) == set(), name
    for meter, wrong in (
        (Silent, "a reading or a reason"),
        (Negative, "a reading or a reason"),
        (Swallowing, "errors of the work are raised"),
    ):
        assert wrong in failed(METER_CHECKS, meter(), lambda: None)
