"""Localized Maclaurin features: the Gaussian kernel around many points instead of one  [Wacker 2022, 5.5].

The Maclaurin estimate k̂ of a Gaussian kernel vanishes far from the origin (Theorem 5.5.1).  The kernel itself does
not change if both arguments are moved, so with centroids c and independent draws k̂_c,

    k̂*(x, y) = ½ [k̂_{c(x)}(x − c(x), y − c(x)) + k̂_{c(y)}(x − c(y), y − c(y))]                                 (1)

where c(x) is the centroid nearest to x.  A Gaussian process uses only k̂_c for new rows nearest to c (Eq. 5.29 and
5.31, Algorithm 7); (1) estimates a kernel matrix: it is symmetric, with the variance of k̂_c where both rows have the
centroid c and a quarter of the sum of both variances elsewhere.  Centroids are the mean of the training rows and, while
some row is farther than θ from all centroids, the farthest row.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, squared_distances, squared_norms
from rfbench.checks import InputError, require
from rfbench.kernels.exponential import Gaussian
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.exact import IdentityMap
from rfbench.sketches.family import Family
from rfbench.sketches.maclaurin.optimized import AllocatedMaclaurin, OptimizedMaclaurin
from rfbench.sketches.wrappers import WrappedMap, Wrapper


@dataclass(frozen=True)
class LocalizedMaclaurin(OptimizedMaclaurin):
    """Features are allocated to degrees once, on centred rows; θ is `threshold` times the length scale."""

    kernel: Gaussian
    threshold: float = 2.0
    by_degree, explicit, localized = False, False, True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.threshold > 0, "sketch.threshold", "above 0", self.threshold)

    def adapt(self, X: Array, D: int) -> Sketch:
        X = X.astype(np.float64)
        mean = X.mean(0)
        allocated = super().adapt(X - mean, D)
        assert isinstance(allocated, AllocatedMaclaurin)
        centroids = farthest_points(X, mean, self.threshold * sqrt(self.kernel.l2))
        return LocatedMaclaurin(allocated, tuple(map(tuple, centroids.tolist())))


def farthest_points(X: Array, first: Array, threshold: float) -> Array:
    """The first point, and rows until every row is within the threshold of one of them."""
    found, distance = [first], squared_norms(X - first)
    while distance.max() > threshold**2:
        found.append(X[distance.argmax()])
        distance = np.minimum(distance, squared_norms(X - found[-1]))
    return np.array(found)


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


def nearest(X: Array, centroids: Array) -> NDArray[np.int64]:
    return squared_distances(X, centroids).argmin(1)


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
