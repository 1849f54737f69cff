"""Step 3 of the pipeline: X → Φ.  All sketches by name, and what other folders need of them."""

from typing import Any

from rfbench.checks import InputError
from rfbench.kernels.base import Kernel
from rfbench.registry import build, find
from rfbench.sketches import compressive, exact
from rfbench.sketches.anchored import recipes as anchored
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.couplings import Coupling, Kron
from rfbench.sketches.exact import ExactMap, KernelRows
from rfbench.sketches.family import Family
from rfbench.sketches.fourier import arc_cosine, favor, gegenbauer, operator_valued, quadrature, spherical, waves
from rfbench.sketches.maclaurin import localized as localized_maclaurin
from rfbench.sketches.maclaurin import optimized as optimized_maclaurin
from rfbench.sketches.maclaurin import random as random_maclaurin
from rfbench.sketches.maclaurin.remainder import better_apart, by_degrees, known_part
from rfbench.sketches.maclaurin.tangent import Tangent
from rfbench.sketches.nystrom import sketch as nystrom_sketch
from rfbench.sketches.operations import flops
from rfbench.sketches.optical import ideal, interference
from rfbench.sketches.optical import polynomial as optical_polynomial
from rfbench.sketches.optical.device import on_device
from rfbench.sketches.products import between, craft, hamid, hierarchical, poly_sketch, powers, tensor_sketch
from rfbench.sketches.products.pooling import pooled, pooled_kernel
from rfbench.sketches.products.slopes import with_slope
from rfbench.sketches.theorems import Theorem, theorems_of
from rfbench.sketches.wrappers import AffineMap, WithConstant

__all__ = [
    "SKETCHES",
    "AffineMap",
    "ClosedForm",
    "Coupling",
    "ExactMap",
    "Family",
    "FeatureMap",
    "KernelRows",
    "Kron",
    "Sketch",
    "Tangent",
    "Theorem",
    "WithConstant",
    "better_apart",
    "by_degrees",
    "flops",
    "known_part",
    "make_sketch",
    "on_device",
    "pooled",
    "pooled_kernel",
    "theorems_of",
    "with_slope",
]

MODULES = (
    *(powers, between, hamid, tensor_sketch, hierarchical, craft, poly_sketch),
    *(waves, spherical, compressive, favor, operator_valued, arc_cosine, gegenbauer, quadrature),
    *(random_maclaurin, optimized_maclaurin, localized_maclaurin),
    *(ideal, optical_polynomial, interference, exact),
    *(anchored, nystrom_sketch),
)
SKETCHES: dict[str, Family] = {name: family for module in MODULES for name, family in module.FAMILIES.items()}


def make_sketch(name: str, kernel: Kernel, **options: Any) -> Sketch:
    """The sketch of that name for a kernel; other kernels than its own are refused."""
    if not isinstance(kernel, Kernel):
        raise InputError(f"the kernel of a sketch must be one that make_kernel returns; {kernel!r} was given")
    family = find("sketch", name, SKETCHES)
    if family.kernels and kernel.name not in family.kernels:
        raise InputError(
            f"sketch '{name}' approximates the {family.kernels[0]} kernel; kernel '{kernel.name}' was asked for. "
            f"Use kernel={family.kernels[0]}"
        )
    return build("sketch", family.make, {"kernel": kernel, **options})


SKETCHES["compressive"] = compressive.over_any(make_sketch)
