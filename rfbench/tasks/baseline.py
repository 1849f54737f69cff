"""The sketch that chooses the regularisation of all others.

It is the plainest one of the kernel, so that the choice favours no other [Wacker 2022, 5.4.1, footnote 4: spherical
features for the polynomial kernel on the sphere, Fourier features for the Gaussian kernel], and the choice is that of
least MNLL on a tenth of the training rows ("maximizes" there).
"""

from typing import Any

from rfbench.arrays import padded
from rfbench.checks import InputError
from rfbench.kernels import Kernel
from rfbench.kernels.polynomial import PolynomialSphere
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, make_sketch

VALIDATION = 0.1  # of the training rows
FEATURES = 64, 1024  # least, since few columns would give too few, and most
BASELINES = {
    "polynomial": "rademacher",
    "polynomial_sphere": "srf",
    "linear": "identity",
    "gaussian": "rff",
    "matern": "rff",
    "laplacian": "rff",
    "exponential": "exponential_rff",
    "optical": "optical",
}


def baseline_name(kernel: Kernel, key: str) -> str:
    """Of a kernel; `key` is what can be given instead."""
    if kernel.name not in BASELINES:
        raise InputError(f"{key}=auto knows no baseline sketch of kernel '{kernel.name}'; give a number")
    narrow = isinstance(kernel, PolynomialSphere) and kernel.a < 2  # spherical features have none
    return "rademacher" if narrow else BASELINES[kernel.name]


def baseline(kernel: Kernel, d: int, seed: int, dtype: Any, key: str, limits: tuple[int, int] = FEATURES) -> FeatureMap:
    """A draw of five features for each padded column, as in the thesis, within limits."""
    sketch, (least, most) = make_sketch(baseline_name(kernel, key), kernel), limits
    D = sketch.count(d, min(max(5 * padded(d), least), most))
    return sketch.sample(d, D, rng_for(seed, "baseline"), dtype)
