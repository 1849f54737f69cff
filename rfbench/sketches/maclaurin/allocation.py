"""How many features every degree of a Maclaurin series gets.

Over pairs i ≠ j of training rows, k̂ = g(x) g(y) Σ_{n≤p} aₙ k̂ₙ has the mean squared error

    G(p, D₁..D_p) = Σₙ vₙ(Dₙ) + b_p                                           [Wacker 2022, Eq. 5.17 and 5.21]  (1)
    vₙ(D) = mean aₙ² gᵢ² gⱼ² Var k̂ₙ,     b_p = mean (k − gᵢ gⱼ Σ_{n≤p} aₙ ⟨xᵢ, xⱼ⟩ⁿ)²                            (2)

For fixed p the best D is the set of the largest steps down of all vₙ together, if each vₙ is convex (Algorithm 4; it
starts from one feature per degree and here those are part of the total).  p is the best of all (Algorithm 5).

Independent features have vₙ = V/r with r = D, or D/2 pairs.  With Hadamard blocks of h rows, W = h vₙ(h) and
C = (W − V)/(h − 1), the convex surrogate of D.4 and D.5 is

    vₙ(r) = (V − C)/r + C   for r ≤ h and C ≤ 0,        W/r   otherwise.                                         (3)

It is exact for r ≤ h and whole stacked blocks if C ≤ 0.  Upsampled TensorSRHT, which the thesis leaves out, is the same
sketch for r ≤ h and about W/r beyond, so it has the same surrogate; complex-to-real ones have it in pairs.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rfbench.arrays import Array, inner
from rfbench.blocks import spans
from rfbench.kernels.base import DotProductKernel
from rfbench.sketches.base import ClosedForm

ROWS = 128  # a block of pairs is this many rows against all later ones


class Term(NamedTuple):
    """One degree: its sketch, the columns of one feature (2 for a pair) and the rows of a Hadamard block (or 1)."""

    sketch: ClosedForm
    unit: int
    block: int


class Curve(NamedTuple):
    """Equation (3)."""

    V: float
    W: float
    term: Term

    def __call__(self, D: Array) -> Array:
        r, h = D / self.term.unit, self.term.block
        C = (self.W - self.V) / max(h - 1, 1)
        return np.where((r <= h) & (C <= 0), (self.V - C) / r + C, self.W / r)


def statistics(kernel: DotProductKernel, terms: Mapping[int, Term], X: Array) -> tuple[list[Curve], Array]:
    """vₙ for every degree and b_p for p at every degree: equation (2) as a U-statistic."""
    X = X.astype(np.float64)
    m, g = len(X), kernel.radial(X)
    a0, *a = kernel.coefficients(np.array([0, *terms]))
    VW, b = np.zeros((len(terms), 2)), np.zeros(len(terms))
    for span in spans(m, ROWS):
        A, B = X[span], X[span.start :]
        gg = np.triu(np.outer(g[span], g[span.start :]), 1)  # zero on pairs that are counted elsewhere
        s = inner(A, B)
        rest = np.triu(kernel.gram(A, B), 1) - a0 * gg
        for i, (n, (sketch, unit, block)) in enumerate(terms.items()):
            squared = (a[i] * gg) ** 2
            of_blocks = [r * np.vdot(squared, sketch.variance(A, B, unit * r)) for r in sorted({1, block})]
            VW[i] += of_blocks[0], of_blocks[-1]
            rest -= a[i] * gg * s**n
            b[i] += np.vdot(rest, rest)
    pairs = m * (m - 1) / 2
    curves = [Curve(V, W, term) for (V, W), term in zip(VW / pairs, terms.values(), strict=True)]
    return curves, b / pairs


def starts(terms: Sequence[Term], total: int) -> tuple[Array, int]:
    """The least columns of every degree, and the step: in pairs, only a degree of single columns can make total odd."""
    units = np.array([term.unit for term in terms])
    step = int(units.max())
    return np.where(units == step, step, step - total % step), step


def allocate(curves: Sequence[Curve], biases: Array, total: int, least: int) -> tuple[int, ...]:
    """The minimum of (1) over D₁..D_p with Σ Dₙ = total and over p; p is at least that of the first `least` degrees."""
    first, step = starts([curve.term for curve in curves], total)
    most = int(np.sum(np.cumsum(first) <= total))
    spare = (total - int(first[:least].sum())) // step
    v = np.array([curve(start + step * np.arange(spare + 1)) for curve, start in zip(curves, first, strict=True)])
    gains = -np.diff(v)
    best: tuple[float, tuple[int, ...]] = (np.inf, ())
    for p in range(least, most + 1):
        taken = largest(gains[:p], (total - int(first[:p].sum())) // step)
        error = float(v[np.arange(p), taken].sum() + biases[p - 1])
        best = min(best, (error, tuple((first[:p] + step * taken).tolist())), key=lambda found: found[0])
    return best[1]


def largest(gains: Array, count: int) -> Array:
    """How many of the `count` largest gains are in each row; of equal ones the first rows have them."""
    if not count:
        return np.zeros(len(gains), int)
    gains = gains[:, :count]
    limit = np.partition(gains, gains.size - count, axis=None)[gains.size - count]
    above, equal = np.sum(gains > limit, axis=1), np.sum(gains == limit, axis=1)
    taken: Array = above + np.clip(count - above.sum() - np.cumsum(equal) + equal, 0, equal)
    return taken
