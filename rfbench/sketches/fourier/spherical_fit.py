"""The radial density for which Fourier features best approximate a polynomial kernel on the unit sphere.

A density p̂ of ‖ω‖ gives the kernel of the distance [Wacker 2022, Eq. 2.27]

    k̂(τ) = ∫ p̂(r) Λ_d(r τ) dr,        Λ_d(x) = E cos(x s₁) for s uniform on the unit sphere.            (1)

It is chosen among p̂(r) ∝ max(0, Σ cᵢ f(r/σᵢ)/σᵢ), f the density of √2 χ_d [Eq. 2.29], to minimise

    L = ½ ∫₀² (k(τ) − k̂(τ))² dτ,        k(τ) = (1 − τ²/a²)ᵖ                       [Eq. 2.28].            (2)
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from math import lgamma, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.kernels.bessel import cosines
from rfbench.storage import cache_dir, replace_file

DISTANCES, RADII, FINE = 200, 1024, 4096  # grid points: of τ, of r in the fit, of r in the result
LEAST, MOST = 0.25, 2.0  # σᵢ lies between these multiples of √p/a, the scale of k near τ = 0
STEPS = 400  # of the optimizer from each start


@dataclass(frozen=True, eq=False)
class Radial:
    """A density of ‖ω‖ in R^d: the mass of each cell around a grid of radii."""

    d: int
    r: Array
    mass: Array

    def quantile(self, u: Array) -> Array:
        """The radii at which the distribution function is u."""
        below = np.concatenate(([0.0], np.cumsum(self.mass)))
        half = self.r[0]
        return np.interp(u, below / below[-1], np.append(self.r - half, self.r[-1] + half))

    def kernel(self, tau: Array) -> Array:
        """k̂ of equation (1), for distances up to 4, twice the largest on the sphere."""
        return self._spline(tau)

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline

        tau, there = np.linspace(0, 4, 2 * DISTANCES + 1), self.mass > 1e-15
        return CubicSpline(tau, cosines(self.d, np.outer(tau, self.r[there])) @ self.mass[there])


@cache
def fitted(d: int, p: int, a: float, components: int) -> Radial:
    """The density of equation (2), fitted once and cached in memory and on disk."""
    path = cache_dir() / "srf" / f"{d}-{p}-{float(a)!r}-{components}-{FINE}.json"
    try:
        c, sigma = (np.array(json.loads(path.read_text())[key]) for key in ("c", "sigma"))
    except (OSError, ValueError, KeyError):
        c, sigma = _fit(d, p, a, components)
        _keep(path, c, sigma)
    r = _grid(d, p, a, FINE)
    mass = np.maximum(c @ _densities(d, sigma, r), 0)
    return Radial(d, r, mass / mass.sum())


def _keep(path: Path, c: Array, sigma: Array) -> None:
    with suppress(InputError):  # if the cache cannot be written, the next process fits again
        replace_file(path, json.dumps({"c": c.tolist(), "sigma": sigma.tolist()}))


def _fit(d: int, p: int, a: float, components: int) -> tuple[Array, Array]:
    """c and σ of the best local minimum on the finer grid: on that of the fit a spike may look right and be wrong."""
    from scipy.optimize import minimize

    r, tau, scale = _grid(d, p, a, RADII), np.linspace(0, 2, DISTANCES), sqrt(p) / a
    waves, k = cosines(d, np.outer(tau, r)), (1 - tau**2 / a**2) ** p
    bounds = [(None, None)] * components + [(log(LEAST * scale), log(MOST * scale))] * components
    options = {"maxiter": STEPS, "ftol": 1e-14, "gtol": 1e-12}
    results = [
        minimize(_loss, start, (d, r, waves, k), "L-BFGS-B", jac=True, bounds=bounds, options=options)
        for start in _starts(components, scale)
    ]
    fine = _grid(d, p, a, FINE)
    waves = cosines(d, np.outer(tau, fine))
    best: Array = min((result.x for result in results), key=lambda v: _loss(v, d, fine, waves, k)[0])
    return best[:components], np.exp(best[components:])


def _starts(n: int, scale: float) -> Iterator[Array]:
    """Narrow, wide, and with signs."""
    for c, low, high in ((np.ones(n), 0.8, 1.05), (np.ones(n), 0.3, 1.8), (1.2 - 2.2 * (np.arange(n) % 2), 0.6, 1.4)):
        yield np.concatenate((c, np.log(scale * np.geomspace(low, high, n))))


def _loss(v: Array, d: int, r: Array, waves: Array, k: Array) -> tuple[float, Array]:
    """Equation (2) and its gradient by (c, log σ); the step of τ is 2/len(k)."""
    c, sigma = np.split(v, 2)
    sigma = np.exp(sigma)
    F = _densities(d, sigma, r)
    q = np.maximum(c @ F, 0)
    Z = q.sum() + 1e-300
    k_hat = waves @ q / Z
    e = (k_hat - k) / len(k)
    g = (q > 0) * (e @ waves - e @ k_hat) / Z  # ∂L/∂q
    Fg = F * g
    return float(e @ (k_hat - k)), 2 * np.concatenate((Fg.sum(1), c * (Fg @ r**2 / (2 * sigma**2) - d * Fg.sum(1))))


def _grid(d: int, p: int, a: float, n: int) -> Array:
    """Midpoints of n cells that cover every admissible component."""
    end = MOST * sqrt(2 * p) / a * (sqrt(d) + 5)
    return (np.arange(n) + 0.5) * (end / n)


def _densities(d: int, sigma: Array, r: Array) -> Array:
    """The density of √2 σᵢ χ_d at r, (components, len(r))."""
    s = sigma[:, None]
    return np.exp(log(2) - lgamma(d / 2) + (d - 1) * np.log(r) - d * np.log(2 * s) - (r / (2 * s)) ** 2)
