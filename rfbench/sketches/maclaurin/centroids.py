"""Centroids of the training rows, from passes over all of them.

Farthest points are those of Wacker 2022, Algorithm 7, which allows any other clustering.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, squared_distances, squared_norms
from rfbench.checks import InputError
from rfbench.datasets.moments import Moments
from rfbench.seeds import rng_for

Pass = Callable[[], Iterable[Array]]  # all rows, block by block, from the first one whenever called
MOST = 1000  # centroids that a threshold may lead to: each has features and a pass over the rows of its own
PASSES = 50  # of k-means at most


def nearest(X: Array, centroids: Array) -> NDArray[np.int64]:
    """The centroid of every row."""
    return squared_distances(X, centroids).argmin(1)


def farthest_points(rows: Pass, threshold: float, count: int | None = None) -> Array:
    """The mean, and the row that is farthest from all centroids until none is beyond the threshold, or `count`.

    A pass for each; eight bytes of every row stay in memory.
    """
    moments = Moments()
    for X in rows():
        moments.add(X.astype(np.float64))
    found, distances = [moments.mean], np.full(moments.n, np.inf)
    while True:
        start, farthest, distance = 0, found[0], 0.0
        for X in rows():
            near = distances[start : start + len(X)]
            np.minimum(near, squared_norms(X - found[-1]), out=near)
            start, i = start + len(X), int(near.argmax())
            if near[i] > distance:
                farthest, distance = X[i].astype(np.float64), float(near[i])
        if len(found) == count or distance <= (0 if count else threshold**2):
            return np.array(found)
        if len(found) == MOST and not count:
            raise InputError(f"sketch.threshold leads to more than {MOST} clusters; raise it, or give sketch.clusters")
        found.append(farthest)


def k_means(rows: Pass, centroids: Array) -> Array:
    """Lloyd's algorithm from these centroids; one without rows stays where it is."""
    for _ in range(PASSES):
        sums, counts = np.zeros_like(centroids), np.zeros(len(centroids))
        for X in rows():
            cluster = nearest(X, centroids)
            np.add.at(sums, cluster, X)
            counts += np.bincount(cluster, minlength=len(counts))
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centroids)
        if np.array_equal(moved, centroids):
            break
        centroids = moved
    return centroids


def random_rows(rows: Pass, count: int) -> Array:
    """As many rows, or all."""
    n = sum(map(len, rows()))
    which, found, start = np.sort(rng_for(0, "centroids").permutation(n)[:count]), [], 0
    for X in rows():
        low, high = np.searchsorted(which, (start, start + len(X)))
        found.append(X[which[low:high] - start].astype(np.float64))
        start += len(X)
    return np.concatenate(found)
