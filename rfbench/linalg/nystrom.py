"""Nyström approximations of a positive matrix H, as factors B with BBᴴ ≈ H.

    H̃ = HΩ (ΩᴴHΩ)⁻¹ ΩᴴH = BBᴴ,      B = HΩ L⁻ᴴ,      LLᴴ = ΩᴴHΩ                                         (1)

With Gaussian Ω of r columns [Frangella, Tropp, Udell 2023, Algorithm 2.1] H̃ has nearly the r largest eigenvalues of H;
with columns of I it is the classical approximation from r landmarks, which needs several times as many.
"""

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cholesky, solve_triangular

from rfbench.arrays import Array, diagonal
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.linalg.cg import total
from rfbench.sketches import FeatureMap

SKETCH_ENTRIES = 1 << 26  # of Φ of a block: many rows, since every block changes all of HΩ
SKETCH_ROWS = 64  # of such a block multiplied at once
FACTOR_ROWS = 1024  # of HΩ multiplied at once


def randomized(features: FeatureMap, X: Array, rank: int, rng: np.random.Generator, engine: Engine) -> Array:
    """B, (D, rank), for H = ΦᴴΦ of the rows X; products and sums are in the precision of the features.

    A multiple of the identity above their rounding error is added to H, so that (1) has a factor.
    """
    Omega = rng.standard_normal((features.D, rank)).astype(features.dtype)
    Z, columns = np.zeros_like(Omega), list(spans(features.D, FACTOR_ROWS))
    for span in spans(len(X), max(SKETCH_ENTRIES // features.D, SKETCH_ROWS)):
        Phi = engine.transform(features, X[span], features.empty(span.stop - span.start))
        T = product(Phi, Omega, engine)

        def add(j: slice, Phi: Array = Phi, T: Array = T) -> None:
            Z[j] += Phi[:, j].conj().T @ T

        engine.run(add, columns)
    A, one = inner(Omega, Z, engine), inner(Omega, Omega, engine)
    L, added = shifted_factor(A, one, float(np.finfo(Z.dtype).eps * np.linalg.norm(Z) / np.linalg.norm(Omega)))
    Z += Omega.dtype.type(added) * Omega
    return multiplied(Z, inverse(L).conj().T, engine)


def from_landmarks(columns: Array, K: Array, engine: Engine) -> Array:
    """B, (n, m), from m columns of a kernel matrix and its block of the landmarks; overwrites both."""
    diagonal(K)[...] += 1e-6 * np.trace(K) / len(K)  # against rounding
    return multiplied(columns, inverse(cholesky(K, lower=True)).conj().T, engine)


def product(Phi: Array, Omega: Array, engine: Engine) -> Array:
    """ΦΩ."""

    def multiply(rows: slice) -> Array:
        return Phi[rows] @ Omega

    return np.concatenate(list(engine.map(multiply, spans(len(Phi), SKETCH_ROWS))))


def inner(A: Array, B: Array, engine: Engine) -> Array:
    """AᴴB, summed over blocks of rows in double."""
    wide = np.result_type(A, np.float64)

    def multiply(rows: slice) -> Array:
        return (A[rows].conj().T @ B[rows]).astype(wide)

    return total(engine.map(multiply, spans(len(A), FACTOR_ROWS)), (A.shape[1], B.shape[1]), wide)


def shifted_factor(A: Array, one: Array, shift: float) -> tuple[Array, float]:
    """L of A + s·one, and the least s that gives a factor, from `shift` on in steps of ten."""
    A = (A + A.conj().T) / 2
    while True:
        try:
            return cholesky(A + shift * one, lower=True), shift
        except LinAlgError:
            shift *= 10


def inverse(L: Array) -> Array:
    return solve_triangular(L, np.eye(len(L), dtype=L.dtype), lower=True)


def multiplied(B: Array, R: Array, engine: Engine) -> Array:
    """BR in place of B."""
    R = R.astype(B.dtype)

    def multiply(rows: slice) -> None:
        B[rows] = B[rows] @ R

    engine.run(multiply, spans(len(B), FACTOR_ROWS))
    return B
