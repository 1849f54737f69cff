"""How many columns every degree of a split gets.

The mean squared error over pairs of rows is about Σ t_j²/D_j with t_j the mean squared norm of degree j that is left to
the sketch, so D_j ∝ t_j.  A share of the columns, `safety`, goes to degrees as rows of the same length would need them
that have no part along the mean, a_j ‖x‖^{2j}: the error of rows unlike the training rows stays bounded.

Degree 1 differs.  With a multiple of h rows of a Hadamard matrix only products of different explicit features are left
of its error; if these have the shares wᵢ of the energy, that is as if t₁ were √(2 (1 − Σ wᵢ²)) times as large.
"""

import numpy as np

from rfbench.arrays import Array, squared_norms
from rfbench.sketches.anchored.split import Split


def shares(split: Split, t: Array, X: Array, safety: float) -> Array:
    """The shares of degrees 1..N for their norms t on training rows X."""
    j = np.array(split.degrees)
    elsewhere = split.a[1:] * np.mean(squared_norms(X)[:, None] ** j * split.kernel.radial(X)[:, None] ** 2, axis=0)
    t, elsewhere = (v / v.sum() if v.any() else np.full(len(v), 1 / len(v)) for v in (t, elsewhere))
    return (1 - safety) * t + safety * elsewhere


def mixing(e: Array) -> float:
    """What a multiple of h rows leaves of t₁, for explicit features e of degree 1."""
    w = np.mean(e**2, axis=0)
    return min(1.0, float(np.sqrt(max(2 * (1 - np.sum((w / w.sum()) ** 2)), 0))))


def least(degrees: int, unit: int) -> int:
    """The fewest columns for that many degrees; an odd column has degree 1."""
    return 2 + unit * (degrees - 1)


def allocate(share: Array, total: int, unit: int, h: int, left: float) -> tuple[int, ...]:
    """Columns of degrees 1..N with that total; those of degrees above 1 are multiples of `unit`.

    `left` is the mixing of degree 1, which gets its share up to h and then multiples of h by what is left of it.
    """
    others = len(share) - 1
    if not others:
        return (total,)
    first, most = round(total * share[0]), total - unit * others
    if first > h:
        first = max(round(total * left * share[0] / (left * share[0] + share[1:].sum())) // h, 1) * h
    first = int(np.clip(first, 2, most))
    first -= (total - first) % unit
    spare = (total - first) // unit - others  # every degree has one feature, and these
    wanted = np.maximum(share[1:] / share[1:].sum() * (spare + others) - 1, 0)
    wanted *= spare / max(wanted.sum(), 1e-300)
    counts = np.floor(wanted).astype(int)
    counts[np.argsort(counts - wanted, kind="stable")[: spare - counts.sum()]] += 1
    return (first, *(unit * (1 + counts)).tolist())
