"""Every sketch as a transformer of scikit-learn.

A class fixes the kernel, its parameter `sketch` the way to estimate it.  Parameters have scikit-learn's names: gamma
and coef0 are γ and ν of (γ⟨x, y⟩ + ν)ᵖ, n_components is the number of features D, random_state is the seed.  For an
integer, the features are those that the command line draws for this seed and the same training rows.

Rows are transformed in blocks on several threads; only a block of a sparse matrix is dense at a time.  Numbers have the
precision of the rows that the transformer was fitted to.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rfbench.arrays import Array, real_type
from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory, Rows, SparseRows
from rfbench.datasets.moments import Moments
from rfbench.datasets.prepare import Prepared, apply, unit_norm
from rfbench.datasets.splits import Part
from rfbench.engines import Local
from rfbench.kernels import KernelRecipe, kernel_recipe
from rfbench.registry import find
from rfbench.seeds import rng_for
from rfbench.sketches import SKETCHES, Sketch, make_sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.base import KERNEL_ROWS, fitted

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6

    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


__all__ = [
    "CompressiveSketch",
    "FourierSketch",
    "MaclaurinSketch",
    "OpticalSketch",
    "PolynomialSketch",
    "PositiveSketch",
    "SphericalSketch",
]

DTYPES = ["float64", "float32"]  # others become the first
ABOVE_0 = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
AT_LEAST_1 = Interval(Integral, 1, None, closed="left")
OF_LENGTHS = [StrOptions({"scale", "median"}), ABOVE_0]  # gamma of a kernel that has a length scale l
OF_PRODUCTS = [StrOptions({"scale"}), ABOVE_0]
# γ l²: exp(−γ‖x − y‖²) is the Gaussian kernel, exp(γ⟨x, y⟩) the exponential one.
UNITS = {"gaussian": 2, "laplacian": 2, "matern": 2, "bessel": 2, "b_spline": 2, "exponential": 1}
HOMES = {  # the transformer of a kernel
    "polynomial": "PolynomialSketch",
    "linear": "CompressiveSketch(kernel='linear')",
    "gaussian": "FourierSketch",
    "polynomial_sphere": "SphericalSketch",
    "optical": "OpticalSketch",
    "exponential": "PositiveSketch",
}


def recipe(kernel: str, gamma: float | str = 1.0, degree: int = 1, coef0: float = 0.0, **others: Any) -> KernelRecipe:
    """The kernel of that name from scikit-learn's parameters, which may be NumPy's numbers, and others of its own."""
    if kernel == "polynomial":
        others |= {"gamma": gamma if isinstance(gamma, str) else float(gamma), "bias": float(coef0)}
    elif kernel in UNITS:
        others["length_scale"] = gamma if isinstance(gamma, str) else (UNITS[kernel] * float(gamma)) ** -0.5
    return kernel_recipe(kernel, int(degree), **others)


def rows_of(X: Any) -> Rows:
    return SparseRows(X) if issparse(X) else InMemory(np.asarray(X))


def scale(train: Prepared) -> float:
    """1/(d Var X) over all entries of X, scikit-learn's gamma="scale"."""
    columns = Moments()
    for X, _ in train.blocks():
        columns.add(X)
    variance = columns.squares.mean() / columns.n + columns.mean.var()
    return 1 / (len(columns.mean) * variance) if variance else 1.0


class SketchTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What all transformers share; a subclass states its kernel.

    Fitted attributes: kernel_ and sketch_ (with what they learned from training rows), feature_map_ (the draw),
    n_features_in_ and feature_names_in_.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "sketch": [str],
        "n_components": [AT_LEAST_1],
        "options": [dict, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _steps: ClassVar[tuple[Callable[[Array], Array], ...]] = ()  # preparation of the rows
    _fewest_rows: ClassVar[int] = 1
    sketch: str
    n_components: int
    options: dict[str, Any] | None
    n_jobs: int | None
    random_state: Any

    def _recipe(self, gamma: float | str) -> KernelRecipe:
        """The kernel, with the value of `gamma` in place of scale."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw a feature map for rows of this width and precision; some sketches and gammas learn from the rows."""
        self._validate_params()
        X = validate_data(self, X, accept_sparse="csr", dtype=DTYPES, ensure_min_samples=self._fewest_rows)
        n, d = X.shape
        dataset = Dataset("X", rows_of(X), InMemory(np.broadcast_to(0.0, n)), None)
        train = Prepared(Part(dataset, np.empty(0, np.int64), True), X.dtype, list(self._steps))
        seed, gamma = self.random_state, getattr(self, "gamma", 1.0)
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        seed = int(seed)
        found = self._recipe(scale(train) if gamma == "scale" else gamma)
        # From here on like a run of the command line.
        self.kernel_ = found.fit(train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))[0])
        sketch = self._explicit_sketch()
        D = sketch.count(d, int(self.n_components))
        if objection := sketch.objection(D):
            raise InputError(objection.replace("features=", "n_components="))
        self.sketch_ = fitted(sketch, train, D, seed)
        self.feature_map_ = Draw.of(self.sketch_, self.sketch, d, D, seed, 0, X.dtype.name)()
        return self

    def _explicit_sketch(self) -> Sketch:
        """The sketch by its name; one of another kernel, or without features of single rows, is refused."""
        name, kernel = self.sketch, self.kernel_.name
        kernels = find("sketch", name, SKETCHES).kernels
        if kernels and kernel not in kernels:
            way_out = f"use {HOMES[kernels[0]]}" if kernels[0] in HOMES else "no transformer has it"
            raise InputError(
                f"sketch '{name}' estimates the {kernels[0]} kernel, not the {kernel} kernel of "
                f"{type(self).__name__}; {way_out}"
            )
        sketch = make_sketch(name, self.kernel_, **self.options or {})
        if not sketch.explicit:
            raise InputError(f"sketch '{name}' has no features of single rows; choose from `rfbench list sketches`")
        return sketch

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the first block of rows; later blocks change nothing, because a feature map is drawn only once."""
        if not hasattr(self, "feature_map_"):
            return self.fit(X)
        self._validate_params()
        validate_data(self, X, accept_sparse="csr", dtype=DTYPES, reset=False)
        return self

    def transform(self, X: Any) -> Array:
        """Φ(X), (n_samples, n_components), block by block."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=DTYPES, reset=False)
        features, rows = self.feature_map_, rows_of(X)
        Phi = np.empty((X.shape[0], features.D), features.dtype)  # rows are contiguous, as scikit-learn's solvers need

        def write(span: slice) -> None:
            block = apply(self._steps, rows.read(span.start, span.stop))
            features(np.ascontiguousarray(block, real_type(features.dtype)), Phi[span])

        engine = Local("auto" if self.n_jobs is None else effective_n_jobs(self.n_jobs))
        if len(Phi) <= engine.block_rows:  # starting threads takes longer than a few rows
            write(slice(0, len(Phi)))
            return Phi
        with engine.running():
            engine.run(write, spans(len(Phi), engine.block_rows))
        return Phi

    @property
    def _n_features_out(self) -> int:
        return self.feature_map_.D

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = DTYPES
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"preserves_dtype": DTYPES}


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
