"""The marginal likelihood of all training rows through Fourier features, by passes over the rows.

With G = ΦᵀΦ, r = Φᵀy, λ = σₙ²/σ² and A = G + λI, the process with the kernel ⟨Φ(x), Φ(y)⟩ has

    −2 log p(y) = (yᵀy − rᵀA⁻¹r)/σₙ² + log|A| − D log λ + n log 2πσₙ²                                       (1)

[Rasmussen & Williams 2006, Eq. 5.8, by the matrix inversion lemma].  Φ of length scale l at x is Φ of length scale 1 at
x/l, and a pass sums G, r and their derivatives G', r' by log l.  With a = A⁻¹r,

    ∂/∂log l = ⟨A⁻¹, G'⟩ − (2 aᵀr' − aᵀG'a)/σₙ².                                                           (2)
"""

from functools import partial
from typing import Self

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.lapack import dpotri

from rfbench.arrays import Array, diagonal
from rfbench.engines import Engine, Rows, State
from rfbench.linalg.gram import Drawn, block_rows
from rfbench.linalg.tiles import mirror, tiles
from rfbench.tasks.gp.likelihood import Given, Hyperparameters, descend


class SlopeSums:
    """n, yᵀy, and the upper triangles of G and G' with r and r', of some rows."""

    def __init__(self, draw: Drawn, length_scale: float) -> None:
        self.draw, self.length_scale, D = draw, length_scale, draw.features.D
        self.n, self.squares = 0, 0.0
        self.G, self.G_slope = np.zeros((2, D, D))
        self.r, self.r_slope = np.zeros((2, D))

    def add(self, X: Array, y: Array, engine: Engine) -> None:
        features = self.draw.features
        Phi, slope = features.with_scale_slope(X / features.dtype.type(self.length_scale))

        def add(ij: tuple[slice, slice]) -> None:
            i, j = ij
            self.G[ij] += Phi[:, i].T @ Phi[:, j]
            self.G_slope[ij] += Phi[:, i].T @ slope[:, j] + slope[:, i].T @ Phi[:, j]

        engine.run(add, tiles(features.D))
        self.r += y @ Phi
        self.r_slope += y @ slope
        self.n, self.squares = self.n + len(y), self.squares + float(y @ y)

    def merge(self, other: Self) -> None:
        for name, value in other.state().items():
            setattr(self, name, getattr(self, name) + value)

    def state(self) -> State:
        return {name: getattr(self, name) for name in ("n", "squares", "G", "G_slope", "r", "r_slope")}

    def load(self, state: State) -> None:
        for name, value in state.items():
            setattr(self, name, np.array(value) if np.ndim(value) else np.asarray(value).item())

    def negative_log_marginal(self, signal: float, noise: float) -> tuple[float, Array]:
        """−log p(y) of equation (1) and its gradient by log l, log σ² and log σₙ²."""
        lam, D = noise / signal, len(self.r)
        A = self.G.copy()
        diagonal(A)[...] += lam
        try:
            U = cholesky(A, check_finite=False)
        except np.linalg.LinAlgError:
            return 1e25, np.zeros(3)  # the line search backtracks
        a = cho_solve((U, False), self.r)
        inverse, slope = mirror(np.ascontiguousarray(dpotri(U)[0])), mirror(self.G_slope)
        fit = (self.squares - self.r @ a) / noise
        determinant = 2 * np.log(U.diagonal()).sum() - D * np.log(lam)
        by_scale = np.vdot(inverse, slope) - (2 * a @ self.r_slope - a @ slope @ a) / noise
        by_lam = lam * (np.trace(inverse) + a @ a / noise) - D
        value = fit + determinant + self.n * np.log(2 * np.pi * noise)
        return 0.5 * float(value), 0.5 * np.array([by_scale, -by_lam, by_lam - fit + self.n])


def maximize_streamed(draw: Drawn, rows: Rows, start: Hyperparameters, given: Given, engine: Engine) -> Hyperparameters:
    """The hyperparameters of largest likelihood near the start, for centred labels and a draw of length scale 1."""
    kept: dict[float, SlopeSums] = {}

    def loss(theta: Array) -> tuple[float, Array]:
        l, signal, noise = np.exp(theta).tolist()
        if l not in kept:  # a pass over the rows, needed only where the length scale has changed
            kept.clear()
            kept[l] = engine.accumulate(partial(SlopeSums, draw, l), rows, block_rows(draw.features.D), "training rows")
        return kept[l].negative_log_marginal(signal, noise)

    _, theta = descend(loss, np.log(start), [place for place, value in enumerate(given) if value is None])
    return Hyperparameters(*np.exp(theta).tolist())
