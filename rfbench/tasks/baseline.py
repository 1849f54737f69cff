"""The sketch that chooses the regularisation of all others.

It is the plainest one of the kernel, so that the choice favours no other [Wacker 2022, 5.4.1, footnote 4: spherical
features for the polynomial kernel on the sphere, Fourier features for the Gaussian kernel].  The choice minimises the
MNLL on a tenth of the training rows (the thesis says "maximizes").
"""

from typing import Any

import numpy as np

from rfbench.arrays import padded
from rfbench.checks import InputError
from rfbench.kernels import Kernel
from rfbench.kernels.polynomial import PolynomialSphere
from rfbench.sketches import make_sketch
from rfbench.sketches.draw import Draw

VALIDATION = 0.1  # of the training rows are held out
FEATURES = 64, 1024  # lower and upper limit; few columns would give too few features
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
    """The baseline sketch of a kernel; `key` is the option that a number can be given for instead."""
    if kernel.name not in BASELINES:
        raise InputError(f"kernel '{kernel.name}' has no baseline sketch that could choose {key}; give a number")
    narrow = isinstance(kernel, PolynomialSphere) and kernel.a < 2  # spherical features need a ≥ 2
    return "rademacher" if narrow else BASELINES[kernel.name]


def plain_features(d: int, limits: tuple[int, int] = FEATURES) -> int:
    """Five features for each padded column, as in the thesis, within limits."""
    return min(max(5 * padded(d), limits[0]), limits[1])


def baseline(kernel: Kernel, d: int, seed: int, dtype: Any, key: str, limits: tuple[int, int] = FEATURES) -> Draw:
    """A draw of plain features, as many as `plain_features` says."""
    sketch = make_sketch(baseline_name(kernel, key), kernel)
    D = sketch.count(d, plain_features(d, limits))
    return Draw(sketch, d, D, seed, ("baseline",), np.dtype(dtype).name)
