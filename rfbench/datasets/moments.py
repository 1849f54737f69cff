"""Moments and range of columns in one pass over blocks of rows [Chan, Golub & LeVeque 1983]."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array


@dataclass
class Moments:
    """Mean, sum of squared deviations, minimum and maximum of every column of the rows added so far."""

    n: int = 0
    mean: Any = 0.0
    squares: Any = 0.0  # Σ (x − mean)²
    low: Any = np.inf
    high: Any = -np.inf

    def add(self, X: Array) -> None:
        m, mean = len(X), X.mean(0)
        delta, total = mean - self.mean, self.n + m
        self.squares = self.squares + ((X - mean) ** 2).sum(0) + delta**2 * self.n * m / total
        self.mean, self.n = self.mean + delta * m / total, total
        self.low, self.high = np.minimum(self.low, X.min(0)), np.maximum(self.high, X.max(0))
