"""What `rfbench list sketches` prints about a sketch, and how to build it from a kernel and options."""

from collections.abc import Callable
from dataclasses import dataclass

from rfbench.sketches.base import Sketch

POWERS = ("polynomial", "polynomial_sphere", "linear")  # (γ⟨x, y⟩ + ν)ᵖ
ANY = ()


@dataclass(frozen=True)
class Family:
    """A name in the registry."""

    make: Callable[..., Sketch]  # (kernel, **options)
    kernels: tuple[str, ...]  # kernels that it can estimate, the default first; empty: any
    variance: str
    cost: str  # per row
