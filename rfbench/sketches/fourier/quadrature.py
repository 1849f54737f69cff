"""Fourier features on a grid: Gaussian quadrature in place of random frequencies [Dao, De Sa & Ré 2017].

The Gaussian kernel of δ = x − y is a product of integrals over one frequency for each column,

    k(δ) = Π_i ∫ cos(t δ_i/l) φ(t) dt ≈ Π_i Σ_k w_k cos(t_k δ_i/l) = Σ_j W_j cos⟨ω_j, δ⟩                      (1)

with the standard normal density φ and the q_i nodes t_k and weights w_k of Gauss and Hermite for column i, which are
exact for polynomials in t of degree 2q_i − 1.  ω_j runs over the grid of all Π q_i nodes.  ω and −ω have one cosine, so
half of the grid, with doubled weights, gives features √W cos and √W sin; the origin, a node where all q_i are odd,
gives the constant √W.  These are Π q_i real features; the others of D are zero.

A grid grows exponentially with the columns.  `adapt` begins with one node in each, which leaves a column out, and adds
nodes where the squared error of (1) falls most for pairs of training rows, per logarithm of the features.

Nothing is random: the variance is 0, and all of the error is bias.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from rfbench.arrays import Array
from rfbench.blocks import scratch
from rfbench.checks import InputError
from rfbench.kernels.exponential import Gaussian
from rfbench.sketches.base import ClosedForm, FeatureMap, Sketch
from rfbench.sketches.family import Family

PAIRS = 1000  # of training rows, from which nodes are allocated
MOST = 100  # nodes of a column, up to which NumPy's rule is tested


@dataclass(frozen=True)
class Quadrature(Sketch):
    """Equation (1) for a number of nodes in each column."""

    kernel: Gaussian
    nodes: tuple[int, ...] = ()

    random = False
    stated_bias = "a grid has few nodes in each column; use sketch=rff for many columns"

    def adapt(self, X: Array, D: int) -> "Quadrature":
        far = np.roll(X, len(X) // 2, axis=0)  # pairs of different rows, also where rows are sorted
        return replace(self, nodes=allocated((X - far)[:PAIRS] / np.sqrt(self.kernel.l2), D))

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        if len(self.nodes) != d:
            raise InputError("quadrature needs training rows first: call adapt")
        return QuadratureMap(*half_grid(self.nodes), np.sqrt(self.kernel.l2), D, dtype)

    def facts(self) -> dict[str, Any]:
        return {"nodes": list(self.nodes)}

    @property
    def closed_form(self) -> ClosedForm:
        return ClosedForm(lambda X, Y, D: np.zeros((len(X), len(Y))), mean=lambda X, Y, D: self.mean(X, Y))

    def mean(self, X: Array, Y: Array) -> Array:
        """k̂ of all pairs."""
        found = np.ones((len(X), len(Y)))
        for q, x, y in zip(self.nodes, X.T, Y.T, strict=True):
            if q > 1:
                found *= cosines(np.subtract.outer(x, y) / np.sqrt(self.kernel.l2), q)
        return found


class QuadratureMap(FeatureMap):
    """√W cos⟨ω, x⟩, √W sin⟨ω, x⟩, the constant of the origin if it is a node, and zeros."""

    def __init__(self, Omega: Array, W: Array, origin: float, length_scale: float, D: int, dtype: Any) -> None:
        self.Omega, self.roots = (Omega / length_scale).astype(dtype), np.sqrt(W).astype(dtype)  # (d, m), (m,)
        self.constant, self.d, self.D, self.dtype = np.sqrt(origin), len(Omega), D, np.dtype(dtype)

    def write(self, X: Array, out: Array) -> None:
        m = len(self.roots)
        angles = np.matmul(X, self.Omega, out=scratch("angles", (len(X), m), self.dtype))
        for wave, part in ((np.cos, out[:, :m]), (np.sin, out[:, m : 2 * m])):
            wave(angles, out=part)
            part *= self.roots
        out[:, 2 * m :] = 0
        if self.constant:
            out[:, 2 * m] = self.constant


def cosines(delta: Array, q: int) -> Array:
    """Σ_k w_k cos(t_k δ)."""
    return sum(w * np.cos(t * delta) for t, w in zip(*rule(q), strict=True))


def rule(q: int) -> tuple[Array, Array]:
    """Nodes and weights for the standard normal density."""
    t, w = hermegauss(q)
    return t, w / w.sum()


def half_grid(nodes: tuple[int, ...]) -> tuple[Array, Array, float]:
    """The frequencies before the origin, (d, m), twice their weights, and the weight of the origin, 0 if it is no node.

    Nodes ascend and are symmetric, so the last frequencies are the first ones negated, in reverse.
    """
    used = [i for i, q in enumerate(nodes) if q > 1]
    shape = tuple(nodes[i] for i in used)
    m, odd = divmod(int(np.prod(shape, dtype=int)), 2)
    places = np.indices(shape).reshape(len(shape), 2 * m + odd)[:, : m + odd]
    Omega, W = np.zeros((len(nodes), m)), np.ones(m + odd)
    for i, place in zip(used, places, strict=True):
        t, w = rule(nodes[i])
        Omega[i] = t[place[:m]]
        W *= w[place]
    return Omega, 2 * W[:m], float(W[m]) if odd else 0.0


def allocated(delta: Array, D: int) -> tuple[int, ...]:
    """Nodes of every column whose grid has at most D points, for differences of rows over the length scale."""
    delta = delta.astype(np.float64)
    k, nodes = np.exp(-np.square(delta).sum(1) / 2), np.ones(delta.shape[1], int)
    now, more = np.ones_like(delta), np.cos(delta)  # of (1), with the nodes there are and with one more
    while True:
        error = np.square(now.prod(1) - k).mean()
        gains = error - np.square(others(now) * more - k[:, None]).mean(0)
        gains /= np.log1p(1 / nodes)
        gains[(nodes == MOST) | (nodes.prod() // nodes * (nodes + 1) > D)] = 0
        i = int(gains.argmax())
        if gains[i] <= 0:
            return tuple(nodes.tolist())
        nodes[i] += 1
        now[:, i], more[:, i] = more[:, i], cosines(delta[:, i], nodes[i] + 1)


def others(factors: Array) -> Array:
    """For each column the product of all others."""
    before, after = np.ones_like(factors), np.ones_like(factors)
    np.cumprod(factors[:, :-1], 1, out=before[:, 1:])
    np.cumprod(factors[:, :0:-1], 1, out=after[:, -2::-1])
    return before * after


FAMILIES = {"quadrature": Family(Quadrature, ("gaussian",), "zero", "d D")}
