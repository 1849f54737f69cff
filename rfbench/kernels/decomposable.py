"""The decomposable kernel k(x, y) A with k Gaussian; A couples the outputs  [Brault et al. 2016, Definition 2.1].

A is given, or one of: the identity; the covariance of the outputs of training rows; VᵀV for the vertices V of a regular
simplex, for classes [Mroueh et al. 2012]; the pseudo-inverse of the Laplacian L of a graph of outputs, which makes
neighbours alike [Evgeniou et al. 2005].  Outputs that L⁺ couples sum to zero; (L + I)⁻¹, the damped Laplacian,
penalises what they have in common in place of forbidding it [Smola & Kondor 2003].
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, require
from rfbench.kernels.matrix import MatrixKernel

ZERO = 1e-10  # relative to the largest eigenvalue


@dataclass(frozen=True)
class Decomposable(MatrixKernel):
    """k(x, y) A.  In a recipe `coupling` may be a word, with the number of `outputs` and the `edges` of the graph."""

    name = "decomposable"
    words = MappingProxyType(
        {
            **MatrixKernel.words,
            "coupling": ("identity", "covariance", "laplacian", "damped_laplacian", "simplex"),
            "outputs": ("auto",),
        }
    )
    coupling: tuple = ((1.0,),)  # type: ignore[type-arg]  # the rows of A; a list would not be hashable

    def __post_init__(self) -> None:
        super().__post_init__()
        A = self.A
        good = A.shape == A.T.shape and np.isfinite(A).all() and np.allclose(A, A.T) and A.any()
        good = bool(good) and np.linalg.eigvalsh(A)[0] >= -ZERO * np.abs(A).max()
        require(bool(good), "kernel.coupling", "a symmetric positive semidefinite matrix [[…], …]", A.tolist())

    @classmethod
    def resolve(cls, options: Mapping[str, Any], X: Array | None, Y: Array | None) -> dict[str, Any]:
        """`coupling`, `edges` and `outputs` become the matrix A, whose size without outputs is 1 unless it is given."""
        others = {key: value for key, value in options.items() if key not in ("coupling", "edges", "outputs")}
        coupling, edges, p = (options.get(key) for key in ("coupling", "edges", "outputs"))
        require(p in (None, "auto") or (type(p) is int and p >= 1), "kernel.outputs", "auto or at least 1", p)
        edges = grid(edges) if isinstance(edges, str) else edges
        require(
            edges is None or is_matrix(edges),
            "kernel.edges",
            "pairs such as [[0,1],[0,2]], or 4x8",
            options.get("edges"),
        )
        if not isinstance(p, int):
            p = None if Y is None else Y.shape[1]
        if isinstance(coupling, str | None):
            A = np.eye(1) if p is None else coupled(coupling or "identity", p, edges, Y)
        else:
            require(is_matrix(coupling), "kernel.coupling", "a word or a matrix such as [[2,1],[1,2]]", coupling)
            A = np.array(coupling, float)
        if p not in (None, len(A)):
            raise InputError(f"kernel.coupling is for {len(A)} outputs, and there are {p}")
        return super().resolve(others, X, Y) | {"coupling": tuple(map(tuple, A.tolist()))}

    def size(self, d: int) -> int:
        return len(self.coupling)

    @property
    def A(self) -> Array:
        return np.array(self.coupling, float)

    @property
    def B(self) -> Array:
        """(p, rank of A) with A = BBᵀ."""
        values, Q = np.linalg.eigh(self.A)
        positive = values > ZERO * values[-1]
        return Q[:, positive] * np.sqrt(values[positive])

    def gram(self, X: Array, Y: Array) -> Array:
        return np.kron(self.gaussian.gram(X, Y), self.A)


def is_matrix(rows: Any) -> bool:
    """Whether these are rows of numbers of one length."""
    if not (isinstance(rows, list | tuple) and rows and all(isinstance(row, list | tuple) for row in rows)):
        return False
    return len({len(row) for row in rows}) == 1 and all(isinstance(x, int | float) for row in rows for x in row)


def grid(shape: str) -> list[tuple[int, int]]:
    """Neighbours among the places of a grid such as 4x8, line by line; none for other words."""
    lines, by, columns = shape.partition("x")
    if not (by and lines.isdecimal() and columns.isdecimal() and int(lines) * int(columns) > 1):
        return []
    places = np.arange(int(lines) * int(columns)).reshape(int(lines), -1)
    pairs = ((places[:, :-1], places[:, 1:]), (places[:-1], places[1:]))
    return [(int(i), int(j)) for one, other in pairs for i, j in zip(one.flat, other.flat, strict=True)]


def coupled(word: str, p: int, edges: Any, Y: Array | None) -> Array:
    """A of p outputs by its name, from the outputs of training rows where it needs them."""
    if p == 1 and Y is not None and word in ("covariance", "laplacian", "damped_laplacian"):
        raise InputError(f"kernel.coupling={word} couples several outputs, and the data have one; use identity")
    if word == "covariance":
        return np.eye(p) if Y is None else np.cov(Y.T, ddof=0).reshape(Y.shape[1], -1)
    if word == "identity" or p == 1:
        return np.eye(p)
    if word == "simplex":  # vertices of length 1, as far apart as possible
        return (p * np.eye(p) - 1) / (p - 1)
    L = np.zeros((p, p))
    for edge in edges or [(i, i + 1) for i in range(p - 1)]:
        good = len(set(edge)) == len(edge) == 2 and all(type(i) is int and 0 <= i < p for i in edge)
        require(good, "kernel.edges", f"pairs of different outputs 0 to {p - 1}", list(edge))
        L[np.ix_(edge, edge)] += ((1, -1), (-1, 1))
    return np.linalg.pinv(L, hermitian=True) if word == "laplacian" else np.linalg.inv(L + np.eye(p))
