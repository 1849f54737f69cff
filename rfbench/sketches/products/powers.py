"""The product sketches by name: real, complex and complex-to-real, for any (γ⟨x, y⟩ + ν)ᵖ."""

from functools import partial

from rfbench.kernels.polynomial import AffinePower
from rfbench.sketches.base import Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.products.product import ProductSketch
from rfbench.sketches.products.tensor_srht import AhleTensorSRHT, StackedTensorSRHT, TensorSRHT
from rfbench.sketches.products.weights import COMPLEX_GAUSSIAN, COMPLEX_RADEMACHER, GAUSSIAN, RADEMACHER, Law
from rfbench.sketches.wrappers import ComplexToReal, affine

# class, real law, complex law, cost of a row
KINDS: dict[str, tuple[type[ProductSketch], Law, Law, str]] = {
    "gaussian": (ProductSketch, GAUSSIAN, COMPLEX_GAUSSIAN, "p d D"),
    "rademacher": (ProductSketch, RADEMACHER, COMPLEX_RADEMACHER, "p d D"),
    "tensorsrht": (TensorSRHT, RADEMACHER, COMPLEX_RADEMACHER, "p (d log d + D)"),
    "ahle_tensorsrht": (AhleTensorSRHT, RADEMACHER, COMPLEX_RADEMACHER, "p (d log d + D)"),
    "stacked_tensorsrht": (StackedTensorSRHT, RADEMACHER, COMPLEX_RADEMACHER, "p D log d"),
}


def homogeneous(name: str, degree: int) -> Sketch:
    """The product sketch of ⟨x, y⟩ᵖ with that name, such as ctr_tensorsrht."""
    kind = name.removeprefix("complex_").removeprefix("ctr_")
    cls, real, complex_, _ = KINDS[kind]
    if name.startswith("ctr_"):
        return ComplexToReal(cls(degree, complex_))
    return cls(degree, complex_ if name.startswith("complex_") else real)


def inhomogeneous(name: str, kernel: AffinePower) -> Sketch:
    """The same for (γ⟨x, y⟩ + ν)ᵖ."""
    degree, gamma, bias = kernel.affine
    return affine(homogeneous(name, degree), gamma, bias)


FAMILIES = {
    variant + kind: Family(partial(inhomogeneous, variant + kind), POWERS, "closed form", cost)
    for kind, (*_, cost) in KINDS.items()
    for variant in ("", "complex_", "ctr_")
}
