"""A kernel along pairs of rows that move apart, beside the variance or the estimate of a sketch.

The pairs are (0, τu), or rows of length 1 at the distance τ, or rows of length τ at a fixed angle, in a random plane of
the data's space [Wacker 2022, Fig. 2.1, 2.3 and 5.7].  Along signs, all entries are ±1/√d and a share τ of them has
opposite signs in x and y: ⟨x, y⟩ = 1 − 2τ, and its square against Σ xᵢ²yᵢ² = 1/d decides for complex or real weights
[ibid., Eq. 3.20].  An estimate with many features is close to its mean.  Options add the kernel's Maclaurin series up
to each degree, and the density of the distances of test rows [ibid., Fig. 5.6].
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array, real_type, squared_distances
from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Split
from rfbench.engines import Engine
from rfbench.kernels import DotProductKernel, Kernel, KernelRecipe
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.tasks.base import Measure, Task, Trial, of_one_output

ALONG = ("distance", "sphere", "norm", "signs")

Curves = dict[str, Array]


@dataclass(frozen=True)
class Profile(Task):
    """k(τ) at `points` values of τ up to `reach`, and D Var k̂(τ) or k̂(τ)."""

    name = "profile"
    of: str = "variance"
    along: str = "distance"
    reach: float = 4.0
    angle: float = 0.0
    points: int = 41
    series: int = 0
    rows: int = 0

    def __post_init__(self) -> None:
        require(self.of in ("variance", "estimate"), "task.of", "variance or estimate", self.of)
        require(self.along in ALONG, "task.along", f"one of {', '.join(ALONG)}", self.along)
        most = {"sphere": 2, "signs": 1}.get(self.along, np.inf)
        require(0 < self.reach <= most and self.reach < np.inf, "task.reach", f"above 0, up to {most}", self.reach)
        require(2 <= self.points <= 999, "task.points", "from 2 to 999", self.points)
        require(0 <= self.series <= 9, "task.series", "from 0 to 9", self.series)
        good = self.rows == 0 or (2 <= self.rows <= 5000 and self.along in ("distance", "sphere"))
        require(good, "task.rows", "0, or from 2 to 5000 along distance or sphere", self.rows)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if self.of == "variance" and sketch.closed_form is None:
            return "task.of=variance needs a sketch with a variance in closed form; use task.of=estimate"
        if self.series and not issubclass(recipe.cls, DotProductKernel):
            return f"task.series needs a dot product kernel, and kernel '{recipe.name}' is not one; use task.series=0"
        return of_one_output(self.name, recipe) or super().objection(sketch, recipe)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> tuple[Array, Array, Array, Curves]:
        """τ, x, y, and the curves that need no sketch, at the points τ."""
        d = split.test.sample(1, rng_for(seed, "profile"))[0].shape[1]
        if d < 2:
            raise InputError("task=profile needs rows of at least two columns, and these have one")
        t = np.linspace(0, self.reach, self.points)
        if self.along == "signs":
            t, X, Y = opposite(d, t)
        else:
            plane, _ = np.linalg.qr(rng_for(seed, "profile", "plane").standard_normal((d, 2)))
            X, Y = (rows @ plane.T for rows in pairs(self.along, t, np.radians(self.angle)))
        k = np.array([kernel.gram(x[None], y[None])[0, 0] for x, y in zip(X, Y, strict=True)])
        curves = {"kernel": k}
        if self.series:
            assert isinstance(kernel, DotProductKernel)
            sums = partial_sums(kernel, X, Y, self.series)
            curves |= {f"series{n}": curve for n, curve in enumerate(sums) if n}
        if self.rows:
            rows, _ = split.test.sample(self.rows, rng_for(seed, "profile", "rows"))
            curves["density"] = density(rows, t)
        return t, X, Y, curves

    def measure(self, trial: Trial, reference: tuple[Array, Array, Array, Curves]) -> Iterator[Measure]:
        t, X, Y, curves = reference
        if self.of == "variance":
            form = trial.sketch.closed_form
            assert form
            found = trial.D * np.diag(form.variance(X, Y, trial.D))
            yield Measure("largest_variance", float(found.max()), message="of one feature")
        else:
            features = trial.drawn().features
            dtype = real_type(features.dtype)
            found = features.paired(*(features(rows.astype(dtype)) for rows in (X, Y))).real.ravel()
            yield Measure("max_abs_error", float(np.abs(found - curves["kernel"]).max()))
        for name, values in (curves | {self.of: found}).items():
            trial.curve(name, t, values)


def pairs(along: str, t: Array, angle: float) -> tuple[Array, Array]:
    """x and y in the plane, a pair for each value of τ."""
    zero, one = np.zeros_like(t), np.ones_like(t)
    if along == "distance":
        return np.stack((zero, zero), 1), np.stack((t, zero), 1)
    if along == "norm":
        return np.stack((t, zero), 1), t[:, None] * [np.cos(angle), np.sin(angle)]
    between = 2 * np.arcsin(t / 2)  # the angle of a chord t
    return np.stack((one, zero), 1), np.stack((np.cos(between), np.sin(between)), 1)


def opposite(d: int, t: Array) -> tuple[Array, Array, Array]:
    """Rows of entries ±1/√d of which a share τ has opposite signs, for the values of τ that are multiples of 1/d."""
    counts = np.unique(np.round(t * d))
    X = np.full((len(counts), d), d**-0.5)
    return counts / d, X, np.where(np.arange(d) < counts[:, None], -X, X)


def partial_sums(kernel: DotProductKernel, X: Array, Y: Array, n: int) -> Array:
    """Σ_{m ≤ n} a_m ⟨x, y⟩^m of every pair, times the kernel's factors, for n = 0 and up; (n + 1, pairs)."""
    degrees = np.arange(n + 1)
    terms = kernel.coefficients(degrees)[:, None] * np.einsum("ij,ij->i", X, Y) ** degrees[:, None]
    return np.cumsum(terms, 0) * kernel.radial(X) * kernel.radial(Y)


def density(X: Array, t: Array) -> Array:
    """Density of the distances of all pairs of rows, in cells around t; larger distances count in the total only."""
    distances = np.sqrt(squared_distances(X, X)[np.triu_indices(len(X), 1)])
    step = t[1] - t[0]
    counts, _ = np.histogram(distances, np.append(t, t[-1] + step) - step / 2)
    return counts / (len(distances) * step)
