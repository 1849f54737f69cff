"""The exponential kernel of attention."""

from typing import Any, ClassVar

from rfbench.kernels import KernelRecipe
from rfbench.sklearn.base import SketchTransformer
from rfbench.sklearn.parameters import OF_LENGTHS, recipe


class PositiveSketch(SketchTransformer):
    """Features of exp(γ⟨x, y⟩), the kernel of attention.

    sketch: favor, whose features are all positive, or exponential_rff.
    gamma: a number; "scale" is 1/(d Var X), "median" makes γ^−½ the median distance of training rows.
    n_components, options, n_jobs, random_state: as in PolynomialSketch.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SketchTransformer._parameter_constraints,
        "gamma": OF_LENGTHS,
    }

    def __init__(
        self,
        sketch: str = "favor",
        *,
        gamma: float | str = 1.0,
        n_components: int = 2048,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sketch = sketch
        self.gamma = gamma
        self.n_components = n_components
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        return recipe("exponential", gamma)
