"""Ridge regression by averaged stochastic gradients, for more features than a matrix ΦᵀΦ can be held of.

Steps are of constant length, half the inverse curvature of the first batch, and the iterates of the second half of the
epochs are averaged  [Bach & Moulines 2013].  Memory is that of θ and of one batch.
"""

from collections.abc import Callable, Iterable

import numpy as np

from rfbench.arrays import Array
from rfbench.sketches import Coupling, FeatureMap

BATCH = 256  # rows at least, where there are as many
POWER_STEPS = 30


def descend(
    features: FeatureMap,
    M: Coupling,
    passes: Callable[[], Iterable[tuple[Array, Array]]],
    penalty: float,
    epochs: int,
    rng: np.random.Generator,
) -> Array:
    """M(θ) after some passes over (X, Y), of the mean of ‖P_x θ − y‖² + penalty ‖θ‖² over rows."""
    from tqdm import tqdm

    theta, average, averaged, step = np.zeros(M.shape), np.zeros(M.shape), 0, 0.0
    for epoch in tqdm(range(epochs), "epochs", delay=2, disable=None, leave=False):
        for X, Y in passes():
            # No batch is small: its curvature would be larger than that of the first.
            for rows in np.array_split(rng.permutation(len(X)), max(len(X) // BATCH, 1)):
                Phi = features(X[rows]).astype(np.float64)
                step = step or 0.5 / (curvature(Phi, M, rng) + penalty)
                gradient = M.adjoint(Phi.T @ (Phi @ M.forward(theta) - Y[rows])) / len(rows) + penalty * theta
                theta -= step * gradient
                if epoch >= epochs // 2:
                    averaged += 1
                    average += (theta - average) / averaged
    return M.forward(average)


def curvature(Phi: Array, M: Coupling, rng: np.random.Generator) -> float:
    """The largest eigenvalue of PᵀP/n, by power iteration."""
    v, norm = rng.standard_normal(M.shape), 1.0
    for _ in range(POWER_STEPS):
        v = M.adjoint(Phi.T @ (Phi @ M.forward(v / np.linalg.norm(v)))) / len(Phi)
        norm = float(np.linalg.norm(v))
    return norm
