"""Ridge regression by conjugate gradients: neither Φ nor a matrix of D² or n² numbers has to fit in memory.

The equations are the normal equations (ΦᴴΦ + λI) W = ΦᴴY or, where the kernel has no features, (K + λI) A = Y.  Both
matrices are nearly of low rank, and some rows, the landmarks, estimate them well enough for a preconditioner.  Products
are in the precision of the features, sums and all vectors in double.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine, Rows
from rfbench.linalg.cg import LowRankPreconditioner, conjugate_gradients
from rfbench.linalg.gram import Drawn
from rfbench.linalg.products import products_of
from rfbench.linalg.spill import FeatureStore
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.sketches import FeatureMap, KernelRows
from rfbench.tasks.ridge.predictors import FeaturePredictor, KernelPredictor, Predictor
from rfbench.tasks.rows import gathered

LANDMARK_ROWS = 4096  # of the Nyström factor multiplied at once


class NoConvergenceError(ArithmeticError):
    """Reported in a failed row."""


@dataclass(frozen=True, eq=False)
class Iteration:
    """The rows and the penalty of one regression, and when to stop."""

    rows: Rows
    landmarks: Array  # rows
    penalty: float
    tolerance: float
    engine: Engine
    watch: Stopwatch
    limit: int

    def solve(self, draw: Drawn) -> tuple[Predictor, int]:
        """The function learned, and the number of steps."""
        return self.by_features(draw) if draw.features.explicit else self.by_kernel(draw.features)

    def by_features(self, draw: Drawn) -> tuple[Predictor, int]:
        """x → Φ(x)ᵀW."""
        features, products = draw.features, products_of(draw, self.rows, self.engine)
        with self.watch("features"):
            R = products.targets()
        B = np.empty((len(self.landmarks), features.D), features.dtype)
        B = self.engine.transform(features, self.landmarks, B).conj().T
        B *= np.sqrt(len(self.rows) / len(self.landmarks))
        W, steps = self._solve(products.square, R, B)
        return FeaturePredictor(features, W), steps

    def by_kernel(self, features: FeatureMap) -> tuple[Predictor, int]:
        """x → Σ k(x, xᵢ)aᵢ."""
        X, Y = gathered(self.rows)
        store = FeatureStore(KernelRows(features, X), self.rows, self.engine)
        with self.watch("gram"):
            for _ in store.first(lambda K, Y: None):
                pass

        def product(V: Array) -> Array:
            V = V.astype(features.dtype)
            return np.concatenate(list(store.again(lambda K: K @ V))).astype(np.float64)

        A, steps = self._solve(product, Y, self._nystrom(features, X))
        return KernelPredictor(features.product, X, A, A.shape[1]), steps

    def _nystrom(self, features: FeatureMap, X: Array) -> Array:
        """B with BBᵀ the Nyström estimate of K from the landmarks."""
        near = KernelRows(features, self.landmarks)
        K = near(self.landmarks).astype(np.float64)
        K[np.diag_indices_from(K)] += 1e-6 * np.trace(K) / len(K)  # against rounding
        B = self.engine.transform(near, X, near.empty(len(X)))
        half = solve_triangular(cholesky(K), np.eye(len(K))).astype(B.dtype)
        for span in spans(len(X), LANDMARK_ROWS):
            B[span] = B[span] @ half
        return B

    def _solve(self, product: Callable[[Array], Array], b: Array, B: Array) -> tuple[Array, int]:
        with self.watch("solve"):
            x, steps, residual = conjugate_gradients(
                lambda p: product(p) + self.penalty * p,
                b,
                self.tolerance,
                precondition=LowRankPreconditioner(B, self.penalty, self.engine),
                limit=self.limit,
            )
        if not residual <= self.tolerance:  # or not a number
            raise NoConvergenceError(
                f"conjugate gradients did not converge: residual {residual:.1g} after {steps} iterations; "
                "use a larger task.alpha or task.tolerance"
            )
        return x, steps
