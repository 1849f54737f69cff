"""Ridge regression by conjugate gradients: neither Φ nor a matrix of D² or n² numbers has to fit in memory.

The equations are the normal equations (ΦᴴΦ + λI) W = ΦᴴY or, where the kernel has no features, (K + λI) A = Y.  Both
matrices are nearly of low rank, and some rows estimate them well enough for a preconditioner: of ΦᴴΦ a randomized
Nyström approximation of the rank that suits them, of K the one from these rows as landmarks.  Products are in the
precision of the features, sums and all vectors in double.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.engines import Engine, Rows
from rfbench.linalg.cg import LowRankPreconditioner, conjugate_gradients
from rfbench.linalg.gram import Drawn
from rfbench.linalg.nystrom import from_landmarks, randomized
from rfbench.linalg.products import products_of
from rfbench.linalg.spill import FeatureStore
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.sketches import FeatureMap, KernelRows
from rfbench.tasks.ridge.predictors import FeaturePredictor, KernelPredictor, Predictor
from rfbench.tasks.rows import gathered

LEAST_RANK = 512
ROWS_A_RANK = 4  # rows for each column of the randomized approximation: more cost more than the steps that they save


class NoConvergenceError(ArithmeticError):
    """Reported in a failed row."""


@dataclass(frozen=True, eq=False)
class Iteration:
    """The rows and the penalty of one regression, and when to stop."""

    rows: Rows
    some: Array  # rows for the preconditioner
    penalty: float
    tolerance: float
    engine: Engine
    watch: Stopwatch
    limit: int
    rng: np.random.Generator

    def solve(self, draw: Drawn) -> tuple[Predictor, int]:
        """The function learned, and the number of steps."""
        return self.by_features(draw) if draw.features.explicit else self.by_kernel(draw.features)

    def by_features(self, draw: Drawn) -> tuple[Predictor, int]:
        """x → Φ(x)ᵀW."""
        features, products = draw.features, products_of(draw, self.rows, self.engine)
        with self.watch("features"):
            R = products.targets()
        with self.watch("solve"):
            rank = min(features.D, len(self.some), max(len(self.some) // ROWS_A_RANK, LEAST_RANK))
            B = randomized(features, self.some, rank, self.rng, self.engine)
            B *= features.dtype.type(np.sqrt(len(self.rows) / len(self.some)))
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

        near = KernelRows(features, self.some)
        columns = self.engine.transform(near, X, near.empty(len(X)))
        B = from_landmarks(columns, near(self.some).astype(np.float64), self.engine)
        A, steps = self._solve(product, Y, B)
        return KernelPredictor(features.product, X, A, A.shape[1]), steps

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
