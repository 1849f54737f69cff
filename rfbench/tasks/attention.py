"""Attention with features in place of the softmax [Wacker 2022, 1.3.2 and Fig. 7.1].

    A = exp(QKᵀ/√d),      Z = diag(A1)⁻¹ A V ≈ Φ(Q) (Φ(K)ᵀV) / Φ(Q) (Φ(K)ᵀ1)         [ibid., Eq. 1.7]       (1)

The right side takes O(L d D) and no L × L matrix.  Queries and keys are rows of datasets/attention.py; with `normalize`
they have unit length and A = exp(QKᵀ).  Features that can be negative may give denominators of either sign.  A
polynomial kernel in place of exp is polynomial attention [Kacham et al. 2024].
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from rfbench.arrays import Array, real_type
from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.datasets.attention import head_config, read_head
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.tiles import MOST_ROWS, TILE
from rfbench.results.pictures import MAPS
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, Sketch
from rfbench.tasks.base import Measure, Task, Trial

SHOWN = 50  # rows and columns of the picture
KERNELS = ("exponential", "polynomial")


@dataclass(frozen=True, eq=False)
class Reference:
    """One head, and its exact attention."""

    Q: Array
    K: Array
    V: Array
    Z: Array
    seconds: float


@dataclass(frozen=True)
class Attention(Task):
    """Errors of the matrix and the output, for a head of `file` or for drawn rows with a given spread of QKᵀ/√d."""

    name = "attention"
    shares_reference = True
    file: str | None = None
    head: int = 0
    normalize: bool = False
    length: int = 512
    columns: int = 64
    spread: float = 1.0

    def __post_init__(self) -> None:
        require(2 <= self.length <= MOST_ROWS, "task.length", f"from 2 to {MOST_ROWS}", self.length)
        require(self.columns >= 1, "task.columns", "at least 1", self.columns)
        require(0 < self.spread < np.inf, "task.spread", "above 0", self.spread)

    @classmethod
    def data(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        return head_config(options)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if recipe.name not in KERNELS:
            return (
                f"task=attention has the kernel exp(x.y) or a polynomial one, not kernel '{recipe.name}'. Use "
                "sketch=favor, sketch=polysketch degree=4, or sketch=optimized_maclaurin kernel=exponential"
            )
        if not sketch.explicit:
            return "task=attention compares every sketch with the exact matrix; use a sketch with features"
        return None

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> Reference:
        K, Q = all_rows(split.train), all_rows(split.test)
        V = read_head(Path(self.file).expanduser(), self.head)[2] if self.file else None
        if V is None:  # errors of the output are then, in expectation, those of the rows of the attention matrix
            V = rng_for(seed, "attention", "values").standard_normal(K.shape)
        start = perf_counter()

        def attended(span: slice) -> Array:
            A = kernel.gram(Q[span], K)
            return A @ V / A.sum(1, keepdims=True)

        with np.errstate(over="ignore", invalid="ignore"):
            Z = np.concatenate(list(engine.map(attended, spans(len(Q), TILE))))
        if not np.isfinite(Z).all():
            raise InputError("exp(QK'/sqrt(d)) of this head is not finite; use task.normalize=true or another head")
        return Reference(Q, K, V, Z, perf_counter() - start)

    def measure(self, trial: Trial, reference: Reference) -> Iterator[Measure]:
        ref, engine = reference, trial.engine
        trial = replace(trial, sketch=trial.sketch.between(ref.Q, ref.K))
        trial.learn(trial.sketch.facts())
        features = trial.drawn().features
        start = perf_counter()
        Z, denominators = linear_attention(features, ref.Q, ref.K, ref.V, engine)
        seconds = perf_counter() - start
        error = map_error(features, trial.kernel, ref, engine)
        few = slice(0, SHOWN)
        trial.show(MAPS, trial.kernel.gram(ref.Q[few], ref.K[few]), 0.0, "exact")
        trial.show(MAPS, features.product(features.of_queries()(ref.Q[few]), features(ref.K[few])).real, error)

        yield Measure("rel_frobenius", error)
        yield Measure("rel_output", float(np.linalg.norm(Z - ref.Z) / np.linalg.norm(ref.Z)))
        yield Measure("negative_rows", float(np.mean(denominators <= 0)))
        yield Measure("attention_seconds", seconds, "s")
        yield Measure("exact_seconds", ref.seconds, "s")


def all_rows(part: Prepared) -> Array:
    return np.concatenate([X for X, _ in part.blocks()])


def linear_attention(features: FeatureMap, Q: Array, K: Array, V: Array, engine: Engine) -> tuple[Array, Array]:
    """Equation (1): the output, and the denominators."""
    values = np.hstack((V, np.ones((len(V), 1)))).astype(real_type(features.dtype))

    def state(span: slice) -> Array:
        return features(K[span]).conj().T @ values[span]

    S = np.zeros((features.D, values.shape[1]), np.result_type(features.dtype, np.float64))
    for part in engine.map(state, spans(len(K), engine.block_rows)):
        S += part
    S = S.astype(features.dtype)

    of_queries = features.of_queries()

    def attended(span: slice) -> Array:
        return (of_queries(Q[span]) @ S).real.astype(np.float64)

    sums = np.concatenate(list(engine.map(attended, spans(len(Q), engine.block_rows))))
    return sums[:, :-1] / sums[:, -1:], sums[:, -1]


def map_error(features: FeatureMap, kernel: Kernel, ref: Reference, engine: Engine) -> float:
    """‖Φ(Q)Φ(K)ᵀ − A‖/‖A‖ in the Frobenius norm, block by block."""
    Psi, of_queries = engine.transform(features, ref.K, features.empty(len(ref.K))), features.of_queries()

    def squares(span: slice) -> tuple[float, float]:
        A = kernel.gram(ref.Q[span], ref.K)
        difference = features.product(of_queries(ref.Q[span]), Psi).real - A
        return float(np.vdot(difference, difference)), float(np.vdot(A, A))

    error, norm = np.sum(list(engine.map(squares, spans(len(ref.Q), TILE))), axis=0)
    return float(np.sqrt(error / norm))
