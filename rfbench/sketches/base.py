"""A sketch is a recipe; sampled, it becomes a feature map Φ with E⟨Φ(x), Φ(y)⟩ = k(x, y).

Recipes are frozen, hashable and hold no arrays.  A map is one draw: immutable, and row i of Φ(X) depends on row i of X
only, so blocks may be computed in any order and on any number of threads.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.blocks import scratch, spans
from rfbench.checks import InputError, require
from rfbench.kernels.base import Kernel
from rfbench.seeds import rng_for
from rfbench.sketches.couplings import Coupling
from rfbench.sketches.products.weights import Law

# Rows computed at once.  Feature-major maps need their intermediate arrays to stay in the cache; products with dense
# weights need many rows to be worth packing the weights.
CHUNK = {"F": 64, "C": 256}
WRITTEN = 512  # features written at once: transposed, they are read line by line while the cache holds the lines

OfPairs = Callable[[Array, Array, int], Array]  # X (n, d), Y (m, d) and D → (n, m)


class FeatureMap(ABC):
    """One draw of d → D features."""

    d: int
    D: int
    dtype: np.dtype[Any]
    order: Literal["C", "F"] = "C"  # the layout of Φ that is written fastest; F is feature-major

    explicit: bool = True  # False: k̂ comes from `product` only, and Φ(x) may be x itself or measurements of it
    kernel: Kernel | None = None  # evaluated by `product`, for the exact kernel
    experts: Sequence["FeatureMap"] = ()  # one explicit map per cluster, for a localized sketch
    recentred: bool = False  # True: `around` makes the map for each row to predict, for a localized sketch
    coupling: Coupling | None = None  # of the outputs, for an operator-valued sketch
    counts: Mapping[int, int] = MappingProxyType({})  # features of each degree, for a Maclaurin sketch
    facts: Mapping[str, Any] = MappingProxyType({})  # what this draw learned from training rows, for run.json

    @abstractmethod
    def write(self, X: Array, out: Array) -> None:
        """Write Φ of at most `chunk` rows to out, (b, D)."""

    @property
    def chunk(self) -> int:
        """Rows computed at once."""
        return CHUNK[self.order]

    def whole_chunks(self, rows: int) -> int:
        """At most so many rows, a multiple of `chunk` where they are as many: such blocks leave no rest."""
        return rows // self.chunk * self.chunk or rows

    def empty(self, n: int) -> Array:
        """An array for n rows of Φ in the map's own layout."""
        return np.empty((n, self.D), self.dtype, order=self.order)

    def __call__(self, X: Array, out: Array | None = None) -> Array:
        """(n, d) → Φ, (n, D)."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.d or X.dtype.kind not in "biuf":
            what = f"{X.dtype} {X.shape}" if X.dtype.kind not in "biuf" else X.shape
            raise InputError(f"rows for this feature map must be numbers of shape (n, {self.d}); {what} was given")
        out = self.empty(len(X)) if out is None else out
        if out.shape != (len(X), self.D):
            raise InputError(f"out must have shape {(len(X), self.D)}; {out.shape} was given")
        for span in spans(len(X), self.chunk):
            self.write(X[span], out[span])
        return out

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        """Φ of at most `chunk` rows by ranges of features, each in a buffer that the next may overwrite."""
        b, role = len(X), f"tile of {type(self).__name__}"
        Phi = scratch(role, (self.D, b), self.dtype).T if self.order == "F" else scratch(role, (b, self.D), self.dtype)
        self.write(X, Phi)
        yield slice(0, self.D), Phi

    def parts(self) -> Iterator["FeatureMap"]:
        """Maps whose features, side by side, are these; several where Φ of many rows would not fit into memory."""
        yield self

    def product(self, Phi: Array, Psi: Array) -> Array:
        """k̂ of all pairs from their features, (n, m), or p × p blocks, (n p, m p)."""
        return Phi @ Psi.conj().T

    def paired(self, Phi: Array, Psi: Array) -> Array:
        """k̂ of row i with row i, (n, 1), or the entries of its p × p matrix, (n, p²)."""
        return np.einsum("pf,pf->p", Phi, Psi.conj())[:, None]

    def with_scale_slope(self, X: Array) -> tuple[Array, Array]:
        """Φ(x), and d/dt Φ(x e⁻ᵗ) at t = 0: its derivative by the logarithm of a length scale."""
        raise TypeError(f"{type(self).__name__} has no slope")

    def of_queries(self) -> "FeatureMap":
        """The map of queries, where that of keys is another one."""
        return self

    def nearest(self, X: Array) -> NDArray[np.int64]:
        """The expert of every row."""
        raise TypeError(f"{type(self).__name__} has no experts")

    def around(self, centre: Array) -> "FeatureMap":
        """The map of rows minus a centre."""
        raise TypeError(f"{type(self).__name__} has one centre")


class Tiled(FeatureMap):
    """A map that computes few features at a time, so that all they need stays in the cache."""

    @abstractmethod
    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]: ...

    def write(self, X: Array, out: Array) -> None:
        for features, Phi in self.tiles(X):
            for part in spans(Phi.shape[1], WRITTEN):
                out[:, features.start + part.start : features.start + part.stop] = Phi[:, part]


@dataclass(frozen=True)
class ClosedForm:
    """The exact spread of the estimate k̂."""

    variance: OfPairs  # E|k̂ − E k̂|², summed over the entries of a matrix
    pseudo_variance: OfPairs | None = None  # E[k̂²] − (E k̂)² of a complex sketch [Wacker 2022, Eq. 4.3]
    mean: OfPairs | None = None  # E k̂ where it is not the kernel
    norm_bound: OfPairs | None = None  # at least ‖E(K̂ − K)²‖₂ of a matrix [Brault et al. 2016, Proposition 3.1]
    approximate: bool = False


@dataclass(frozen=True)
class Sketch(ABC):
    """A recipe for a feature map.  D counts output columns, complex ones in a complex sketch."""

    @abstractmethod
    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        """One draw.  dtype is the real type of the numbers; complex maps return the complex type of that size."""

    def draw(self, X: Array, D: int, seed: int = 0) -> FeatureMap:
        """The recipe fitted to training rows X, (n, d), and drawn with D features in the precision of X."""
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise InputError(f"training rows must be numbers of shape (n, d); {X.dtype} {X.shape} was given")
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        require(isinstance(D, (int, np.integer)) and D >= 1, "the number of features", "a whole number above 0", D)
        D = self.count(X.shape[1], D)
        if objection := self.objection(D):
            raise InputError(objection)
        fitted = self.survey(lambda: [X]).adapt(X, D)
        return fitted.sample(X.shape[1], D, rng_for(seed, "draw"), X.dtype)

    def objection(self, D: int) -> str | None:
        """Why D features are impossible, or None."""
        return None

    def count(self, d: int, D: int) -> int:
        """How many features the map has when D are requested."""
        return D

    def survey(self, rows: Callable[[], Iterable[Array]]) -> "Sketch":
        """The recipe with what it learns from all training rows, as often as it reads them; most return self."""
        return self

    def adapt(self, X: Array, D: int) -> "Sketch":
        """The recipe fitted to training rows; most return self."""
        return self

    def between(self, queries: Array, keys: Array) -> "Sketch":
        """The recipe fitted to queries and keys, between which a task needs the kernel; most return self."""
        return self

    @property
    def sample_rows(self) -> int:
        """How many training rows `adapt` takes at most, where it is more than a task gives anyway."""
        return 0

    def facts(self) -> dict[str, Any]:
        """What `adapt` learned, for run.json."""
        return {}

    @property
    def closed_form(self) -> ClosedForm | None:
        """The variance of the estimate, where it is known."""
        return None

    @property
    def stated_bias(self) -> str | None:
        """Why the mean of the estimate is not the kernel, or None."""
        return self.truncation

    @property
    def is_complex(self) -> bool:
        """Whether the features are complex numbers."""
        return False

    @property
    def random(self) -> bool:
        """Whether two draws differ."""
        return True

    @property
    def explicit(self) -> bool:
        """Whether k̂(x, y) is the inner product of features of x and features of y."""
        return True

    @property
    def indefinite(self) -> bool:
        """Whether the estimated matrix of rows may have negative eigenvalues."""
        return False

    @property
    def localized(self) -> bool:
        """Whether the features of a row depend on the other row of a pair."""
        return False

    @property
    def recentred(self) -> bool:
        """Whether every row to predict has features of its own, so that only Gaussian processes can use them."""
        return False

    @property
    def factored(self) -> bool:
        """Whether each feature is a product of linear functions, so that slopes.py has its derivative."""
        return False

    @property
    def weight_law(self) -> Law | None:
        """The law of the weights, where features are products of linear functions."""
        return None

    @property
    def by_degree(self) -> bool:
        """Whether each feature belongs to one degree of the kernel's series."""
        return False

    @property
    def truncation(self) -> str | None:
        """Why the estimate may lack a part of the kernel, such as degrees of its series, and the way out, or None."""
        return None

    @property
    def device(self) -> Any:
        """The optical processing unit that computes the features, or None."""
        return None

    def degree_errors(self, X: Array, last: int) -> Iterator[tuple[int, float, float]]:
        """(n, variance of one feature of degree n, bias of the series up to n) for degrees up to `last`, on rows X."""
        raise TypeError(f"the features of {type(self).__name__} have no degrees")

    def surrogate_variance(self, X: Array, pairs: tuple[Array, Array], D: int) -> float | None:
        """The convex approximation of the mean variance by which Maclaurin features are allocated, where it differs."""
        return None
