"""Step 3 of the data's way: X → Φ.  Here is the list of all sketches by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rfbench.checks import InputError
from rfbench.kernels.base import Kernel
from rfbench.registry import build, find
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.exact import Exact, Identity
from rfbench.sketches.product import ProductSketch
from rfbench.sketches.tensor_srht import StackedTensorSRHT, TensorSRHT
from rfbench.sketches.weights import COMPLEX_GAUSSIAN, COMPLEX_RADEMACHER, GAUSSIAN, RADEMACHER, Law
from rfbench.sketches.wrappers import Affine, ComplexToReal

__all__ = ["SKETCHES", "ClosedForm", "Family", "FeatureMap", "Sketch", "make_sketch"]

POWERS = ("polynomial", "polynomial_sphere", "linear")
ALL = ()  # any kernel


@dataclass(frozen=True)
class Family:
    """What `rfbench list sketches` tells of a sketch, and how it is made from a kernel and its options."""

    make: Callable[..., Sketch]
    kernels: tuple[str, ...]
    variance: str
    cost: str


def _power(cls: type[ProductSketch], law: Law, ctr: bool = False) -> Callable[..., Sketch]:
    """Sketches of ⟨x, y⟩ᵖ, wrapped for (γ⟨x, y⟩ + ν)ᵖ."""

    def make(kernel: Any) -> Sketch:
        p, gamma, bias = kernel.affine
        sketch: ClosedForm = ComplexToReal(cls(p, law)) if ctr else cls(p, law)
        return sketch if (gamma, bias) == (1, 0) else Affine(sketch, gamma, bias)

    return make


def _trio(name: str, cls: type[ProductSketch], real: Law, complex_: Law, cost: str) -> dict[str, Family]:
    return {
        name: Family(_power(cls, real), POWERS, "closed form", cost),
        f"complex_{name}": Family(_power(cls, complex_), POWERS, "closed form", cost),
        f"ctr_{name}": Family(_power(cls, complex_, ctr=True), POWERS, "closed form", cost),
    }


SKETCHES = {
    **_trio("gaussian", ProductSketch, GAUSSIAN, COMPLEX_GAUSSIAN, "p d D"),
    **_trio("rademacher", ProductSketch, RADEMACHER, COMPLEX_RADEMACHER, "p d D"),
    **_trio("tensorsrht", TensorSRHT, RADEMACHER, COMPLEX_RADEMACHER, "p (d log d + D)"),
    **_trio("stacked_tensorsrht", StackedTensorSRHT, RADEMACHER, COMPLEX_RADEMACHER, "p D log d"),
    "identity": Family(lambda kernel: Identity(), ("linear",), "zero", "d"),
    "exact": Family(lambda kernel: Exact(kernel), ALL, "zero", "n d per row"),
}


def make_sketch(name: str, kernel: Kernel, **options: Any) -> Sketch:
    """The sketch of that name for a kernel, or a sentence that says which kernels it is made for."""
    family = find("sketch", name, SKETCHES)
    if family.kernels and kernel.name not in family.kernels:
        raise InputError(
            f"sketch '{name}' approximates the {family.kernels[0]} kernel; kernel '{kernel.name}' was asked for. "
            f"Use kernel={family.kernels[0]}"
        )
    return build("sketch", family.make, {"kernel": kernel, **options})
