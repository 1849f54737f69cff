"""Ridge regression by averaged stochastic gradients, for so many features that ΦᵀΦ does not fit in memory.

Steps have a constant length, half the inverse curvature of the first batch, and the iterates of the second half of the
epochs are averaged  [Bach & Moulines 2013].  Only θ and one batch are in memory.
"""

import numpy as np

from rfbench.arrays import Array
from rfbench.engines import Rows
from rfbench.progress import bar
from rfbench.sketches import Coupling, FeatureMap

BATCH = 256  # rows of a batch, at least, if there are as many
POWER_STEPS = 30


def descend(
    features: FeatureMap, M: Coupling, rows: Rows, penalty: float, epochs: int, rng: np.random.Generator
) -> Array:
    """M(θ) that minimises the mean of ‖P_x θ − y‖² over rows plus penalty ‖θ‖², after some passes."""
    theta, average, averaged, step = np.zeros(M.shape), np.zeros(M.shape), 0, 0.0
    with bar(epochs, "epochs") as shown:
        for epoch in range(epochs):
            for X, Y in rows.blocks():
                # No batch is small: its curvature would exceed that of the first.
                for batch in np.array_split(rng.permutation(len(X)), max(len(X) // BATCH, 1)):
                    Phi = features(X[batch]).astype(np.float64)
                    step = step or 0.5 / (curvature(Phi, M, rng) + penalty)
                    gradient = M.adjoint(Phi.T @ (Phi @ M.forward(theta) - Y[batch])) / len(batch) + penalty * theta
                    theta -= step * gradient
                    if epoch >= epochs // 2:
                        averaged += 1
                        average += (theta - average) / averaged
            shown.update()
    return M.forward(average)


def curvature(Phi: Array, M: Coupling, rng: np.random.Generator) -> float:
    """The largest eigenvalue of PᵀP/n, by power iteration."""
    v, norm = rng.standard_normal(M.shape), 1.0
    for _ in range(POWER_STEPS):
        v = M.adjoint(Phi.T @ (Phi @ M.forward(v / np.linalg.norm(v)))) / len(Phi)
        norm = float(np.linalg.norm(v))
    return norm
