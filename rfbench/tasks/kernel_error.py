"""The error of the estimated kernel matrix of test rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from rfbench.arrays import Array, is_complex
from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.prepare import Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel
from rfbench.linalg.tiles import MOST_ROWS, products, tiles
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap
from rfbench.tasks.base import Measure, Size, Task, Trial

ORDERS = ("random", "first")


@dataclass(frozen=True)
class KernelError(Task):
    """‖K̂ − K‖/‖K‖ in the Frobenius and the spectral norm on `rows` test rows, drawn for every seed or the first ones.

    For a matrix-valued kernel, on as many rows as give a matrix of that size, but at least two.
    """

    name = "kernel_error"
    several_outputs = measurements = indefinite = spreads = shares_reference = True
    rows: int = 1000
    order: str = "random"
    off_diagonal: bool = False

    def __post_init__(self) -> None:
        require(1 <= self.rows <= MOST_ROWS, "task.rows", f"from 1 to {MOST_ROWS}", self.rows)
        if self.order not in ORDERS:
            raise InputError(f"no task.order={self.order}; {did_you_mean(self.order, ORDERS)}")

        require(self.rows > 1 or not self.off_diagonal, "task.rows", "at least 2 for task.off_diagonal=true", self.rows)

    def memory(self, size: Size) -> int:
        """K, its error and, of complex features, the imaginary part; and Φ."""
        m = min(self.rows, size.n_test)
        return m * m * (8 + size.wide) + m * size.D * size.itemsize

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> tuple[Array, Array, float]:
        """(X, K, ‖K‖₂)."""
        if self.order == "first":
            X, _ = split.test.take(np.arange(min(self.rows, len(split.test))))
        else:
            X, _ = split.test.sample(self.rows, rng_for(seed, "kernel_error", "rows"))
        X = X[:: min(kernel.size(X.shape[1]), max(len(X) // 2, 1))]
        K = exact_matrix(kernel, X, engine)
        if not np.isfinite(K).all() or not K.any():
            what = "zero" if np.isfinite(K).all() else "not finite"
            raise InputError(f"the kernel of these rows is {what}; change the kernel's options or dataset.prepare")
        return X, K, spectral_norm(K)

    def measure(self, trial: Trial, reference: tuple[Array, Array, float]) -> Iterator[Measure]:
        X, K, norm = reference
        p = len(K) // len(X)
        features = trial.drawn().features
        error, imaginary, seconds = deviation(features, X, K, trial.engine)
        squared, scale = float(np.vdot(error, error)), float(np.linalg.norm(K))
        yield Measure("rel_frobenius", np.sqrt(squared) / scale)
        if self.off_diagonal:
            yield Measure("rel_off_diagonal", np.sqrt(of_pairs(error, p) / of_pairs(K, p)))
        if imaginary is not None:
            yield Measure("rel_frobenius_complex", np.sqrt(squared + np.vdot(imaginary, imaginary)) / scale)
        yield Measure("rel_spectral", spectral_norm(error) / norm)
        yield Measure("max_abs_error", float(np.abs(error).max()))
        if trial.kernel.matrix_valued:
            # sup over pairs of ‖K̂(x, y) − K(x, y)‖₂  [Brault et al. 2016, Eq. 9]
            blocks = error.reshape(len(X), p, len(X), p).swapaxes(1, 2)
            yield Measure("max_block_norm", float(max(np.linalg.norm(row, 2, axis=(1, 2)).max() for row in blocks)))
        yield Measure("transform_seconds", seconds, "s")
        if fit := {**trial.sketch.facts(), **features.facts}.get("fit_seconds"):
            yield Measure("fit_seconds", fit, "s")


def exact_matrix(kernel: Kernel, X: Array, engine: Engine) -> Array:
    """K of all pairs of rows."""
    p = kernel.size(X.shape[1])
    K = np.empty((p * len(X), p * len(X)))
    for (i, j), tile in engine.map(lambda ij: (ij, kernel.gram(X[ij[0]], X[ij[1]])), tiles(len(X))):
        i, j = entries(i, p), entries(j, p)
        K[i, j], K[j, i] = tile, tile.T
    return K


def deviation(features: FeatureMap, X: Array, K: Array, engine: Engine) -> tuple[Array, Array | None, float]:
    """(real part of K̂ − K, which is what a model uses; imaginary part, if any; seconds of Φ(X))."""
    error, seconds, p = -K, 0.0, len(K) // len(X)
    imaginary = np.zeros_like(K) if is_complex(features.dtype) else None
    for part in features.parts():
        Phi = part.empty(len(X))
        Phi.fill(0)  # allocates the pages, which is not the sketch's work
        start = perf_counter()
        engine.transform(part, X, Phi)
        seconds += perf_counter() - start
        for i, j, tile in products(part, Phi, engine):
            i, j = entries(i, p), entries(j, p)
            error[i, j] += tile.real
            error[j, i] = error[i, j].T
            if imaginary is not None:
                imaginary[i, j] += tile.imag
                imaginary[j, i] = -imaginary[i, j].T
    return error, imaginary, seconds


def of_pairs(A: Array, p: int) -> float:
    """The sum of squares of the p × p blocks of different rows."""
    n = len(A) // p
    blocks = A.reshape(n, p, n, p)[np.arange(n), :, np.arange(n)]
    return float(np.vdot(A, A)) - float(np.vdot(blocks, blocks))


def entries(rows: slice, p: int) -> slice:
    """The entries of some rows in a matrix of p × p blocks."""
    return slice(p * rows.start, p * rows.stop)


def spectral_norm(A: Array) -> float:
    """The largest |eigenvalue| of a symmetric matrix."""
    if not np.isfinite(A).all():
        return float("nan")
    if len(A) < 32 or not A.any():
        return float(np.abs(np.linalg.eigvalsh(A)).max())
    # A fixed start makes the last bits repeat, and 1/√n alone is often an eigenvector.
    start = np.cos(np.arange(len(A)))
    try:
        return float(np.abs(eigsh(A, 1, v0=start, tol=1e-6, return_eigenvectors=False)[0]))
    except ArpackNoConvergence:
        return float(np.abs(np.linalg.eigvalsh(A)).max())
