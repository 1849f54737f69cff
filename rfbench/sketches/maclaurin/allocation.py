"""How many features every degree of a Maclaurin series gets.

Over pairs i ≠ j of training rows, or all entries of their kernel matrix, k̂ = g(x) g(y) Σ_{n≤p} aₙ k̂ₙ has the mean
squared error

    G(p, D₁..D_p) = Σₙ vₙ(Dₙ) + b_p                                           [Wacker 2022, Eq. 5.17 and 5.21]  (1)
    vₙ(D) = mean aₙ² gᵢ² gⱼ² Var k̂ₙ,     b_p = mean (k − gᵢ gⱼ Σ_{n≤p} aₙ ⟨xᵢ, xⱼ⟩ⁿ)²                            (2)

For fixed p the best allocation takes the largest decreases of all vₙ together, if each vₙ is convex (Algorithm 4; it
starts from one feature per degree, which here count towards the total).  p is the best of all (Algorithm 5).  Where vₙ
is not convex, the approximation of tensor_srht.py or tensor_sketch.py takes its place.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from rfbench.arrays import Array, inner
from rfbench.blocks import spans
from rfbench.kernels.base import DotProductKernel
from rfbench.sketches.base import ClosedForm, Sketch
from rfbench.sketches.products.tensor_srht import surrogate

ROWS, COLUMNS = 128, 4096  # rows per block of pairs, each block against all later rows


class Term(NamedTuple):
    """One degree."""

    sketch: Sketch
    form: ClosedForm  # of the sketch
    unit: int  # columns of one feature: 2 for a complex-to-real pair
    block: int  # rows of a Hadamard block, or 1
    convex: Callable[[float, float, int, Array], Array] = surrogate  # of V, W, block and the features


class Curve(NamedTuple):
    """vₙ as a function of the columns."""

    V: float  # vₙ of one feature
    W: float  # r vₙ of as many features as a block has
    term: Term

    def __call__(self, D: Array) -> Array:
        return self.term.convex(self.V, self.W, self.term.block, D / self.term.unit)


def statistics(
    kernel: DotProductKernel, terms: Mapping[int, Term], X: Array, diagonal: bool = False
) -> tuple[list[Curve], Array]:
    """vₙ for every degree n, and b_p for p equal to every degree: equation (2) as a U-statistic.

    With the diagonal it is the mean over all entries of the kernel matrix.
    """
    X = X.astype(np.float64)
    pairs = len(X) * (len(X) - (not diagonal)) / 2
    return means(
        kernel, terms, ((X[rows], X[columns], w) for rows, columns, w in upper_blocks(len(X), diagonal)), pairs
    )


def means(
    kernel: DotProductKernel, terms: Mapping[int, Term], blocks: Iterable[tuple[Array, Array, Array]], pairs: float
) -> tuple[list[Curve], Array]:
    """Equation (2) over blocks of pairs with weights, the squares of which sum to `pairs`."""
    a0, *a = kernel.coefficients(np.array([0, *terms]))
    VW, b = np.zeros((len(terms), 2)), np.zeros(len(terms))
    for A, B, weights in blocks:
        gg = weights * np.outer(kernel.radial(A), kernel.radial(B))
        s = inner(A, B)
        residual = weights * kernel.gram(A, B) - a0 * gg
        for i, (n, term) in enumerate(terms.items()):
            squares = (a[i] * gg) ** 2
            sums = [r * np.vdot(squares, term.form.variance(A, B, term.unit * r)) for r in sorted({1, term.block})]
            VW[i] += sums[0], sums[-1]
            residual -= a[i] * gg * s**n
            b[i] += np.vdot(residual, residual)
    curves = [Curve(V, W, term) for (V, W), term in zip(VW / pairs, terms.values(), strict=True)]
    return curves, b / pairs


def upper_blocks(n: int, diagonal: bool) -> Iterator[tuple[slice, slice, Array]]:
    """Blocks of an n × n matrix that cover its upper triangle, with weights; memory does not grow with n."""
    for rows in spans(n, ROWS):
        for columns in spans(n, COLUMNS, rows.start):
            counted = counted_once(rows.stop - rows.start, columns.stop - columns.start, diagonal)
            yield rows, columns, counted if rows.start == columns.start else np.ones(1)


def counted_once(n: int, m: int, diagonal: bool) -> Array:
    """Weights of a block that begins on the diagonal: squared, a pair counts once and an entry (i, i) half or not."""
    weights = np.triu(np.ones((n, m)), 1)
    np.fill_diagonal(weights, sqrt(0.5) * diagonal)
    return weights


def starts(terms: Sequence[Term], total: int) -> tuple[Array, int]:
    """The fewest columns of every degree, and the step by which they grow.

    Where some features are pairs of columns, columns grow in twos and only a degree of single columns can make the
    total odd.
    """
    units = np.array([term.unit for term in terms])
    step = int(units.max())
    return np.where(units == step, step, step - total % step), step


def allocate(curves: Sequence[Curve], biases: Array, total: int, least: int) -> tuple[int, ...]:
    """The minimum of (1) over p and over D₁..D_p with Σ Dₙ = total; p is at least that of the first `least` degrees."""
    first, step = starts([curve.term for curve in curves], total)
    needed = np.cumsum(first)  # columns of the first p degrees at the start
    longest = (total - int(needed[least - 1])) // step
    v = np.array([curve(start + step * np.arange(longest + 1)) for curve, start in zip(curves, first, strict=True)])
    decreases = -np.diff(v)
    best_error, best = np.inf, first[:0]
    for p in range(least, int(np.sum(needed <= total)) + 1):
        steps = largest(decreases[:p], (total - int(needed[p - 1])) // step)
        error = float(v[np.arange(p), steps].sum() + biases[p - 1])
        if error < best_error:
            best_error, best = error, first[:p] + step * steps
    return tuple(best.tolist())


def largest(values: Array, count: int) -> Array:
    """How many of the `count` largest values are in each row; ties go to the first rows."""
    if not count:
        return np.zeros(len(values), int)
    values = values[:, :count]
    limit = np.partition(values, values.size - count, axis=None)[values.size - count]
    above, equal = np.sum(values > limit, axis=1), np.sum(values == limit, axis=1)
    # The ties that are still needed, less those of earlier rows.
    taken: Array = above + np.clip(count - above.sum() - np.cumsum(equal) + equal, 0, equal)
    return taken
