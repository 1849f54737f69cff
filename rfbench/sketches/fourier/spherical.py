"""Spherical random features for (1 − ‖x − y‖²/a²)ᵖ on the unit sphere [Pennington et al. 2015; Wacker 2022, 2.2.4].

Fourier features whose radii have the density fitted in spherical_fit.py.  The polynomial kernel is not positive
definite on R^d, so the estimate is biased: its mean is k̂(‖x − y‖) of the fit, however many features there are.  For
a < 2 the base 1 − ‖x − y‖²/a² is negative for distant points, which no k̂ can follow, and the bias is large [ibid.,
Fig. 2.3(c)].  Directions are independent, or orthogonal by Hadamard matrices [ibid., 5.4.3]; those lie on the sphere of
the padded columns, and so does the fit.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import require
from rfbench.kernels.matern import near_squared_distances
from rfbench.kernels.polynomial import PolynomialSphere
from rfbench.sketches.base import Sketch
from rfbench.sketches.family import Family
from rfbench.sketches.fourier.norms import paired_uniform
from rfbench.sketches.fourier.options import choose
from rfbench.sketches.fourier.spherical_fit import Radial, fitted
from rfbench.sketches.fourier.waves import Fourier, RealFourier

MOST_COMPONENTS = 100  # the fit of the density takes minutes beyond


@dataclass(frozen=True)
class Spherical(Fourier):
    """Complex spherical features."""

    kernel: PolynomialSphere
    components: int = 10  # N of Eq. 2.29

    stated_bias = "its density is fitted to the kernel by few Gaussians [Wacker 2022, Eq. 2.29]"

    def __post_init__(self) -> None:
        most, given = MOST_COMPONENTS, self.components
        require(1 <= given <= most, "sketch.components", f"from 1 to {most}", given)

    def radial(self, d: int) -> Radial:
        """The fitted density for d columns."""
        return fitted(self.directions.dimension(d), self.kernel.degree, self.kernel.a, self.components)

    def radius(self, d: int, D: int, rng: np.random.Generator) -> Array:
        paired = self.directions.lengths == "paired"
        u = paired_uniform(D, self.directions.dimension(d), rng) if paired else rng.random(D)
        return self.radial(d).quantile(u)

    @property
    def own_radius(self) -> bool:
        return True

    def mean(self, X: Array, Y: Array) -> Array:
        """k̂ of all pairs, to which the estimate converges and around which its variance is."""
        return self.radial(X.shape[1]).kernel(np.sqrt(near_squared_distances(X, Y)))


def spherical(by_default: str, real: bool) -> Callable[..., Sketch]:
    """A maker of spherical features, real or complex."""

    def with_options(
        kernel: PolynomialSphere, components: int = 10, directions: str = by_default, norms: str | None = None
    ) -> Sketch:
        require(norms != "constant", "sketch.norms", "independent or paired", norms)
        waves = Spherical(kernel, choose(directions, norms), components)
        return RealFourier(waves) if real else waves

    return with_options


FAMILIES = {
    variant + name: Family(spherical(directions, not variant), ("polynomial_sphere",), variance, cost)
    for name, directions, variance, cost in (
        ("srf", "independent", "closed form", "d D"),
        ("srf_orthogonal", "structured", "Monte Carlo", "D log d"),
    )
    for variant in ("", "complex_")
}
