"""Points of randomised quasi-Monte Carlo rules as Gaussian vectors [Yang et al. 2014].

Each point is uniform on the cube, so that the features stay unbiased; together they fill it more evenly than
independent ones.  Sobol and Halton points are scrambled, a lattice is shifted at random:

    u_i = i (1, a, a², …)/n + shift mod 1,        i = 0, …, n − 1                                                    (1)

with the a, of a few, for which the mean squared error P₂ of an integral is least when column j has the weight 1/j²
[Sloan & Joe 1994; Sloan & Woźniakowski 1998].  All gain for few columns, or where the first columns matter most.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import gcd
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.sketches.base import FeatureMap
from rfbench.sketches.fourier.directions import Directions, Linear

BITS = 30  # of a Sobol point
TRIED, JUDGED = 24, 32  # numbers a, and columns by which they are judged


@dataclass(frozen=True)
class QuasiRandom(Directions):
    """Gaussian vectors, which keep their own lengths unless they are wanted on the sphere."""

    points: str = "sobol"
    unit: bool = False

    def norms(self, d: int, n: int, rng: np.random.Generator) -> Array:
        return np.ones(n)

    def on_sphere(self) -> "QuasiRandom":
        return replace(self, unit=True)

    def draw(self, d: int, radius: Array, rng: np.random.Generator, dtype: Any) -> FeatureMap:
        W = gaussian_points(self.points, len(radius), d, rng).T
        if self.unit:
            W /= np.linalg.norm(W, axis=0)
        return Linear((W * radius).astype(dtype))


def gaussian_points(kind: str, n: int, d: int, rng: np.random.Generator) -> Array:
    """n points in d columns, (n, d)."""
    from scipy.special import ndtri

    return np.asarray(ndtri(POINTS[kind](n, d, rng)))


def sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    from scipy.stats.qmc import Sobol

    points = Sobol(d, bits=BITS, seed=rng).random_base2((n - 1).bit_length())[:n]
    return np.asarray(points) + 2.0 ** -(BITS + 1)  # they may be 0


def halton(n: int, d: int, rng: np.random.Generator) -> Array:
    from scipy.stats.qmc import Halton

    return np.clip(Halton(d, seed=rng).random(n), 2.0**-53, 1 - 2.0**-53)


def lattice(n: int, d: int, rng: np.random.Generator) -> Array:
    """Equation (1)."""
    points = (np.outer(np.arange(n), generator(n, d)) % n / n + rng.random(d)) % 1
    return np.clip(points, 2.0**-53, 1 - 2.0**-53)


@cache
def generator(n: int, d: int) -> Array:
    """(1, a, a², …) modulo n."""
    return min((powers(a, n, d) for a in candidates(n)), key=lambda z: worst_case(z[:JUDGED], n))


def candidates(n: int) -> list[int]:
    """Numbers without a common divisor with n, spread over its lower half by the golden ratio."""
    found = {int(n * ((k * 0.6180339887498949) % 1) / 2) for k in range(1, 4 * TRIED)}
    return [a for a in sorted(found) if a > 1 and gcd(a, n) == 1][:TRIED] or [1]


def powers(a: int, n: int, d: int) -> Array:
    z = [1]
    while len(z) < d:
        z.append(z[-1] * a % n)
    return np.array(z)


def worst_case(z: Array, n: int) -> float:
    """P₂ of a lattice, with the weights 1/j²."""
    error = np.ones(n)
    for j, one in enumerate(z, 1):
        u = np.arange(n) * one % n / n
        error *= 1 + 2 * np.pi**2 * (u * u - u + 1 / 6) / j**2
    return float(error.mean() - 1)


POINTS: dict[str, Callable[[int, int, np.random.Generator], Array]] = {
    "sobol": sobol,
    "halton": halton,
    "lattice": lattice,
}
