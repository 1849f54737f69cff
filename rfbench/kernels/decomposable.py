"""The decomposable kernel k(x, y) A, k Gaussian; A says how the outputs are related  [Brault et al. 2016, Def. 2.1].

A is the identity, the covariance of the outputs of training rows, L† of the Laplacian L of a graph of outputs, with
which neighbours are alike [Evgeniou et al. 2005], or VᵀV of the vertices V of a regular simplex, for classes
[Mroueh et al. 2012].
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, did_you_mean, require
from rfbench.kernels.matrix import MatrixKernel

WORDS = ("identity", "covariance", "laplacian", "simplex")
ZERO = 1e-10  # of the largest eigenvalue


@dataclass(frozen=True)
class Decomposable(MatrixKernel):
    """k(x, y) A, with as many outputs as the data have unless a number is given."""

    name = "decomposable"
    coupling: str | list | tuple = "identity"  # type: ignore[type-arg]  # a word, or the rows of A
    edges: list | tuple | None = None  # type: ignore[type-arg]  # of the graph; none: each output and the next
    outputs: int | str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        good = self.outputs == "auto" if isinstance(self.outputs, str) else self.outputs >= 1
        require(good, "kernel.outputs", "auto or at least 1", self.outputs)
        if isinstance(self.coupling, str) and self.coupling not in WORDS:
            raise InputError(f"no kernel.coupling '{self.coupling}'; {did_you_mean(self.coupling, WORDS)}")
        for key, wanted in (("coupling", "a word or a matrix [[2,1],[1,2]]"), ("edges", "pairs [[0,1],[0,2]]")):
            if isinstance(rows := getattr(self, key), list):  # a frozen kernel is hashable
                good = all(isinstance(row, list | tuple) and len(row) == len(rows[0]) for row in rows)
                good = good and all(isinstance(number, int | float) for row in rows for number in row)
                require(bool(rows) and good, f"kernel.{key}", wanted, rows)
                object.__setattr__(self, key, tuple(map(tuple, rows)))
        if not isinstance(self.coupling, str):
            require_positive(self.A)

    def size(self, d: int) -> int:
        return len(self.A)

    @property
    def A(self) -> Array:
        if isinstance(self.coupling, str):
            if isinstance(self.outputs, str) or self.coupling == "covariance":
                raise InputError(f"kernel.coupling={self.coupling} needs labels first: call fit_targets")
            return couple(self.coupling, self.outputs, self.edges)
        return np.array(self.coupling, float)

    @property
    def B(self) -> Array:
        """(p, rank of A) with A = BBᵀ."""
        values, Q = np.linalg.eigh(self.A)
        there = values > ZERO * values[-1]
        return Q[:, there] * np.sqrt(values[there])

    def fit_targets(self, Y: Array) -> "Decomposable":
        p = Y.shape[1] if isinstance(self.outputs, str) else self.outputs
        if self.coupling == "covariance":
            A = require_positive(np.cov(Y.T, ddof=0).reshape(Y.shape[1], -1))
        else:
            A = replace(self, outputs=p).A
        if len(A) != p:
            raise InputError(f"kernel.coupling is for {len(A)} outputs, and there are {p}")
        return replace(self, outputs=p, coupling=tuple(map(tuple, A.tolist())))

    def gram(self, X: Array, Y: Array) -> Array:
        return np.kron(self.gaussian.gram(X, Y), self.A)


def couple(word: str, p: int, edges: Sequence[Any] | None) -> Array:
    """A of p outputs that needs no labels."""
    if word == "identity" or p == 1:
        return np.eye(p)
    if word == "simplex":  # vertices of length 1, as far apart as they can be
        return (p * np.eye(p) - 1) / (p - 1)
    L = np.zeros((p, p))
    for edge in edges or [(i, i + 1) for i in range(p - 1)]:
        good = len(set(edge)) == len(edge) == 2 and all(type(i) is int and 0 <= i < p for i in edge)
        require(good, "kernel.edges", f"pairs of different outputs 0 to {p - 1}", list(edge))
        L[np.ix_(edge, edge)] += ((1, -1), (-1, 1))
    return np.linalg.pinv(L, hermitian=True)


def require_positive(A: Array) -> Array:
    """A covariance matrix that is not zero."""
    good = A.shape == A.T.shape and np.isfinite(A).all() and np.allclose(A, A.T)
    good = bool(good) and A.any() and np.linalg.eigvalsh(A)[0] >= -ZERO * np.abs(A).max()
    require(bool(good), "kernel.coupling", "a symmetric positive matrix [[…], …]", A.tolist())
    return A
