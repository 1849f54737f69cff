"""The posterior of a Gaussian process with features, real or complex, from one pass over the training rows.

With k = σ² ⟨Φ, Φ⟩, noise σₙ² and λ = σₙ²/σ², where there are no more features than rows (primal),

    μ(x) = Φ(x)ᵀ A⁻¹ Φᴴy,      σ²(x) = σₙ² Φ(x)ᵀ A⁻¹ Φ(x)*,      A = ΦᴴΦ + λI   (D × D)                 (1)

and where there are more (dual), or the kernel has no features,

    μ(x) = k̂(x)ᵀ B⁻¹ y,      σ²(x) = σ² (k̂(x, x) − k̂(x)ᵀ B⁻¹ k̂(x)*),      B = ΦΦᴴ + λI   (n × n)       (2)

[Wacker 2022, Eq. B.14 to B.20; of complex means the real part, B.16].  Only the upper triangle is accumulated, in
tiles and in float64: for complex features that is fewer operations than the three full real products of B.3.3.
Blocks have fixed sizes and are summed in order, and each call of BLAS has one thread: workers change no bit.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.engines import Local
from rfbench.sketches import FeatureMap
from rfbench.sketches.exact import ExactMap
from rfbench.tasks.tiles import MOST_ROWS, TILE, products, tiles

Array = NDArray[Any]
Blocks = Iterable[tuple[Array, Array]]  # (X, y)
NUMBERS = 1 << 24  # of Φ held at once in double precision
JITTERS = (0.0, 1e-12, 1e-10, 1e-8)  # of the mean of the diagonal


@dataclass(frozen=True, eq=False)
class Factor:
    """A = UᴴU, with what had to be added to the diagonal of A."""

    U: Array
    jitter: float

    def solve(self, b: Array) -> Array:
        return solve_triangular(self.U, solve_triangular(self.U, b, trans="C", check_finite=False), check_finite=False)

    def norms(self, V: Array) -> Array:
        """Vᵢᴴ A⁻¹ Vᵢ of every column: no difference of large numbers."""
        W = solve_triangular(self.U, V, trans="C", check_finite=False)
        return np.einsum("ij,ij->j", W, W.conj()).real


def factor(A: Array) -> Factor:
    """Cholesky of the upper triangle, with the least jitter that lets it pass."""
    scale = float(np.mean(A.diagonal().real))
    for jitter in JITTERS:
        try:
            return Factor(cholesky(A + jitter * scale * np.eye(len(A)) if jitter else A), jitter * scale)
        except np.linalg.LinAlgError:
            continue
    ends = np.abs(eigvalsh(A, lower=False))[[0, -1]]
    condition = ends.max() / max(ends.min(), np.finfo(float).tiny)
    raise np.linalg.LinAlgError(
        f"a matrix of {len(A)} rows cannot be factorised, its condition number is {condition:.2g}"
    )


@dataclass(frozen=True, eq=False)
class Primal:
    """Equation (1)."""

    features: FeatureMap
    factor: Factor
    w: Array  # A⁻¹ Φᴴy
    noise: float

    def __call__(self, X: Array, engine: Local) -> tuple[Array, Array]:
        """Mean and variance of f at every row."""

        def block(span: tuple[int, int]) -> tuple[Array, Array]:
            Phi = self.features(X[slice(*span)]).astype(self.w.dtype)
            return (Phi @ self.w).real, self.noise * self.factor.norms(Phi.conj().T)

        mean, variance = zip(*engine.map(block, spans(len(X), TILE)), strict=True)
        return np.concatenate(mean), np.concatenate(variance)


@dataclass(frozen=True, eq=False)
class Dual:
    """Equation (2)."""

    features: FeatureMap
    factor: Factor
    alpha: Array  # B⁻¹ y
    signal: float
    X: Array  # training rows

    def __call__(self, X: Array, engine: Local) -> tuple[Array, Array]:
        """Mean and variance of f at every row."""
        K, diagonal = self._cross(X, engine)

        def block(span: tuple[int, int]) -> Array:
            return self.factor.norms(K[slice(*span)].conj().T)

        removed = np.concatenate(list(engine.map(block, spans(len(X), TILE))))
        # Below zero it can only be by rounding.
        return (K @ self.alpha).real, self.signal * np.maximum(diagonal - removed, 0)

    def _cross(self, X: Array, engine: Local) -> tuple[Array, Array]:
        """k̂ of rows with the training rows, and with themselves."""
        K, diagonal = np.zeros((len(X), len(self.X)), self.alpha.dtype), np.zeros(len(X))
        for part in self.features.parts():
            Phi, Psi = doubles(part, X, engine), doubles(part, self.X, engine)
            diagonal += [part.product(row, row)[0, 0].real for row in Phi[:, None]]
            add_products(K, part, Phi, Psi, engine)
        return K, diagonal


def add_products(K: Array, part: FeatureMap, Phi: Array, Psi: Array, engine: Local) -> None:
    def add(span: tuple[int, int]) -> None:
        K[slice(*span)] += part.product(Phi[slice(*span)], Psi)

    for _ in engine.map(add, spans(len(Phi), TILE)):
        pass


def fit(features: FeatureMap, blocks: Blocks, n: int, signal: float, noise: float, engine: Local) -> Primal | Dual:
    """The posterior given n rows with centred labels."""
    by_rows = isinstance(features, ExactMap) or n < features.D
    if (size := n if by_rows else features.D) > MOST_ROWS:
        raise InputError(
            f"a Gaussian process with {features.D} features of {n} rows needs a matrix of {size} rows, and {MOST_ROWS} "
            "are the most; use fewer features, or not sketch=exact"
        )
    if by_rows:
        X, y = (np.concatenate(column) for column in zip(*blocks, strict=True))
        B = factor(kernel_matrix(features, X, engine) + noise / signal * np.eye(n))
        return Dual(features, B, B.solve(y), signal, X)
    G, b = gram(features, blocks, engine)
    G[np.diag_indices_from(G)] += noise / signal
    A = factor(G)
    return Primal(features, A, A.solve(b), noise)


def gram(features: FeatureMap, blocks: Blocks, engine: Local) -> tuple[Array, Array]:
    """ΦᴴΦ, its upper triangle, and Φᴴy."""
    dtype = np.result_type(features.dtype, np.float64)
    G, b = np.zeros((features.D, features.D), dtype), np.zeros(features.D, dtype)
    size = max(NUMBERS // features.D, 1)
    held = features.empty(size)  # once: fresh pages for every block cost 15 %
    doubled = held if held.dtype == dtype else np.empty_like(held, dtype)
    for X, y in sliced(blocks, size):
        Phi = doubled[: len(X)]
        np.copyto(Phi, engine.transform(features, X, held[: len(X)]))
        _add_gram(G, Phi, engine)
        b += Phi.conj().T @ y
    return G, b


def _add_gram(G: Array, Phi: Array, engine: Local) -> None:
    def add(ij: tuple[slice, slice]) -> None:
        G[ij] += Phi[:, ij[0]].conj().T @ Phi[:, ij[1]]

    for _ in engine.map(add, tiles(len(G))):
        pass


def kernel_matrix(features: FeatureMap, X: Array, engine: Local) -> Array:
    """K̂ of all pairs of rows, its upper triangle."""
    K = np.zeros((len(X), len(X)), np.result_type(features.dtype, np.float64))
    for part in features.parts():
        for i, j, tile in products(part, doubles(part, X, engine), engine):
            K[i, j] += tile
    return K


def doubles(features: FeatureMap, X: Array, engine: Local) -> Array:
    """Φ(X) in double precision."""
    Phi = engine.transform(features, X, features.empty(len(X)))
    return Phi.astype(np.result_type(Phi, np.float64), copy=False)


def sliced(blocks: Blocks, size: int) -> Iterator[tuple[Array, Array]]:
    """The same rows in blocks of at most `size`."""
    for X, y in blocks:
        for start, stop in spans(len(X), size):
            yield X[start:stop], y[start:stop]
