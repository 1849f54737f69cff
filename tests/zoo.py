"""Every sketch, by name, with a kernel it is made for.  A new sketch is one line here."""

from rfbench.kernels import make_kernel
from rfbench.sketches import make_sketch

POLYNOMIAL = (
    "gaussian", "complex_gaussian", "ctr_gaussian",
    "rademacher", "complex_rademacher", "ctr_rademacher",
    "tensorsrht", "complex_tensorsrht", "ctr_tensorsrht",
    "stacked_tensorsrht", "complex_stacked_tensorsrht", "ctr_stacked_tensorsrht",
)  # fmt: skip
KERNELS = dict.fromkeys(POLYNOMIAL, "polynomial") | {"identity": "linear", "exact": "gaussian"}
RANDOM = POLYNOMIAL
HEAVY = tuple(name for name in POLYNOMIAL if name.endswith("gaussian"))


def kernel_of(name, degree=3, **options):
    return make_kernel(KERNELS[name], degree, **options)


def sketch_of(name, degree=3, **options):
    return make_sketch(name, kernel_of(name, degree, **options))
