"""Scores of predictions, summed over blocks of test rows.

    MNLL = mean ½ (log 2πs² + (y − μ)²/s²),      s² = σ²(x) + σ²_noise                                   (1)
    MNLL = mean −log p(class of the row)                                                                 (2)
    KL(approx‖exact) = ½ (r − 1 − log r + (μₑ − μₐ)²/σₑ²),      r = σₐ²/σₑ²                             (3)

(1) is for numbers, (2) for classes.  (3) is the divergence of f, without the noise; Wacker 2022, Eq. B.23 exchanges the
ratio and the logarithm by mistake.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from rfbench.arrays import Array
from rfbench.datasets.moments import Moments

BINS = 15  # of the calibration error
MOST_RANKED = 1 << 20  # rows


def negative_log_likelihood(y: Array, mean: Array, variance: Array) -> Array:
    """Equation (1) of every row; the variance is that of y."""
    return 0.5 * (np.log(2 * np.pi * variance) + (y - mean) ** 2 / variance)


def kl(mean: Array, variance: Array, exact_mean: Array, exact_variance: Array) -> Array:
    """Equation (3), element by element; infinite where the estimate has no variance."""
    if variance.min() < 0 or exact_variance.min() <= 0:
        raise ArithmeticError(
            "a posterior variance is not above zero, so kl is undefined; use dtype=float64 or a larger task.noise"
        )
    r = variance / exact_variance
    with np.errstate(divide="ignore"):
        return 0.5 * (r - 1 - np.log(r) + (exact_mean - mean) ** 2 / exact_variance)


@dataclass
class Ranks:
    """Spearman's rank correlation of one output, which needs all numbers at once: 8 bytes a row, up to MOST_RANKED."""

    pairs: list[Array] | None = field(default_factory=list)
    n: int = 0

    def add(self, predicted: Array, y: Array) -> None:
        self.n += len(y)
        if self.pairs is not None and self.n <= MOST_RANKED:
            self.pairs.append(np.stack([predicted, y]).astype(np.float32))
        else:
            self.pairs = None

    def correlation(self) -> float | None:
        """None for more rows, or if predictions do not differ."""
        if not self.pairs:
            return None
        from scipy.stats import rankdata

        ranks = [rankdata(column) for column in np.hstack(self.pairs)]
        return None if min(map(np.ptp, ranks)) == 0 else float(np.corrcoef(ranks)[0, 1])


@dataclass
class RegressionScores:
    """Running scores of a regression."""

    labels: Moments = field(default_factory=Moments)
    squares: float = 0.0
    absolute: float = 0.0
    losses: float = 0.0
    ranks: Ranks = field(default_factory=Ranks)

    def add(self, y: Array, mean: Array, variance: Array) -> None:
        """Add test rows; the variance is that of y."""
        self.labels.add(y)
        self.squares += float(np.sum((y - mean) ** 2))
        self.absolute += float(np.sum(np.abs(y - mean)))
        self.ranks.add(mean, y)
        self.losses += float(np.sum(negative_log_likelihood(y, mean, variance)))

    @property
    def mse(self) -> float:
        return self.squares / self.labels.n

    @property
    def mae(self) -> float:
        return self.absolute / self.labels.n

    @property
    def nmse(self) -> float:
        """The squared error over the variance of the test labels."""
        return float(np.divide(self.squares, self.labels.squares)) if self.labels.squares else np.nan

    @property
    def mnll(self) -> float:
        return self.losses / self.labels.n


@dataclass
class Errors:
    """Running errors of several outputs; the largest one predicts the class."""

    targets: Moments = field(default_factory=Moments)
    squares: float = 0.0
    absolute: float = 0.0
    wrong: int = 0
    ranks: Ranks = field(default_factory=Ranks)

    def add(self, predicted: Array, targets: Array) -> None:
        self.targets.add(targets)
        self.squares += float(np.sum((predicted - targets) ** 2))
        self.absolute += float(np.sum(np.abs(predicted - targets)))
        if predicted.shape[1] == 1:
            self.ranks.add(predicted[:, 0], targets[:, 0])
        self.wrong += int(np.sum(predicted.argmax(1) != targets.argmax(1)))

    def measures(self, classes: int | None) -> Iterator[tuple[str, float]]:
        """(name, value); the first is the one to minimise."""
        if classes is not None:
            yield "error", self.wrong / self.targets.n
        yield "rmse", float(np.sqrt(self.squares / (self.targets.n * np.size(self.targets.mean))))
        yield "nmse", float(np.divide(self.squares, np.sum(self.targets.squares)))
        if classes is None and np.size(self.targets.mean) == 1:
            yield "mae", self.absolute / self.targets.n
            if (correlation := self.ranks.correlation()) is not None:
                yield "spearman", correlation


@dataclass
class ClassScores:
    """Running scores of a classification, from the logarithms of the class probabilities."""

    n: int = 0
    wrong: int = 0
    losses: float = 0.0
    bins: Array = field(default_factory=lambda: np.zeros((2, BINS)))  # Σ probability of the answer, Σ correct

    def add(self, y: Array, log_p: Array) -> None:
        answer = log_p.argmax(1)
        correct, p = answer == y, np.exp(log_p.max(1))
        self.n += len(y)
        self.wrong += int(np.sum(~correct))
        self.losses -= float(np.sum(log_p[np.arange(len(y)), y]))
        place = np.minimum((p * BINS).astype(int), BINS - 1)
        for total, weights in zip(self.bins, (p, correct), strict=True):
            total += np.bincount(place, weights, BINS)

    @property
    def error(self) -> float:
        return self.wrong / self.n

    @property
    def mnll(self) -> float:
        return self.losses / self.n

    @property
    def calibration_error(self) -> float:
        """Mean distance between the probability of the answer and its accuracy, over bins [Guo et al. 2017]."""
        return float(np.abs(self.bins[0] - self.bins[1]).sum() / self.n)
