"""Functions of several outputs at random rows: the two simulated datasets of Brault et al. 2016, 4.2 and D.2.

Labels are computed when they are read.  `noise_on` puts noise on all labels, or on those of training rows only, so that
the test error is that of the function itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, squared_distances, squared_norms
from rfbench.blocks import spans
from rfbench.checks import require
from rfbench.datasets.base import Dataset
from rfbench.datasets.generated.synthetic import BLOCK, Drawn
from rfbench.seeds import rng_for

CENTRES = np.array([[0.0, 0], [0, 1], [0, -1], [-1, 0], [1, 0]])
SIGNS = np.array([1.0, 1, 1, -1, -1])
WIDTH = 0.4  # of each Gaussian; the paper gives none
FREQUENCIES = 10_000
OUTPUTS = 20

Function = Callable[[Any], NDArray[np.float64]]


@dataclass(frozen=True)
class FiveGaussians:
    """The gradient of a mixture of five Gaussians on [−2, 2]², which is curl-free, or its rotation, divergence-free."""

    rotated: bool

    def __call__(self, X: Any) -> NDArray[np.float64]:
        delta = CENTRES - 2 * X[:, None]
        weights = SIGNS * np.exp((delta**2).sum(2) / (-2 * WIDTH**2)) / WIDTH**2
        G = np.einsum("nc,nci->ni", weights, delta)
        return G[:, ::-1] * (-1, 1) if self.rotated else G


@dataclass(frozen=True, eq=False)
class LowRank:
    """An operator-valued random Fourier model on [−1, 1]²⁰ whose outputs are multiples of one vector a."""

    W: NDArray[np.float64]  # (20, frequencies)
    u: NDArray[np.float64]  # weights of the cosines, then of the sines
    a: NDArray[np.float64]

    def __call__(self, X: Any) -> NDArray[np.float64]:
        angles = X @ self.W
        cosines, sines = np.split(self.u, 2)
        return np.outer(np.cos(angles) @ cosines + np.sin(angles) @ sines, -self.a / np.sqrt(FREQUENCIES))


@dataclass(frozen=True, eq=False)
class Responses:
    """f(x) of random rows, with noise of covariance LLᵀ on the first `noisy` of them."""

    rows: Drawn
    f: Function  # can be pickled
    L: NDArray[np.float64]
    noisy: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.rows.n, len(self.L))

    def read(self, start: int, stop: int) -> Array:
        return self.take(np.arange(start, min(stop, self.rows.n)))

    def take(self, index: Array) -> Array:
        noise: Any = Drawn("gaussian", self.rows.n, len(self.L), 1.0)
        Y = np.empty((len(index), len(self.L)))
        for span in spans(len(index), BLOCK):
            which: Any = index[span]
            drawn = noise.take(which) @ self.L.T
            Y[span] = self.f(self.rows.take(which)) + np.where(which[:, None] < self.noisy, drawn, 0)
        return Y


def load_five_gaussians(config: Mapping[str, Any]) -> Dataset:
    field, noise = config["field"], checked_noise(config)
    require(field in ("gradient", "rotated"), "dataset.field", "gradient or rotated", field)
    return responses(config, 2, FiveGaussians(field == "rotated"), noise * np.eye(2), scale=0.5)


def load_low_rank(config: Mapping[str, Any]) -> Dataset:
    """The noise has a random covariance Σ of rank one with ‖Σ‖₂ = noise · √V[y]; the paper gives no rank."""
    noise, rng = checked_noise(config), rng_for(0, "low_rank")
    a, b = (v / np.linalg.norm(v) for v in rng.standard_normal((2, OUTPUTS)))
    rows: Any = Drawn("uniform", 1000, OUTPUTS, 1.0).read(0, 1000)
    median = np.sqrt(np.median(squared_distances(rows, rows)[np.triu_indices(len(rows), 1)]))
    radius = np.sqrt(rng.chisquare(OUTPUTS, FREQUENCIES)) / median
    W = rng.standard_normal((OUTPUTS, FREQUENCIES), np.float32).astype(np.float64)
    W *= radius / np.sqrt(squared_norms(W.T))
    f = LowRank(W, rng.uniform(-1, 1, 2 * FREQUENCIES), a)
    L = np.sqrt(noise * np.std(f(rows))) * np.outer(b, np.eye(OUTPUTS)[0])
    return responses(config, OUTPUTS, f, L)


def checked_noise(config: Mapping[str, Any]) -> float:
    """The noise; it and the other numbers are checked before any is used."""
    for key in ("rows", "test_rows"):
        require(type(config[key]) is int and config[key] >= 1, f"dataset.{key}", "a positive integer", config[key])
    noise, on = config["noise"], config["noise_on"]
    require(isinstance(noise, int | float) and noise >= 0, "dataset.noise", "a number of at least 0", noise)
    require(on in ("all", "train"), "dataset.noise_on", "all or train", on)
    return float(noise)


def responses(config: Mapping[str, Any], d: int, f: Function, L: NDArray[np.float64], scale: float = 1.0) -> Dataset:
    train, n = config["rows"], config["rows"] + config["test_rows"]
    X = Drawn("uniform", n, d, 1.0)
    Y = Responses(X, f, L, n if config["noise_on"] == "all" else train)
    return Dataset(config["name"], X, Y, None, train, scale)
