"""Localized Maclaurin features: the Gaussian kernel around many points instead of one  [Wacker 2022, 5.5].

The Maclaurin estimate k̂ of a Gaussian kernel vanishes far from the origin (Theorem 5.5.1).  The kernel itself does
not change if both arguments are moved, so with centroids c and independent draws k̂_c,

    k̂*(x, y) = ½ [k̂_{c(x)}(x − c(x), y − c(x)) + k̂_{c(y)}(x − c(y), y − c(y))]                                 (1)

where c(x) is the centroid nearest to x.  A Gaussian process uses only k̂_c for new rows nearest to c (Eq. 5.31,
Algorithm 7); (1) estimates a kernel matrix: it is symmetric, with the variance of k̂_c where both rows have the centroid
c and a quarter of the sum of both variances elsewhere.

With one draw k̂ for all centres, each new row x may be a centre itself (Eq. 5.29): k̂_x(x, y) is then k(x, y) for every
y, only the kernel between training rows is an estimate, and a process is fitted for each new row.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.checks import InputError, require
from rfbench.kernels.exponential import Gaussian
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.exact import IdentityMap
from rfbench.sketches.family import Family
from rfbench.sketches.maclaurin.centroids import Pass, farthest_points, k_means, nearest, random_rows
from rfbench.sketches.maclaurin.optimized import AllocatedMaclaurin, OptimizedMaclaurin
from rfbench.sketches.wrappers import WrappedMap, Wrapper

CENTERS = ("clusters", "test")
CENTROIDS = ("farthest", "k_means", "random")


@dataclass(frozen=True)
class LocalizedMaclaurin(OptimizedMaclaurin):
    """Features are allocated to degrees once, on centred rows; θ is `threshold` times the length scale."""

    kernel: Gaussian
    threshold: float = 2.0
    centers: str = "clusters"  # or test: every row to predict
    centroids: str = "farthest"
    clusters: int | None = None  # None: as many as farthest points within the threshold
    by_degree, explicit, localized = False, False, True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.threshold > 0, "sketch.threshold", "above 0", self.threshold)
        require(self.centers in CENTERS, "sketch.centers", " or ".join(CENTERS), self.centers)
        require(self.centroids in CENTROIDS, "sketch.centroids", "farthest, k_means or random", self.centroids)
        require(self.clusters is None or self.clusters >= 1, "sketch.clusters", "null or at least 1", self.clusters)

    @property
    def recentred(self) -> bool:
        return self.centers == "test"

    def survey(self, rows: Pass) -> Sketch:
        return self if self.recentred else ClusteredMaclaurin(self, tuple(map(tuple, self._centroids(rows).tolist())))

    def _centroids(self, rows: Pass) -> Array:
        if self.centroids == "random" and self.clusters:
            return random_rows(rows, self.clusters)
        farthest = farthest_points(rows, self.threshold * sqrt(self.kernel.l2), self.clusters)
        if self.centroids == "farthest":
            return farthest
        return k_means(rows, farthest) if self.centroids == "k_means" else random_rows(rows, len(farthest))

    def adapt(self, X: Array, D: int) -> Sketch:
        return RecentredMaclaurin(self.allocated(X, D)) if self.recentred else self.survey(lambda: [X]).adapt(X, D)

    def allocated(self, X: Array, D: int) -> AllocatedMaclaurin:
        """The allocation for rows around their mean."""
        X = X.astype(np.float64)
        sketch = super().adapt(X - X.mean(0), D)
        assert isinstance(sketch, AllocatedMaclaurin)
        return sketch


@dataclass(frozen=True)
class ClusteredMaclaurin(Wrapper):
    """A localized sketch with known centroids."""

    base: LocalizedMaclaurin
    centroids: tuple[tuple[float, ...], ...]
    explicit, localized = False, True

    def adapt(self, X: Array, D: int) -> Sketch:
        return LocatedMaclaurin(self.base.allocated(X, D), self.centroids)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return self.base.sample(d, D, rng, dtype)  # refuses: it needs training rows first


@dataclass(frozen=True)
class RecentredMaclaurin(Wrapper):
    """One draw, moved to each row that is to be predicted."""

    base: AllocatedMaclaurin
    explicit, localized, recentred = False, True, True

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return RecentredMap(self.base.sample(d, D, rng, dtype))


@dataclass(frozen=True)
class LocatedMaclaurin(Wrapper):
    """Equation (1) for known centroids."""

    base: AllocatedMaclaurin
    centroids: tuple[tuple[float, ...], ...]
    explicit, localized = False, True

    def facts(self) -> dict[str, Any]:
        return self.base.facts() | {"clusters": len(self.centroids)}

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> "LocalizedMap":
        if objection := self.objection(D):
            raise InputError(objection)
        centroids = np.array(self.centroids)
        return LocalizedMap([CentredMap(self.base.sample(d, D, rng, dtype), c) for c in centroids], centroids)

    @property
    def closed_form(self) -> ClosedForm:
        return ClosedForm(self._variance)

    def _variance(self, X: Array, Y: Array, D: int) -> Array:
        of_x, of_y = (nearest(Z, np.array(self.centroids)) for Z in (X, Y))
        V = np.zeros((len(X), len(Y)))
        for c in np.union1d(of_x, of_y):
            share = np.add.outer(of_x == c, of_y == c, dtype=float) / 2
            centroid = np.array(self.centroids[c])
            V += share**2 * self.base.closed_form.variance(X - centroid, Y - centroid, D)
        return V


class RecentredMap(IdentityMap):
    """Returns the rows themselves: a map of features belongs to a row."""

    explicit, recentred = False, True

    def __init__(self, base: FeatureMap) -> None:
        super().__init__(base.d, base.dtype)
        self.base = base

    def around(self, centre: Array) -> FeatureMap:
        return CentredMap(self.base, centre)


class CentredMap(WrappedMap):
    """A map of x − c."""

    def __init__(self, base: FeatureMap, centroid: Array) -> None:
        super().__init__(base)
        self.centroid = centroid

    def write(self, X: Array, out: Array) -> None:
        # In double precision: rows far from the origin and near their centroid keep their digits.
        self.base.write((X - self.centroid).astype(X.dtype), out)


class LocalizedMap(IdentityMap):
    """One map per centroid.  Returns the rows themselves: their features depend on the other row of a pair."""

    explicit = False

    def __init__(self, experts: list[FeatureMap], centroids: Array) -> None:
        super().__init__(experts[0].d, experts[0].dtype)
        self.experts, self.centroids = experts, centroids

    def nearest(self, X: Array) -> NDArray[np.int64]:
        return nearest(X, self.centroids)

    def product(self, Phi: Array, Psi: Array) -> Array:
        X, Y = Phi.real, Psi.real
        return (self._around_first(X, Y) + self._around_first(Y, X).conj().T) / 2

    def _around_first(self, X: Array, Y: Array) -> Array:
        K, cluster = np.empty((len(X), len(Y)), self.dtype), self.nearest(X)
        for c in np.unique(cluster):
            expert = self.experts[c]
            K[cluster == c] = expert.product(expert(X[cluster == c]), expert(Y))
        return K

    def paired(self, Phi: Array, Psi: Array) -> Array:
        X, Y = Phi.real, Psi.real
        k = np.zeros((len(X), 1), self.dtype)
        for cluster in (self.nearest(X), self.nearest(Y)):
            for c in np.unique(cluster):
                rows, expert = cluster == c, self.experts[c]
                k[rows] += expert.paired(expert(X[rows]), expert(Y[rows])) / 2
        return k


FAMILIES = {"localized_maclaurin": Family(LocalizedMaclaurin, ("gaussian",), "closed form", "that of its base")}
