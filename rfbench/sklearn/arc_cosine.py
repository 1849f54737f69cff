"""Infinitely wide layers of neurons."""

from typing import Any, ClassVar

from sklearn.utils._param_validation import Options

from rfbench.kernels import KernelRecipe
from rfbench.sklearn.base import SketchTransformer
from rfbench.sklearn.parameters import recipe


class ArcCosineSketch(SketchTransformer):
    """Random neurons: steps, rectifiers or their squares, features of the arc-cosine kernel of that order.

    order: 0, 1 or 2.
    n_components, options, n_jobs, random_state: as in PolynomialSketch.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SketchTransformer._parameter_constraints,
        "order": [Options(int, {0, 1, 2})],
    }

    def __init__(
        self,
        sketch: str = "arc_cosine",
        *,
        order: int = 1,
        n_components: int = 2048,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sketch = sketch
        self.order = order
        self.n_components = n_components
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        return recipe("arc_cosine", order=int(self.order))
