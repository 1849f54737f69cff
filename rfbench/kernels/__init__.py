"""The targets: every kernel by name."""

from typing import Any

from rfbench.kernels.base import DotProductKernel, Kernel
from rfbench.kernels.bessel import Bessel
from rfbench.kernels.decomposable import Decomposable
from rfbench.kernels.exponential import Exponential, Gaussian
from rfbench.kernels.matern import Laplacian, Matern
from rfbench.kernels.matrix import CurlFree, DivFree, Helmholtz
from rfbench.kernels.optical import Optical
from rfbench.kernels.polynomial import Linear, Polynomial, PolynomialSphere
from rfbench.registry import build, find

__all__ = ["KERNELS", "DotProductKernel", "Kernel", "make_kernel"]

SCALAR = (Polynomial, PolynomialSphere, Linear, Gaussian, Exponential, Matern, Laplacian, Bessel, Optical)
MATRIX = (Decomposable, CurlFree, DivFree, Helmholtz)
KERNELS: dict[str, type[Kernel]] = {cls.name: cls for cls in (*SCALAR, *MATRIX)}


def make_kernel(name: str, degree: int, **options: Any) -> Kernel:
    """The kernel of that name; the degree goes to those that have one."""
    cls = find("kernel", name, KERNELS)
    if "degree" in cls.__dataclass_fields__:
        options["degree"] = degree
    return build("kernel", cls, options)
