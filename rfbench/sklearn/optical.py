"""Light behind a scattering medium."""

from typing import Any, ClassVar

from rfbench.kernels import KernelRecipe
from rfbench.sklearn.base import SketchTransformer
from rfbench.sklearn.parameters import ABOVE_0, NOT_NEGATIVE, recipe


class OpticalSketch(SketchTransformer):
    """|Ux|ᵐ of rows with √ν appended, light behind a scattering medium, without a device.

    exponent, coef0: m and ν.
    n_components, options, n_jobs, random_state: as in PolynomialSketch.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SketchTransformer._parameter_constraints,
        "exponent": [ABOVE_0],
        "coef0": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        sketch: str = "optical",
        *,
        exponent: float = 2.0,
        coef0: float = 0.0,
        n_components: int = 2048,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sketch = sketch
        self.exponent = exponent
        self.coef0 = coef0
        self.n_components = n_components
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        return recipe("optical", exponent=float(self.exponent), bias=float(self.coef0))
