"""The Nyström method: features that are exact in the span of landmarks, and nothing of the kernel beyond.

    Φ(x) = K_ZZ^(−1/2) k(Z, x),      k̂(x, y) = k(x, Z) K_ZZ⁺ k(Z, y)                                            (1)

for landmarks Z, rows or centroids of training rows [Williams and Seeger 2001].  k̂ is the kernel of the parts of ψ(x)
in the span of ψ(Z), where ⟨ψ(x), ψ(y)⟩ = k(x, y).  So the estimate has a bias and no draw removes it: K̂ ≼ K for all
rows, k̂(x, x) ≤ k(x, x), and k̂ = k if x or y is a landmark.  tr (K − K̂), the residual trace, is the squared distance of
all ψ(x) from the span; no term of it is negative.

With K_ZZ = U Λ Uᵀ, Φ has the coordinates Λ^(−1/2) Uᵀ k(Z, x), a rotation of (1), without jitter.  Division by small
eigenvalues magnifies rounding, so all is computed in double precision, whatever the type of Φ.  Eigenvalues up to CUT
of the largest are left out; their columns of Φ are zero, like those of landmarks that are missing because the training
rows are fewer, or span no more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import eigh

from rfbench.arrays import Array
from rfbench.blocks import scratch
from rfbench.checks import InputError, did_you_mean, require
from rfbench.kernels.base import Kernel
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.centroids import k_means, uniform
from rfbench.sketches.family import ANY, Family
from rfbench.sketches.nystrom.leverage import by_leverage
from rfbench.sketches.nystrom.pivots import diagonal_of, largest_pivots, random_pivots

CUT = 1e-12  # of the largest eigenvalue
FEWEST = 1000  # training rows that every task gives to a sketch, where there are so many
TRACED = 1000  # rows at most of the residual trace in run.json


@dataclass(frozen=True)
class Nystrom(Sketch):
    """The recipe before it has seen training rows."""

    kernel: Kernel
    landmarks: str = "rpcholesky"
    block: int = 128
    sample_rows: int = 20_000

    def __post_init__(self) -> None:
        if self.kernel.matrix_valued:
            raise InputError(f"sketch=nystrom is for one output, and kernel '{self.kernel.name}' has several")
        if self.landmarks not in LANDMARKS:
            raise InputError(f"no sketch.landmarks '{self.landmarks}'; {did_you_mean(self.landmarks, LANDMARKS)}")
        require(self.block >= 1, "sketch.block", "at least 1 (one pivot at a time)", self.block)
        require(self.sample_rows >= FEWEST, "sketch.sample_rows", f"at least {FEWEST}", self.sample_rows)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        raise InputError("nystrom needs training rows first: call adapt")

    def adapt(self, X: Array, D: int) -> "FittedNystrom":
        return FittedNystrom(**vars(self), X=X)

    @property
    def random(self) -> bool:
        return self.landmarks != "greedy"

    @property
    def truncation(self) -> str:
        return "nystrom has only what its landmarks span; use an unbiased sketch, such as ctr_tensorsrht or rff"


@dataclass(frozen=True, eq=False)
class FittedNystrom(Nystrom):
    """With the training rows; every draw chooses its landmarks among them."""

    X: Array = field(kw_only=True)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> "NystromMap":
        start = perf_counter()
        Z = LANDMARKS[self.landmarks](self, self.X, min(D, len(self.X)), rng)
        features = NystromMap(self.kernel, Z, D, dtype)
        seconds = perf_counter() - start
        some = self.X[rng.permutation(len(self.X))[:TRACED]]
        trace = diagonal_of(self.kernel, some).sum()
        left = 1 - np.square(features(some), dtype=np.float64).sum() / trace if trace else 0.0
        features.facts = {
            "landmarks": len(Z),
            "rank": features.W.shape[1],
            "residual_trace": max(float(left), 0.0),  # over the trace
            "fit_seconds": seconds,
        }
        return features


class NystromMap(FeatureMap):
    """Equation (1) for one choice of landmarks."""

    def __init__(self, kernel: Kernel, Z: Array, D: int, dtype: Any) -> None:
        self.of, self.Z = kernel, Z.astype(np.float64)
        self.d, self.D, self.dtype = Z.shape[1], D, np.dtype(dtype)
        values, U = eigh(kernel.gram(self.Z, self.Z))
        kept = np.flatnonzero(values > CUT * values[-1])[::-1]
        self.W = U[:, kept] / np.sqrt(values[kept])

    def write(self, X: Array, out: Array) -> None:
        rank = self.W.shape[1]
        buffer = scratch("nystrom", (len(X), rank), np.float64)
        out[:, :rank] = np.matmul(self.of.gram(X, self.Z), self.W, out=buffer)
        out[:, rank:] = 0


LANDMARKS: dict[str, Callable[[Nystrom, Array, int, np.random.Generator], Array]] = {
    "rpcholesky": lambda of, X, m, rng: X[random_pivots(of.kernel, X, m, rng, of.block)],
    "greedy": lambda of, X, m, rng: X[largest_pivots(of.kernel, X, m, of.block)],
    "leverage": lambda of, X, m, rng: by_leverage(of.kernel, X, m, rng),
    "k_means": k_means,
    "uniform": uniform,
}
FAMILIES = {"nystrom": Family(Nystrom, ANY, "Monte Carlo", "D (d + D)")}
