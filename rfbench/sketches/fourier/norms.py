"""Lengths of frequencies whose directions are on the unit sphere of R^d.

A Gaussian vector has the length χ_d.  Lengths are

- independent;
- paired within each block of directions, with F(ϱ₁) + F(ϱ₂) = 1 for the distribution function F of all lengths, so that
  a short frequency comes with a long one [Reid et al. 2025]: each keeps its law, and the mean of a pair
  varies less;
- constant, the root of E χ², which is a bias for all kernels but those of one length.
"""

from collections.abc import Callable

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.kernels.exponential import Gaussian
from rfbench.kernels.matern import length_quantile

GAUSSIAN = Gaussian(1.0)


def paired_uniform(n: int, block: int, rng: np.random.Generator) -> Array:
    """n uniform numbers; those of the second half of each block are 1 minus those of the first."""
    u = rng.random(n)
    for span in spans(n, block):
        half = (span.stop - span.start) // 2
        u[span.start + half : span.start + 2 * half] = 1 - u[span.start : span.start + half]
    return u


NORMS: dict[str, Callable[[int, int, np.random.Generator], Array]] = {
    "independent": lambda d, n, rng: np.sqrt(rng.chisquare(d, n)),
    "paired": lambda d, n, rng: length_quantile(GAUSSIAN, d, paired_uniform(n, d, rng)),
    "constant": lambda d, n, rng: np.full(n, np.sqrt(d)),
}
