"""Sketches made of sketches: complex to real, inhomogeneous, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from rfbench.arrays import Array, real_type
from rfbench.blocks import scratch
from rfbench.sketches.base import ClosedForm, ComplexClosedForm, FeatureMap, Sketch, Tiled


@dataclass(frozen=True)
class ComplexToReal(Sketch):
    """D real features from D/2 complex ones: (Re Φ, Im Φ), whose estimate is the real part of the complex one.

    [Wacker 2022, Algorithm 3]
    """

    base: Sketch

    def objection(self, D: int) -> str | None:
        if D % 2 == 0:
            return None
        near = f"{D - 1} or {D + 1}" if D > 1 else "2"
        return f"complex-to-real sketches need an even number of features; {D} were asked for. Use features={near}"

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return ComplexToRealMap(self.base.sample(d, D // 2, rng, dtype))


class ComplexToRealClosedForm(ComplexToReal, ClosedForm):
    """Var = ½ (Var + pseudo-Var of the complex estimate)  [Wacker 2022, Proposition 4.2.1]."""

    base: ComplexClosedForm

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        return np.maximum(self.base.variance(X, Y, D // 2) + self.base.pseudo_variance(X, Y, D // 2), 0) / 2


def complex_to_real(base: Sketch) -> ComplexToReal:
    """With a closed form where the complex sketch has one."""
    return (ComplexToRealClosedForm if isinstance(base, ComplexClosedForm) else ComplexToReal)(base)


class ComplexToRealMap(Tiled):
    def __init__(self, base: FeatureMap) -> None:
        self.base, self.order = base, base.order
        self.d, self.D, self.dtype = base.d, 2 * base.D, real_type(base.dtype)

    @property
    def chunk(self) -> int:
        return self.base.chunk

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        for features, Phi in self.base.tiles(X):
            # Numbers two apart are brought together in the cache: to memory only whole runs go.
            half = np.ndarray(Phi.shape, self.dtype, scratch("half", Phi.shape, self.dtype), order=self.order)
            for part, first in ((Phi.real, 0), (Phi.imag, self.base.D)):
                half[...] = part
                yield slice(first + features.start, first + features.stop), half


@dataclass(frozen=True)
class Affine(Sketch):
    """A sketch of f(⟨x, y⟩) turned into one of f(γ⟨x, y⟩ + ν): rows are scaled by √γ and √ν is appended."""

    base: Sketch
    gamma: float
    bias: float

    def objection(self, D: int) -> str | None:
        return self.base.objection(D)

    def adapt(self, X: Array, D: int) -> Sketch:
        longer = augment(X, np.empty((len(X), X.shape[1] + (self.bias > 0)), X.dtype), self)
        return replace(self, base=self.base.adapt(longer, D))

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> FeatureMap:
        return AffineMap(self.base.sample(d + (self.bias > 0), D, rng, dtype), d, self.gamma, self.bias)


class AffineClosedForm(Affine, ClosedForm):
    """The variance is that of the base on the longer rows."""

    base: ClosedForm

    def variance(self, X: Array, Y: Array, D: int) -> Array:
        X, Y = (augment(Z, np.empty((len(Z), Z.shape[1] + (self.bias > 0))), self) for Z in (X, Y))
        return self.base.variance(X, Y, D)


def affine(base: Sketch, gamma: float, bias: float) -> Sketch:
    """The base itself where there is nothing to scale or append; with a closed form where the base has one."""
    if (gamma, bias) == (1, 0):
        return base
    return (AffineClosedForm if isinstance(base, ClosedForm) else Affine)(base, gamma, bias)


def augment(X: Array, into: Array, affine: "Affine | AffineMap") -> Array:
    """(√γ x, √ν) of every row."""
    np.multiply(X, sqrt(affine.gamma), out=into[:, : X.shape[1]], casting="same_kind")
    into[:, X.shape[1] :] = sqrt(affine.bias)
    return into


class AffineMap(FeatureMap):
    def __init__(self, base: FeatureMap, d: int, gamma: float, bias: float) -> None:
        self.base, self.d, self.gamma, self.bias = base, d, gamma, bias
        self.D, self.dtype, self.order = base.D, base.dtype, base.order

    @property
    def chunk(self) -> int:
        return self.base.chunk

    def write(self, X: Array, out: Array) -> None:
        rows = scratch("augmented", (len(X), self.base.d), real_type(self.dtype))
        self.base.write(augment(X, rows, self), out)

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
                Phi *= float(weight)  # a NumPy scalar would make this a loop in double precision
                yield slice(start + features.start, start + features.stop), Phi
            start += part.D
