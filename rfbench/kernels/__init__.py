"""The targets: every kernel by name."""

from typing import Any

import numpy as np

from rfbench.checks import InputError, require
from rfbench.kernels.arc_cosine import ArcCosine
from rfbench.kernels.b_spline import BSpline
from rfbench.kernels.base import DotProductKernel, Kernel
from rfbench.kernels.bessel import Bessel
from rfbench.kernels.decomposable import Decomposable
from rfbench.kernels.exponential import Exponential, Gaussian
from rfbench.kernels.matern import Laplacian, Matern
from rfbench.kernels.matrix import CurlFree, DivFree, Helmholtz
from rfbench.kernels.optical import Optical
from rfbench.kernels.polynomial import Linear, Polynomial, PolynomialSphere
from rfbench.kernels.recipe import KernelRecipe
from rfbench.registry import find

__all__ = ["KERNELS", "DotProductKernel", "Kernel", "KernelRecipe", "kernel_recipe", "make_kernel"]

SCALAR = (
    *(Polynomial, PolynomialSphere, Linear, Gaussian, Exponential, Matern, Laplacian),
    *(Bessel, BSpline, Optical, ArcCosine),
)
MATRIX = (Decomposable, CurlFree, DivFree, Helmholtz)
KERNELS: dict[str, type[Kernel]] = {cls.name: cls for cls in (*SCALAR, *MATRIX)}


def kernel_recipe(name: str, degree: int | None, **options: Any) -> KernelRecipe:
    """The kernel of that name, whose options may be words; the degree goes to kernels that have one."""
    cls = find("kernel", name, KERNELS)
    if "degree" in cls.__dataclass_fields__:
        if degree is None:
            raise InputError(f"kernel '{name}' needs a degree, as in make_kernel('{name}', degree=3)")
        options["degree"] = degree
    return KernelRecipe(cls, options)


def make_kernel(name: str, degree: int | None = None, **options: Any) -> Kernel:
    """The kernel of that name, whose options are numbers; only polynomial kernels have a degree."""
    wanted = "a whole number (options such as length_scale are given by name)"
    require(degree is None or isinstance(degree, (int, np.integer)), "degree", wanted, degree)
    recipe = kernel_recipe(name, degree, **options)
    for key, value in options.items():
        if isinstance(value, str):
            raise InputError(f"kernel.{key}={value} needs training rows; use a number, or kernel_recipe(…).fit(X)")
    return recipe.provisional()
