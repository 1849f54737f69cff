"""Step 3 of the data's way: X → Φ.  Here is the list of all sketches by name."""

from typing import Any

from rfbench.checks import InputError
from rfbench.kernels.base import Kernel
from rfbench.registry import build, find
from rfbench.sketches import (
    compressive,
    craft,
    exact,
    favor,
    fourier,
    hierarchical,
    localized_maclaurin,
    operator_valued,
    optical,
    optimized_maclaurin,
    powers,
    random_maclaurin,
    spherical,
    tensor_sketch,
)
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family

__all__ = ["SKETCHES", "ClosedForm", "Family", "FeatureMap", "Sketch", "make_sketch"]

MODULES = (
    *(powers, tensor_sketch, hierarchical, craft),
    *(fourier, spherical, compressive, favor, operator_valued),
    *(random_maclaurin, optimized_maclaurin, localized_maclaurin, optical, exact),
)
SKETCHES: dict[str, Family] = {name: family for module in MODULES for name, family in module.FAMILIES.items()}


def make_sketch(name: str, kernel: Kernel, **options: Any) -> Sketch:
    """The sketch of that name for a kernel, or a sentence that says which kernels it is made for."""
    family = find("sketch", name, SKETCHES)
    if family.kernels and kernel.name not in family.kernels:
        raise InputError(
            f"sketch '{name}' approximates the {family.kernels[0]} kernel; kernel '{kernel.name}' was asked for. "
            f"Use kernel={family.kernels[0]}"
        )
    return build("sketch", family.make, {"kernel": kernel, **options})
