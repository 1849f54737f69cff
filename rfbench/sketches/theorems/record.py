"""A theorem: a bound on the probability that the error of an estimate exceeds ε, and the features it demands.

ε is relative to the size of the kernel, √(‖k(x, x)‖ ‖k(y, y)‖): for Gaussian kernels it is absolute.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from rfbench.arrays import Array

MOST = 2**60  # features; what demands more demands infinitely many


@dataclass(frozen=True)
class Theorem:
    """P(error > ε) ≤ tail(ε, D): for each pair of rows, or for the largest error of all pairs."""

    name: str
    uniform: bool  # of all pairs at once
    tail: Callable[[float, int], Array]  # (ε, D) → a bound for each pair, or one for all; perhaps above 1

    def bound(self, epsilon: float, D: int) -> float:
        """The bound on the probability for a pair of rows drawn at random, or for all pairs."""
        return float(np.minimum(self.tail(epsilon, D), 1).mean())

    def demanded(self, epsilon: float, delta: float) -> float:
        """The least even number of features for which the bound is at most δ; infinite where there is none."""
        low, high = 0, 1  # halves of D
        while self.bound(epsilon, 2 * high) > delta:
            low, high = high, 2 * high
            if high > MOST:
                return inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.bound(epsilon, 2 * middle) > delta else (low, middle)
        return 2 * high


def exponential(logarithm: Array | float) -> Array:
    """exp, of numbers that may be too large for it."""
    return np.exp(np.minimum(logarithm, 700.0))
