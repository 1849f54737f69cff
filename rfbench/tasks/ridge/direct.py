"""Ridge regression by Cholesky factors [Ohana et al. 2019, D.3].

    primal  W = (ΦᴴΦ + λI)⁻¹ ΦᴴY        dual  A = (K + λI)⁻¹ Y,      λ = α κ n                            (1)

with n rows and κ the mean of k(x, x), so that α has no unit.  Rows that are held out while α is chosen are added
afterwards: no feature is computed twice for that.
"""

from abc import ABC, abstractmethod

from rfbench.arrays import Array
from rfbench.engines import Engine, Rows
from rfbench.linalg.gram import Drawn, double_products, gram_sums, kernel_matrix
from rfbench.linalg.ridge_path import cholesky_path
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.tasks.ridge.predictors import FeaturePredictor, KernelPredictor, Predictor, features_to_weights
from rfbench.tasks.rows import gathered


class Equations(ABC):
    """The equations of some rows, to which the held-out rows can be added."""

    n: int  # rows
    exact_products: bool = True  # in double precision

    @abstractmethod
    def __init__(self, draw: Drawn, rest: Rows, held_out: Rows | None, engine: Engine, watch: Stopwatch) -> None: ...

    @abstractmethod
    def complete(self) -> None:
        """Add the held-out rows."""

    @abstractmethod
    def solve(self, penalties: Array) -> Array:
        """The solutions for every λ, (number of λ, unknowns, p); NaN where λ is below rounding error."""

    @abstractmethod
    def predictor(self, solution: Array) -> Predictor:
        """The function of a solution, (unknowns, outputs)."""


class NormalEquations(Equations):
    """Primal: ΦᴴΦ and ΦᴴY need memory for D² numbers, however many rows there are."""

    def __init__(self, draw: Drawn, rest: Rows, held_out: Rows | None, engine: Engine, watch: Stopwatch) -> None:
        self.draw, self.held_out, self.engine, self.watch = draw, held_out, engine, watch
        self.sums = gram_sums(draw, rest, engine, what="training rows")
        self.n, self.exact_products = self.sums.n, double_products(draw.features)
        watch.add(self.sums.watch)

    def complete(self) -> None:
        if self.held_out is not None:
            more = gram_sums(self.draw, self.held_out, self.engine, what="held-out rows")
            self.watch.add(more.watch)
            self.sums.merge(more)
            self.n = self.sums.n

    def solve(self, penalties: Array) -> Array:
        with self.watch("factor"):
            return cholesky_path(self.sums.G, self.sums.R, penalties, self.engine)

    def predictor(self, solution: Array) -> Predictor:
        return FeaturePredictor(self.draw.features, solution)


class KernelEquations(Equations):
    """Dual: K of all rows, of which the held-out ones are the last."""

    def __init__(self, draw: Drawn, rest: Rows, held_out: Rows | None, engine: Engine, watch: Stopwatch) -> None:
        self.features, self.engine, self.watch, self.n = draw.features, engine, watch, len(rest)
        self.X, self.Y = gathered(rest, *([] if held_out is None else [held_out]))
        with watch("gram"):
            self.K = kernel_matrix(self.features, self.X, engine)

    def complete(self) -> None:
        self.n = len(self.X)

    def solve(self, penalties: Array) -> Array:
        n = self.n
        with self.watch("factor"):
            return cholesky_path(self.K[:n, :n], self.Y[:n].astype(self.K.dtype), penalties, self.engine)

    def predictor(self, solution: Array) -> Predictor:
        X = self.X[: self.n]
        if not self.features.explicit:
            return KernelPredictor(self.features.product, X, solution, solution.shape[1])
        return features_to_weights(self.features, X, solution, self.engine)
