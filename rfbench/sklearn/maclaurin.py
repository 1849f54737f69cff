"""Kernels of the inner product, degree by degree."""

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from rfbench.kernels import KernelRecipe
from rfbench.sklearn.base import SketchTransformer
from rfbench.sklearn.parameters import AT_LEAST_1, NOT_NEGATIVE, OF_LENGTHS, recipe


class MaclaurinSketch(SketchTransformer):
    """Features of a kernel of ⟨x, y⟩ by degrees of its series.

    sketch: optimized_maclaurin and anchored learn from training rows how many features a degree needs, mean_split
    too; random_maclaurin does not.
    kernel: gaussian, exp(−γ‖x − y‖²), exponential, exp(γ⟨x, y⟩), or polynomial, (γ⟨x, y⟩ + ν)ᵖ with p = degree and
    ν = coef0.
    gamma, n_components, options, n_jobs, random_state: as in FourierSketch.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SketchTransformer._parameter_constraints,
        "kernel": [StrOptions({"gaussian", "exponential", "polynomial"})],
        "degree": [AT_LEAST_1],
        "gamma": OF_LENGTHS,
        "coef0": [NOT_NEGATIVE],
    }
    _fewest_rows = 2

    def __init__(
        self,
        sketch: str = "optimized_maclaurin",
        *,
        kernel: str = "gaussian",
        gamma: float | str = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int = 2048,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sketch = sketch
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        return recipe(self.kernel, gamma, self.degree, self.coef0)
