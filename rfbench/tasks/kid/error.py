"""The variance of unbiased squared MMDs over the choice of the rows, and that of their differences.

Several sets y₁, y₂, … are compared with one reference x.  With φ̃ = φ − μ of each distribution, δᵢ = μ_x − μᵢ and
C = E φ̃φ̃ᵀ, the estimate of mmd.py is ‖δᵢ‖² plus uncorrelated terms of mean zero, its Hoeffding decomposition as a
U-statistic.  For n and mᵢ rows, a sum of estimates with weights wᵢ, such as a difference, has

    Var = 4 ΔᵀC_xΔ/n + Σ wᵢ² 4 δᵢᵀCᵢδᵢ/mᵢ + S,   Δ = Σ wᵢδᵢ
    S = (Σ wᵢ)² 2 ‖C_x‖²/n(n−1) + Σ wᵢ² (2 ‖Cᵢ‖²/mᵢ(mᵢ−1) + 4 ⟨C_x, Cᵢ⟩/nmᵢ)                                     (1)

In a difference of two the reference enters by μ₂ − μ₁ only: what it has in common with both cancels.  δᵀCδ is the
variance of the witness f(x) = ⟨φ(x), δ⟩ over rows.  The difference of two mean embeddings varies around δ with
covariance C_x/n + Cᵢ/mᵢ: with it in place of δ, the first terms of (1) are 2S too large.  The witnesses of two draws of
a sketch have independent errors, so that their covariance over rows is the variance of the exact one.  The first terms
are not negative; cutting them at zero makes (1) up to twice too large where δ = 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.kernels import Kernel


@dataclass(eq=False)
class SamplingError:
    """Equation (1) from some rows of each set; `n` counts all rows of the reference, `m` those of the other sets."""

    kernel: Kernel
    X: Array
    Y: Sequence[Array]
    n: int
    m: Sequence[int]

    def __post_init__(self) -> None:
        n, gram = self.n, self.kernel.gram
        self.within = 2 * off_diagonal(centred(gram(self.X, self.X)) ** 2) / (n * (n - 1))
        self.others = [
            2 * off_diagonal(centred(gram(Y, Y)) ** 2) / (m * (m - 1))
            + 4 * float(np.mean(centred(gram(self.X, Y)) ** 2)) / (n * m)
            for Y, m in zip(self.Y, self.m, strict=True)
        ]

    def variance(self, weights: Array, f_x: Sequence[Array], f_y: Sequence[Array]) -> float:
        """The variance of the weighted sum, from witnesses (draws, rows) at rows of the reference and of each set."""
        squares = weights**2
        second = float(weights.sum() ** 2 * self.within + squares @ self.others)
        first = 4 * off_diagonal(np.cov(np.tensordot(weights, np.asarray(f_x), 1))) / self.n
        first += 4 * float(squares @ [off_diagonal(np.cov(f)) / m for f, m in zip(f_y, self.m, strict=True)])
        return max(first - 2 * second, 0.0) + second


def centred(K: Array) -> Array:
    """⟨φ̃(x), φ̃(y)⟩ of all pairs."""
    return K - K.mean(0) - K.mean(1)[:, None] + K.mean()


def off_diagonal(A: Array) -> float:
    """The mean of all entries off the diagonal."""
    return float(A.sum() - A.trace()) / (len(A) * (len(A) - 1))
