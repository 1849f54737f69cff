"""The polynomial kernel of rows of length 1."""

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from rfbench.datasets.prepare import unit_norm
from rfbench.kernels import KernelRecipe
from rfbench.sklearn.base import SketchTransformer
from rfbench.sklearn.parameters import AT_LEAST_1, recipe


class SphericalSketch(SketchTransformer):
    """Features of (1 − ‖x − y‖²/a²)ᵖ; rows are scaled to length 1 first, where this kernel is defined.

    sketch: srf or srf_orthogonal, whose small bias does not vanish, or one of PolynomialSketch, which has none.
    degree, a: p, and a ≥ √2.
    n_components, options, n_jobs, random_state: as in PolynomialSketch.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SketchTransformer._parameter_constraints,
        "degree": [AT_LEAST_1],
        "a": [Interval(Real, 2**0.5, None, closed="left")],
    }
    _steps = (unit_norm,)

    def __init__(
        self,
        sketch: str = "srf",
        *,
        degree: int = 3,
        a: float = 2.0,
        n_components: int = 2048,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sketch = sketch
        self.degree = degree
        self.a = a
        self.n_components = n_components
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        return recipe("polynomial_sphere", degree=self.degree, a=float(self.a))
