"""Sketches that contain other sketches: complex to real, inhomogeneous, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from rfbench.arrays import Array, real_type
from rfbench.blocks import scratch, spans
from rfbench.sketches.base import WRITTEN, ClosedForm, FeatureMap, OfPairs, Sketch, Tiled
from rfbench.sketches.products.weights import Law


@dataclass(frozen=True)
class Wrapper(Sketch):
    """A sketch that contains another one and has its properties unless it overrides them; a closed form it derives."""

    base: Sketch

    def objection(self, D: int) -> str | None:
        return self.base.objection(D)

    def count(self, d: int, D: int) -> int:
        return self.base.count(d, D)

    def adapt(self, X: Array, D: int) -> Sketch:
        return replace(self, base=self.base.adapt(X, D))

    def facts(self) -> dict[str, Any]:
        return self.base.facts()

    @property
    def stated_bias(self) -> str | None:
        return self.base.stated_bias

    @property
    def is_complex(self) -> bool:
        return self.base.is_complex

    @property
    def random(self) -> bool:
        return self.base.random

    @property
    def explicit(self) -> bool:
        return self.base.explicit

    @property
    def factored(self) -> bool:
        return self.base.factored

    @property
    def weight_law(self) -> Law | None:
        return self.base.weight_law

    @property
    def indefinite(self) -> bool:
        return self.base.indefinite

    @property
    def device(self) -> Any:
        return self.base.device


class WrappedMap(FeatureMap):
    """A map of the features of another one."""

    def __init__(self, base: FeatureMap) -> None:
        self.base = base
        self.d, self.D, self.dtype, self.order = base.d, base.D, base.dtype, base.order
        self.facts = dict(base.facts)

    @property
    def chunk(self) -> int:
        return self.base.chunk


@dataclass(frozen=True)
class ComplexToReal(Wrapper):
    """D real features from D/2 complex ones: (Re Φ, Im Φ), whose estimate is the real part of the complex one.

    [Wacker 2022, Algorithm 3]
    """

    is_complex = False

    def objection(self, D: int) -> str | None:
        if D % 2 == 0:
            return None
        near = f"{D - 1} or {D + 1}" if D > 1 else "2"
        return f"complex-to-real sketches need an even number of features; {D} were asked for. Use features={near}"

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return ComplexToRealMap(self.base.sample(d, D // 2, rng, dtype))

    @property
    def closed_form(self) -> ClosedForm | None:
        """Var = ½ (Var + pseudo-Var of the complex estimate)  [Wacker 2022, Proposition 4.2.1]."""
        form = self.base.closed_form
        if form is None or (pseudo_variance := form.pseudo_variance) is None:
            return None

        def variance(X: Array, Y: Array, D: int) -> Array:
            return np.maximum(form.variance(X, Y, D // 2) + pseudo_variance(X, Y, D // 2), 0) / 2

        mean = form.mean
        return ClosedForm(variance, mean=mean and (lambda X, Y, D: mean(X, Y, D // 2)))


class ComplexToRealMap(WrappedMap, Tiled):
    def __init__(self, base: FeatureMap) -> None:
        super().__init__(base)
        self.D, self.dtype = 2 * base.D, real_type(base.dtype)
        self.counts = {n: 2 * count for n, count in base.counts.items()}

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        for features, Phi in self.base.tiles(X):
            # Strided numbers become contiguous in the cache, so that only contiguous runs go to memory.
            half = np.ndarray(Phi.shape, self.dtype, scratch("half", Phi.shape, self.dtype), order=self.order)
            for part, first in ((Phi.real, 0), (Phi.imag, self.base.D)):
                half[...] = part
                yield slice(first + features.start, first + features.stop), half

    def write(self, X: Array, out: Array) -> None:
        for features, Phi in self.base.tiles(X):
            for part in spans(Phi.shape[1], WRITTEN):
                first, last = features.start + part.start, features.start + part.stop
                out[:, first:last] = Phi.real[:, part]
                out[:, self.base.D + first : self.base.D + last] = Phi.imag[:, part]


@dataclass(frozen=True)
class WithConstant(Wrapper):
    """A sketch with the feature 1 beside its D features, for a model with an intercept."""

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return WithConstantMap(self.base.sample(d, D, rng, dtype))


class WithConstantMap(WrappedMap):
    def __init__(self, base: FeatureMap) -> None:
        super().__init__(base)
        self.D += 1

    def write(self, X: Array, out: Array) -> None:
        self.base.write(X, out[:, :-1])
        out[:, -1] = 1


@dataclass(frozen=True)
class Affine(Wrapper):
    """A sketch of f(⟨x, y⟩) turned into one of f(γ⟨x, y⟩ + ν): rows are scaled by √γ and √ν is appended."""

    gamma: float
    bias: float

    def adapt(self, X: Array, D: int) -> Sketch:
        return replace(self, base=self.base.adapt(self.augmented(X, X.dtype), D))

    def augmented(self, X: Array, dtype: Any = np.float64) -> Array:
        return augment(X, np.empty((len(X), X.shape[1] + (self.bias > 0)), dtype), self.gamma, self.bias)

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return AffineMap(self.base.sample(d + (self.bias > 0), D, rng, dtype), d, self.gamma, self.bias)

    @property
    def closed_form(self) -> ClosedForm | None:
        form = self.base.closed_form
        if form is None:
            return None
        pseudo_variance = form.pseudo_variance and self._of_augmented(form.pseudo_variance)
        return ClosedForm(self._of_augmented(form.variance), pseudo_variance)

    def _of_augmented(self, spread: OfPairs) -> OfPairs:
        return lambda X, Y, D: spread(self.augmented(X), self.augmented(Y), D)


def affine(base: Sketch, gamma: float, bias: float) -> Sketch:
    """The base itself where there is nothing to scale or append."""
    return base if (gamma, bias) == (1, 0) else Affine(base, gamma, bias)


def augment(X: Array, into: Array, gamma: float, bias: float) -> Array:
    """(√γ x, √ν) of every row."""
    rows = into[:, : X.shape[1]]
    if gamma == 1:
        rows[...] = X
    else:
        np.multiply(X, sqrt(gamma), out=rows, casting="same_kind")
    into[:, X.shape[1] :] = sqrt(bias)
    return into


class AffineMap(WrappedMap):
    def __init__(self, base: FeatureMap, d: int, gamma: float, bias: float) -> None:
        super().__init__(base)
        self.d, self.gamma, self.bias, self.explicit = d, gamma, bias, base.explicit

    def at(self, gamma: float, bias: float) -> "AffineMap":
        """The same draw for other γ and ν."""
        return AffineMap(self.base, self.d, gamma, bias)

    def augmented(self, X: Array) -> Array:
        """(√γ x, √ν) of every row, in this thread's buffer."""
        rows = scratch("augmented", (len(X), self.base.d), real_type(self.dtype))
        return augment(X, rows, self.gamma, self.bias)

    def write(self, X: Array, out: Array) -> None:
        self.base.write(self.augmented(X), out)

    def product(self, Phi: Array, Psi: Array) -> Array:
        return self.base.product(Phi, Psi)

    def paired(self, Phi: Array, Psi: Array) -> Array:
        return self.base.paired(Phi, Psi)

    def parts(self) -> Iterator[FeatureMap]:
        return (AffineMap(part, self.d, self.gamma, self.bias) for part in self.base.parts())


class Concatenated(Tiled):
    """Independent maps side by side, each times its weight."""

    def __init__(self, maps: Sequence[FeatureMap], weights: Array) -> None:
        self.maps, self.weights = maps, weights
        self.d, self.D = maps[0].d, sum(part.D for part in maps)
        self.dtype, self.order = maps[0].dtype, maps[0].order

    @property
    def chunk(self) -> int:
        return min(part.chunk for part in self.maps)

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        start = 0
        for part, weight in zip(self.maps, self.weights, strict=True):
            for features, Phi in part.tiles(X):
                Phi *= float(weight)  # with a NumPy scalar, the loop would run in double precision
                yield slice(start + features.start, start + features.stop), Phi
            start += part.D
