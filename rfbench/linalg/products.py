"""ΦᴴY and ΦᴴΦV of all rows without a matrix of D² numbers: from features that are kept, or from passes over the rows.

Products of a block are in the precision of the features, sums in double.  Both ways add up the same blocks in the same
parts, so they give the same bits.
"""

from collections.abc import Iterable
from functools import partial
from itertools import chain, islice
from typing import Any, Protocol, Self

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import scratch
from rfbench.engines import Engine, Rows, State
from rfbench.linalg.gram import Drawn, wide
from rfbench.linalg.spill import FeatureStore


class Products(Protocol):
    """Sums over all rows."""

    def targets(self) -> Array:
        """ΦᴴY."""

    def square(self, V: Array) -> Array:
        """ΦᴴΦV."""


def products_of(draw: Drawn, rows: Rows, engine: Engine) -> Products:
    store = FeatureStore(draw.features, rows, engine)
    several = len(rows) > max(engine.part_rows // store.size, 1) * store.size
    return Passes(draw, rows, engine, store.size) if engine.spread and several else Stored(store)


class Stored:
    """From features that are computed once where memory or disk have room for them."""

    def __init__(self, store: FeatureStore) -> None:
        self.store, self.dtype = store, wide(store.features)

    def targets(self) -> Array:
        return self._folded(self.store.first(of_targets))

    def square(self, V: Array) -> Array:
        V = V.astype(self.store.features.dtype)
        return self._folded(self.store.again(lambda Phi: of_square(Phi, V)))

    def _folded(self, blocks: Iterable[Array]) -> Array:
        """The sum over the blocks of each part, then over the parts."""
        blocks, found = iter(blocks), None
        while (first := next(blocks, None)) is not None:
            part = np.zeros(first.shape, self.dtype)
            for block in chain((first,), islice(blocks, max(self.store.engine.part_rows // self.store.size, 1) - 1)):
                part += block
            found = part if found is None else found + part
        assert found is not None
        return found


class Passes:
    """From features that workers compute for each product."""

    def __init__(self, draw: Drawn, rows: Rows, engine: Engine, size: int) -> None:
        self.draw, self.rows, self.engine, self.size = draw, rows, engine, size

    def targets(self) -> Array:
        return self.engine.accumulate(partial(ProductSums, self.draw, None), self.rows, self.size, "features").found

    def square(self, V: Array) -> Array:
        start = partial(ProductSums, self.draw, V.astype(self.draw.features.dtype))
        return self.engine.accumulate(start, self.rows, self.size, "").found


class ProductSums:
    """The sum over some rows, of ΦᴴY without V."""

    def __init__(self, draw: Drawn, V: Array | None) -> None:
        self.draw, self.V, self.found = draw, V, np.zeros((), wide(draw.features))

    def add(self, X: Array, y: Array, engine: Engine) -> None:
        features = self.draw.features
        Phi = features(X, scratch("feature store", (len(X), features.D), features.dtype))
        block = of_targets(Phi, y) if self.V is None else of_square(Phi, self.V)
        self.found = self.found + block

    def merge(self, other: Self) -> None:
        self.found = self.found + other.found

    def state(self) -> State:
        return {"found": self.found}

    def load(self, state: State) -> None:
        self.found = np.array(state["found"])


def of_targets(Phi: Array, y: Array) -> Array:
    product: Any = Phi.conj().T @ y.astype(Phi.dtype)
    return product.astype(np.result_type(Phi, np.float64))


def of_square(Phi: Array, V: Array) -> Array:
    return Phi.conj().T @ (Phi @ V)
