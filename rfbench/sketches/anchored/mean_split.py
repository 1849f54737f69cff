"""Features of a kernel whose mean direction is taken out: degree 0 exactly, the others by TensorSRHT.

A feature of degree j ≥ 1 of equation (1) in split.py is

    φ(x) = ⟨ε, e_j(c)⟩ Π_{l≤j} (H D_l r)_{row_l},        ε₁ = 1, other εᵢ = ±1, independent for every feature.   (1)

E⟨ε, e⟩⟨ε, e'⟩ = ⟨e, e'⟩, so D_j of them, divided by √D_j, estimate degree j without bias.  Rows of H are drawn without
replacement as in tensor_srht.py.  Degrees share the signs D_l but not the rows and are uncorrelated: the mean over all
rows of one transform is ⟨r, r'⟩ whatever the signs.  Degree 1 is real, where complex-to-real pairs are no better than
two real features [Wacker 2022, 4.2.1], and h rows leave it without error but for products of different eᵢ.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rfbench.arrays import Array, padded
from rfbench.blocks import columns_of, scratch, spans
from rfbench.checks import InputError
from rfbench.sketches.anchored.split import Split
from rfbench.sketches.anchored.variance import variances
from rfbench.sketches.base import ClosedForm, Sketch, Tiled
from rfbench.sketches.products.tensor_srht import TILE, TensorSRHTMap, transformed
from rfbench.sketches.products.weights import RADEMACHER, Law


@dataclass(frozen=True, eq=False)
class SplitSketch(Sketch):
    """The split of some training rows, with D_j columns for each degree j ≥ 1."""

    split: Split
    law: Law  # of the signs of degrees above 1
    counts: tuple[int, ...]  # D₁..D_N

    @property
    def total(self) -> int:
        return len(self.split.lifts[0]) + sum(self.counts)

    def objection(self, D: int) -> str | None:
        return None if self.total == D else f"the allocation is for {self.total} features; {D} were asked for"

    def facts(self) -> dict[str, Any]:
        return {"allocation": {str(j): D for j, D in enumerate((len(self.split.lifts[0]), *self.counts))}}

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: Any = np.float32) -> "SplitMap":
        if objection := self.objection(D):
            raise InputError(objection)
        h = padded(d)
        # Signs for the padding too: draws do not depend on how many columns are zero.
        first = RADEMACHER.draw((1, h), rng, dtype)[:, :d]
        others = self.law.draw((len(self.counts), h), rng, dtype)[:, :d]
        terms = []
        for j, columns in enumerate(self.counts, 1):
            signs, lift = first if j == 1 else others[:j], self.split.lifts[j]
            count = columns // (1 + np.iscomplexobj(signs))
            rows = rng.permuted(np.tile(np.arange(h), (j, -(-count // h))), axis=1)[:, :count]
            epsilon = RADEMACHER.draw((count, len(lift)), rng, np.float64)
            epsilon[:, 0] = 1
            terms.append(Term(TensorSRHTMap(signs, rows), (epsilon @ lift / np.sqrt(count)).astype(dtype)))
        return SplitMap(self.split, others, terms)

    @property
    def closed_form(self) -> ClosedForm:
        return ClosedForm(self._variance)

    def _variance(self, X: Array, Y: Array, D: int) -> Array:
        A, B = self.split.lifted(X), self.split.lifted(Y)
        return sum(variances(A, B, self.law, self.counts), np.zeros((len(X), len(Y))))


class Term(NamedTuple):
    """Features of one degree."""

    products: TensorSRHTMap
    weights: Array  # of the powers of c, (D, powers)


class SharedTransforms(NamedTuple):
    """Degrees that share their transforms, from the highest: factor l is of the first features only."""

    signs: Array
    rows: list[Array]  # of H, for every factor
    terms: list[tuple[int, Term]]  # the first column of each degree

    @classmethod
    def of(cls, signs: Array, terms: list[tuple[int, Term]]) -> "SharedTransforms":
        indices = [term.products.index for _, term in terms]
        rows = [np.concatenate([index[i] for index in indices if len(index) > i]) for i in range(len(indices[0]))]
        return cls(signs, rows, terms)

    def tiles(self, r: Array, powers: Array) -> Iterator[tuple[slice, Array]]:
        """Equation (1): for every degree real parts, then imaginary ones."""
        columns = scratch("rest", r.shape, self.signs.dtype)
        columns[:] = r
        whole = len(self.rows[0]) <= TILE  # one transform at a time stays in the cache
        found = transformed(columns, self.signs, 1 if whole else len(self.signs))
        transforms = found if whole else list(found)
        for tile in spans(len(self.rows[0]), TILE):
            Phi, start = self.products(transforms, tile), 0
            for first, (products, weights) in self.terms:
                low, high = (min(max(edge - start, 0), products.D) for edge in (tile.start, tile.stop))
                if low < high:
                    part = Phi[start + low - tile.start : start + high - tile.start]
                    e, out = (scratch(role, part.shape, weights.dtype) for role in ("explicit", "half"))
                    np.matmul(weights[low:high], powers[: weights.shape[1]], out=e)
                    for k, half in enumerate((part.real, part.imag) if np.iscomplexobj(part) else (part,)):
                        place = first + k * products.D
                        yield slice(place + low, place + high), np.multiply(half, e, out=out).T
                start += products.D

    def products(self, transforms: Iterable[Array], tile: slice) -> Array:
        """The products of the rows of H, (features, b)."""
        Phi = np.empty(0)
        for i, (U, rows) in enumerate(zip(transforms, self.rows, strict=True)):
            index = rows[tile]
            into = scratch("factor" if i else "product", (len(index), U.shape[1]), U.dtype)
            taken = np.take(U, index, axis=0, out=into, mode="clip")
            if i:
                Phi[: len(index)] *= taken
            else:
                Phi = taken
        return Phi


class SplitMap(Tiled):
    """One draw, feature-major: degree 0, then every degree from its own rows of shared transforms."""

    order = "F"

    def __init__(self, split: Split, signs: Array, terms: list[Term]) -> None:
        self.split, self.terms = split, terms
        self.d, self.dtype = signs.shape[1], signs.real.dtype
        self.u, self.constant = split.u.astype(self.dtype), split.lifts[0].astype(self.dtype)
        columns = [p.D * (1 + np.iscomplexobj(p.signs)) for p, _ in terms]
        starts = np.cumsum([len(self.constant), *columns]).tolist()
        self.D = starts.pop()
        first, *others = zip(starts, terms, strict=True)
        self.shared = [SharedTransforms.of(terms[0].products.signs, [first])]
        if others:
            self.shared.append(SharedTransforms.of(signs[: len(terms)], others[::-1]))

    @property
    def chunk(self) -> int:
        return self.terms[-1].products.chunk

    def tiles(self, X: Array) -> Iterator[tuple[slice, Array]]:
        r = columns_of(X, self.dtype)
        c = self.u @ r
        r -= self.u[:, None] * c
        r /= self.dtype.type(self.split.of_rest)
        powers = self.powers(X, c)
        yield slice(0, len(self.constant)), (self.constant @ powers).T
        for shared in self.shared:
            yield from shared.tiles(r, powers)

    def powers(self, X: Array, c: Array) -> Array:
        """g(x) cⁱ, (N + 1, b)."""
        powers = np.empty((len(self.split.a), len(c)), self.dtype)
        powers[0] = self.split.kernel.radial(X)
        c = c / self.dtype.type(self.split.of_mean)
        for i in range(1, len(powers)):
            np.multiply(powers[i - 1], c, out=powers[i])
        return powers
