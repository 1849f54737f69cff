"""What all transformers share: fit as a run of the command line fits, transform in blocks."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rfbench.arrays import Array, real_type
from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory, Rows, SparseRows
from rfbench.datasets.moments import Moments
from rfbench.datasets.prepare import Prepared, apply
from rfbench.datasets.splits import Part
from rfbench.engines import Local
from rfbench.kernels import KernelRecipe
from rfbench.registry import find
from rfbench.seeds import rng_for
from rfbench.sketches import SKETCHES, Sketch, make_sketch
from rfbench.sketches.draw import Draw
from rfbench.sklearn.parameters import AT_LEAST_1
from rfbench.tasks.base import KERNEL_ROWS, fitted

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6

    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


DTYPES = ["float64", "float32"]  # others become the first
HOMES = {  # the transformer of a kernel
    "polynomial": "PolynomialSketch",
    "linear": "CompressiveSketch(kernel='linear')",
    "gaussian": "FourierSketch",
    "polynomial_sphere": "SphericalSketch",
    "optical": "OpticalSketch",
    "exponential": "PositiveSketch",
    "arc_cosine": "ArcCosineSketch",
}


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
            engine.run(write, spans(len(Phi), features.whole_chunks(engine.block_rows)))
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
