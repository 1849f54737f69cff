"""Compressive features: random measurements of a row, then features of these, or the kernel itself.

    Φ(P x),        E PᵀP = I                                                   [Chang et al. 2016, 2.2 and Theorem 2]

P nearly preserves the distances of rows with k nonzero entries for m of the order of k log(d/k).  For other rows the
estimate is biased, except for ⟨x, y⟩ itself.  With r² = ‖x − y‖²/l² the Gaussian kernel becomes

    ₁F₁(m/2; d/2; −(d/m) r²/2)   for a uniform orthoprojector: ‖P δ‖² = ‖δ‖² (d/m) B, B ~ Beta(m/2, (d − m)/2)      (1)
    (1 + r²/m)^{−m/2}            for Gaussian entries:         ‖P δ‖² = ‖δ‖² χ²_m / m                               (2)

and the square of γ⟨x, y⟩ + ν grows by γ² Var⟨Px, Py⟩; for a higher power p, by more, to first order in the variance
by ½ p (p − 1) (γ⟨x, y⟩ + ν)^{p−2} γ² Var⟨Px, Py⟩.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import scratch
from rfbench.checks import InputError, require
from rfbench.kernels.base import Kernel
from rfbench.seeds import rng_for
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.exact import Exact, Identity
from rfbench.sketches.family import ANY, Family
from rfbench.sketches.fourier.directions import INDEPENDENT
from rfbench.sketches.fourier.waves import ISOTROPIC, phase_fourier, real_fourier
from rfbench.sketches.nystrom.sketch import Nystrom
from rfbench.sketches.projectors import PROJECTORS
from rfbench.sketches.wrappers import WrappedMap, Wrapper


@dataclass(frozen=True)
class Compressed(Wrapper):
    """Any sketch, applied to m random measurements of a row."""

    measurements: int | None  # None: half the columns
    projector: str = "orthogonal"
    random, factored, weight_law = True, False, None

    def __post_init__(self) -> None:
        m = self.measurements
        require(m is None or m >= 1, "sketch.measurements", "at least 1, or null for half the columns", m)
        require(self.projector in PROJECTORS, "sketch.projector", ", ".join(PROJECTORS), self.projector)

    def length(self, d: int) -> int:
        """m."""
        m = self.measurements or -(-d // 2)
        require(m <= d, "sketch.measurements", f"at most {d}, the number of columns", m)
        return m

    def count(self, d: int, D: int) -> int:
        return self.base.count(self.length(d), D)

    def measured(self, d: int, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        """One draw of P."""
        return PROJECTORS[self.projector]().sample(d, self.length(d), rng, dtype)

    def adapt(self, X: Array, D: int) -> Sketch:
        """The base learns from measurements of the rows; which projector measures them matters little."""
        return replace(self, base=self.base.adapt(self.measured(X.shape[1], rng_for(0, "adapt"), X.dtype)(X), D))

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        first = self.measured(d, rng, dtype)
        return Chained(first, self.base.sample(first.D, D, rng, dtype))

    @property
    def stated_bias(self) -> str | None:
        return None if isinstance(self.base, Identity) else "measurements change distances and powers of inner products"

    @property
    def truncation(self) -> str | None:
        return self.base.truncation

    @property
    def closed_form(self) -> ClosedForm | None:
        """The projector's, where nothing follows it."""
        form = PROJECTORS[self.projector]().closed_form
        if form is None or not isinstance(self.base, Identity):
            return None
        return ClosedForm(lambda X, Y, D: form.variance(X, Y, self.length(X.shape[1])))


class Chained(WrappedMap):
    """One map after another."""

    def __init__(self, first: FeatureMap, base: FeatureMap) -> None:
        super().__init__(base)
        self.first, self.d = first, first.d
        self.explicit, self.kernel = base.explicit, base.kernel

    @property
    def chunk(self) -> int:
        return min(self.first.chunk, self.base.chunk)

    def write(self, X: Array, out: Array) -> None:
        between = scratch("between", (len(X), self.first.D), self.first.dtype)
        self.first.write(X, between)
        self.base.write(between, out)

    def parts(self) -> Iterator[FeatureMap]:
        return (Chained(self.first, part) for part in self.base.parts())

    def product(self, Phi: Array, Psi: Array) -> Array:
        assert Phi.shape[1] == Psi.shape[1] == self.D, "these are rows, not measurements of them"
        return self.base.product(Phi, Psi)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        return self.base.paired(Phi, Psi)


def compressed(
    make: Callable[[Kernel], Sketch], kernel: Kernel, measurements: int | None = None, projector: str = "orthogonal"
) -> Compressed:
    return Compressed(make(kernel), measurements, projector)


BASES: dict[str, tuple[Callable[[Kernel], Sketch], tuple[str, ...], str, str]] = {
    "rff": (partial(real_fourier, INDEPENDENT), ISOTROPIC, "Monte Carlo", "d m + m D"),
    "phase_rff": (partial(phase_fourier, INDEPENDENT), ISOTROPIC, "Monte Carlo", "d m + m D"),
    "identity": (lambda kernel: Identity(), ("linear",), "closed form", "d m"),
    "exact": (Exact, ISOTROPIC, "Monte Carlo", "d m + n m"),
}
FAMILIES = {
    f"compressive_{name}": Family(partial(compressed, make), kernels, variance, cost)
    for name, (make, kernels, variance, cost) in BASES.items()
}


def over_any(make_sketch: Callable[[str, Kernel], Sketch]) -> Family:
    """The sketch `compressive`, whose base is any other one by its name."""

    def make(
        kernel: Kernel,
        base: str = "ctr_tensorsrht",
        measurements: int | None = None,
        projector: str = "orthogonal",
    ) -> Compressed:
        if kernel.matrix_valued:
            raise InputError(f"sketch=compressive is for one output, and kernel '{kernel.name}' has several")
        sketch = make_sketch(base, kernel)
        # Landmarks would be measured by another projector than the rows.
        alone = not sketch.localized and not isinstance(sketch, Compressed | Nystrom)
        require(alone, "sketch.base", "a sketch of single rows that is neither compressive nor nystrom", base)
        return Compressed(sketch, measurements, projector)

    return Family(make, ANY, "Monte Carlo", "d m + that of its base with m columns")
