"""What `rfbench list sketches` tells of a sketch, and how it is made from a kernel and its options."""

from collections.abc import Callable
from dataclasses import dataclass

from rfbench.sketches.base import Sketch

POWERS = ("polynomial", "polynomial_sphere", "linear")  # (γ⟨x, y⟩ + ν)ᵖ
ANY = ()


@dataclass(frozen=True)
class Family:
    """A name in the registry."""

    make: Callable[..., Sketch]  # (kernel, **options)
    kernels: tuple[str, ...]  # what it can estimate, the first by default; none: any
    variance: str
    cost: str  # of a row
