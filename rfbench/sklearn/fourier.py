"""Kernels of the distance."""

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from rfbench.kernels import KernelRecipe
from rfbench.sklearn.base import SketchTransformer
from rfbench.sklearn.parameters import OF_LENGTHS, recipe


class FourierSketch(SketchTransformer):
    """Features of exp(−γ‖x − y‖²), in place of RBFSampler, and of other kernels of the distance.

    sketch: rff, orf, sorf, fastfood, phase_rff (the features of RBFSampler), optical_rff, …
    kernel: gaussian, laplacian, matern, bessel or b_spline with the length scale l = (2γ)^−½; kernel_params: its other
    parameters, such as {"nu": 2.5}.
    gamma: a number; "scale" is 1/(d Var X), "median" makes l the median distance of training rows.
    n_components, options, n_jobs, random_state: as in PolynomialSketch; n_components is even but for phase_….
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SketchTransformer._parameter_constraints,
        "kernel": [StrOptions({"gaussian", "laplacian", "matern", "bessel", "b_spline"})],
        "kernel_params": [dict, None],
        "gamma": OF_LENGTHS,
    }

    def __init__(
        self,
        sketch: str = "rff",
        *,
        kernel: str = "gaussian",
        gamma: float | str = 1.0,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 2048,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sketch = sketch
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        return recipe(self.kernel, gamma, **self.kernel_params or {})
