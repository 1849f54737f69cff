"""Powers of inner products."""

from typing import Any, ClassVar

from rfbench.kernels import KernelRecipe
from rfbench.sklearn.base import SketchTransformer
from rfbench.sklearn.parameters import AT_LEAST_1, NOT_NEGATIVE, OF_PRODUCTS, recipe


class PolynomialSketch(SketchTransformer):
    """Features of (γ⟨x, y⟩ + ν)ᵖ, in place of PolynomialCountSketch.

    sketch: a product sketch, tensorsketch, mean_split, anchored, … (`rfbench list sketches`).
    degree, gamma, coef0: p, γ and ν; gamma="scale" is 1/(d Var X).
    n_components: features D; even for a complex-to-real sketch.
    options: those of the sketch, such as {"base": "tensorsrht"} for sketch.base=tensorsrht.
    n_jobs: threads; None is one for each core, or the share of a joblib worker.
    random_state: an integer is the seed of the command line; None and a RandomState draw one.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SketchTransformer._parameter_constraints,
        "degree": [AT_LEAST_1],
        "gamma": OF_PRODUCTS,
        "coef0": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        sketch: str = "ctr_tensorsrht",
        *,
        degree: int = 3,
        n_components: int = 2048,
        gamma: float | str = 1.0,
        coef0: float = 1.0,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.sketch = sketch
        self.degree = degree
        self.n_components = n_components
        self.gamma = gamma
        self.coef0 = coef0
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        return recipe("polynomial", gamma, self.degree, self.coef0)
