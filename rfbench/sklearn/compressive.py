"""Any kernel, of random measurements of rows."""

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from rfbench.kernels import KernelRecipe
from rfbench.sklearn.base import SketchTransformer
from rfbench.sklearn.parameters import AT_LEAST_1, NOT_NEGATIVE, OF_LENGTHS, recipe


class CompressiveSketch(SketchTransformer):
    """Random measurements of a row, then features of these.

    sketch: compressive, whose base is any sketch of the kernel, compressive_rff or compressive_identity.
    kernel: that of the base: polynomial, linear, gaussian, laplacian, matern or exponential; kernel_params: its
    parameters but gamma, degree and coef0, such as {"nu": 2.5}.
    options: {"measurements": 100, "projector": "hadamard", "base": "rff"}; the default is half the columns.
    gamma, degree, coef0, n_components, n_jobs, random_state: as in MaclaurinSketch.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SketchTransformer._parameter_constraints,
        "kernel": [StrOptions({"polynomial", "linear", "gaussian", "laplacian", "matern", "exponential"})],
        "kernel_params": [dict, None],
        "degree": [AT_LEAST_1],
        "gamma": OF_LENGTHS,
        "coef0": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        sketch: str = "compressive",
        *,
        kernel: str = "polynomial",
        gamma: float | str = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
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
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        return recipe(self.kernel, gamma, self.degree, self.coef0, **self.kernel_params or {})
