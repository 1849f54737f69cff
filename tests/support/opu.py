"""Devices that misbehave."""

from rfbench.devices.opu.simulated import Simulated


class Failing(Simulated):
    """Fails at the calls given; as one device for all threads."""

    parallel = False

    def __init__(self, *at):
        super().__init__()
        self.at, self.calls, self.fits = at, 0, 0

    def fit(self, *setting):
        self.fits += 1
        super().fit(*setting)

    def frames(self, bits):
        self.calls += 1
        if self.calls in self.at:
            raise OSError("the camera went away")
        return super().frames(bits)
