"""What ridge regression learns: linear functions of features, or of the kernel with the training rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.sketches import FeatureMap
from rfbench.sketches.draw import Draw
from rfbench.tasks.model import Fitted

PREDICT_ENTRIES = 1 << 22  # of features, or of kernel values, of one block of rows


class Predictor(ABC):
    """Rows → outputs."""

    @abstractmethod
    def __call__(self, X: Array, engine: Engine) -> Array:
        """(n, p)."""


class FeaturePredictor(Predictor):
    """x → Re Φ(x)ᵀW, W of shape (D, p); the product is in the precision of the features, or in double."""

    def __init__(self, features: FeatureMap, W: Array, double: bool = False) -> None:
        self.features, self.W, self.double = features, W, double

    def __call__(self, X: Array, engine: Engine) -> Array:
        out, start = np.zeros((len(X), self.W.shape[1])), 0
        for part in self.features.parts():
            W = self.W[start : start + part.D]
            W = W if self.double else W.astype(part.dtype)

            def add(span: slice, part: FeatureMap = part, W: Array = W) -> None:
                out[span] += (part(X[span]) @ W).real

            engine.run(add, spans(len(X), max(PREDICT_ENTRIES // part.D, 1)))
            start += part.D
        return out


class KernelPredictor(Predictor):
    """x → K(x, X) Z, in rows of p outputs: `gram` gives one row, or a p × p block, for each pair."""

    def __init__(self, gram: Callable[[Array, Array], Array], X: Array, Z: Array, p: int) -> None:
        self.gram, self.X, self.Z, self.p = gram, X, Z, p

    def __call__(self, X: Array, engine: Engine) -> Array:
        def predict(rows: slice) -> Array:
            return (self.gram(X[rows], self.X) @ self.Z).reshape(-1, self.p)

        return np.concatenate(list(engine.map(predict, spans(len(X), max(PREDICT_ENTRIES // len(self.Z), 1)))))


@dataclass(frozen=True, eq=False)
class RidgeModel(Fitted):
    """A function of features, or of the kernel with training rows X, as it is saved."""

    draw: Draw
    W: Array
    shift: Array
    X: Array | None

    @classmethod
    def of(cls, f: Predictor, draw: Draw, shift: Array) -> "RidgeModel":
        if isinstance(f, KernelPredictor):
            return cls(draw, f.Z, shift, f.X)
        assert isinstance(f, FeaturePredictor)
        return cls(draw, f.W, shift, None)

    def __call__(self, X: Array, first: int, engine: Engine) -> dict[str, Array]:
        features, W = self.draw.features, self.W
        f: Predictor = FeaturePredictor(features, W)
        if self.X is not None:
            f = KernelPredictor(features.product, self.X, W, W.shape[1])
        return {"outputs": f(X, engine) + self.shift}


def features_to_weights(features: FeatureMap, X: Array, A: Array, engine: Engine) -> FeaturePredictor:
    """x → Σ k̂(x, xᵢ) aᵢ, which is linear in the features."""
    W = []
    for part in features.parts():

        def product(span: slice, part: FeatureMap = part) -> Array:
            return part(X[span]).conj().T @ A[span]

        W.append(sum(engine.map(product, spans(len(X), max(PREDICT_ENTRIES // part.D, 1)))))
    return FeaturePredictor(features, np.concatenate(W))
