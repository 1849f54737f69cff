"""What ridge regression learns: linear functions of features, or of the kernel with the training rows."""

from abc import ABC, abstractmethod

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.engines import Engine
from rfbench.sketches import FeatureMap

NUMBERS = 1 << 22  # of features, or of kernel values, of one block of rows


class Function(ABC):
    """Rows → outputs."""

    @abstractmethod
    def __call__(self, X: Array, engine: Engine) -> Array:
        """(n, p)."""


class Linear(Function):
    """x → Re Φ(x)ᵀW, W of shape (D, p)."""

    def __init__(self, features: FeatureMap, W: Array) -> None:
        self.features, self.W = features, W

    def __call__(self, X: Array, engine: Engine) -> Array:
        out, start = np.zeros((len(X), self.W.shape[1])), 0
        for part in self.features.parts():
            W = self.W[start : start + part.D].astype(part.dtype)

            def add(span: slice, part: FeatureMap = part, W: Array = W) -> None:
                out[span] += (part(X[span]) @ W).real

            engine.run(add, spans(len(X), max(NUMBERS // part.D, 1)))
            start += part.D
        return out


class Expansion(Function):
    """x → Σ k(x, xᵢ) aᵢ."""

    def __init__(self, features: FeatureMap, X: Array, A: Array) -> None:
        self.features, self.X, self.A = features, X, A

    def __call__(self, X: Array, engine: Engine) -> Array:
        blocks = spans(len(X), max(NUMBERS // len(self.X), 1))
        return np.concatenate(list(engine.map(lambda span: self.features.product(X[span], self.X) @ self.A, blocks)))


def combination(features: FeatureMap, X: Array, A: Array, engine: Engine) -> Function:
    """x → Σ k̂(x, xᵢ) aᵢ, which with features is linear in them."""
    if not features.explicit:
        return Expansion(features, X, A)
    W = []
    for part in features.parts():

        def product(span: slice, part: FeatureMap = part) -> Array:
            return part(X[span]).conj().T @ A[span]

        W.append(sum(engine.map(product, spans(len(X), max(NUMBERS // part.D, 1)))))
    return Linear(features, np.concatenate(W))
