"""Mean-split and anchored sketches before they have seen training rows."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from rfbench.arrays import Array, padded
from rfbench.cache import cached
from rfbench.checks import InputError, did_you_mean, require
from rfbench.kernels.base import DotProductKernel
from rfbench.seeds import rng_for
from rfbench.sketches.anchored.allocation import allocate, least, mixing, shares
from rfbench.sketches.anchored.anchors import AnchoredSketch, Anchors
from rfbench.sketches.anchored.centroids import CENTROIDS
from rfbench.sketches.anchored.mean_split import SplitSketch
from rfbench.sketches.anchored.split import Split, fit
from rfbench.sketches.base import FeatureMap, Sketch
from rfbench.sketches.family import POWERS, Family
from rfbench.sketches.products.weights import COMPLEX_RADEMACHER, RADEMACHER

BASES = {"ctr_tensorsrht": (COMPLEX_RADEMACHER, 2), "tensorsrht": (RADEMACHER, 1)}  # signs, columns of a feature
HELD_OUT = 1000  # rows at most whose norms decide the allocation, of a fifth of all
MOST, PER_ANCHOR = 256, 4  # anchors if none are asked for: where the error of the kernel is least


@dataclass(frozen=True)
class MeanSplit(Sketch):
    """The mean direction of training rows exactly, the rest by TensorSRHT: mean_split.py."""

    kernel: DotProductKernel
    base: str = "ctr_tensorsrht"
    safety: float = 0.1
    sample_rows = 20_000

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise InputError(f"no sketch.base '{self.base}'; {did_you_mean(self.base, BASES)}")
        require(0 <= self.safety <= 1, "sketch.safety", "from 0 to 1", self.safety)

    def objection(self, D: int) -> str | None:
        p = self.kernel.power
        return None if p is None else self.refusal(self.kernel.coefficients(np.arange(p + 1)), D)

    def fewest(self, a: Array) -> int:
        """The fewest features for these degrees."""
        return int(np.count_nonzero(a)) + least(len(a) - 1, BASES[self.base][1])

    def refusal(self, a: Array, D: int) -> str | None:
        """Why D features are too few for these degrees, or None."""
        few = self.fewest(a)
        return None if few <= D else f"this kernel needs at least {few} features; {D} were asked for"

    def sample(self, d: int, D: int, rng: np.random.Generator, dtype: object = np.float32) -> FeatureMap:
        raise InputError("mean_split and anchored need training rows first: call adapt")

    def split(self, X: Array, D: int) -> tuple[Split, Array, Array]:
        """The split of training rows, and the rows in random order: some held out, and the others."""
        require(len(X) > 1, "the training rows of this sketch", "at least 2", len(X))
        split = fit(self.kernel, X)
        if refusal := self.refusal(split.a, D):
            raise InputError(refusal)
        X = X[rng_for(0, "held out").permutation(len(X))]
        some = min(HELD_OUT, -(-len(X) // 5))
        return split, X[:some], X[some:]

    def allocated(self, split: Split, t: Array, X: Array, D: int) -> SplitSketch:
        """D columns for degrees that have the mean squared norms t; X: rows of the usual length."""
        law, unit = BASES[self.base]
        share, left = shares(split, t[1:], X, self.safety), mixing(split.lifted(X).e[1])
        return SplitSketch(split, law, allocate(share, D - len(split.lifts[0]), unit, padded(X.shape[1]), left))

    def adapt(self, X: Array, D: int) -> Sketch:
        split, some, _ = self.split(X, D)
        return self.allocated(split, np.array([n.mean() for n in split.lifted(some).norms()]), some, D)


@dataclass(frozen=True)
class Anchored(MeanSplit):
    """The same, after what the anchors know is taken out: anchors.py."""

    anchors: int | str = "auto"
    centroids: str = "k_means"

    def __post_init__(self) -> None:
        super().__post_init__()
        good = self.anchors == "auto" or (isinstance(self.anchors, int) and self.anchors >= 1)
        require(good, "sketch.anchors", "auto or at least 1 (sketch=mean_split has none)", self.anchors)
        if self.centroids not in CENTROIDS:
            raise InputError(f"no sketch.centroids '{self.centroids}'; {did_you_mean(self.centroids, CENTROIDS)}")

    def refusal(self, a: Array, D: int) -> str | None:
        if isinstance(self.anchors, str):
            return super().refusal(a, D)
        few = self.fewest(a) + 1 + self.anchors  # the zero row is an anchor too
        return None if few <= D else f"{self.anchors} anchors need at least {few} features; {D} were asked for"

    def adapt(self, X: Array, D: int) -> Sketch:
        start = perf_counter()
        split, some, others = self.split(X, D)
        wanted = min(MOST, D // PER_ANCHOR) if isinstance(self.anchors, str) else self.anchors
        m = min(wanted, D - self.fewest(split.a) - 1, len(others))
        if m < 1:
            return super().adapt(X, D)
        before = perf_counter() - start

        def locate() -> tuple[Array, ...]:
            start = perf_counter()
            Z = CENTROIDS[self.centroids](split, others, m, rng_for(0, "centroids"))
            return Z, np.array(perf_counter() - start)

        Z, seconds = cached("centroids", (self.kernel, self.centroids, m, others), locate)
        start = perf_counter()
        anchors = Anchors.around(split, Z)
        t = np.array([t.mean() for t in anchors.norms(some, split.lifted(some))])
        base = self.allocated(split, t, some, D - anchors.W.shape[1])
        return AnchoredSketch(base, anchors, before + float(seconds) + perf_counter() - start)


KERNELS = (*POWERS, "exponential", "gaussian")
FAMILIES = {
    "mean_split": Family(MeanSplit, KERNELS, "closed form", "p (d log d + D)"),
    "anchored": Family(Anchored, KERNELS, "closed form, approximate", "p (d log d + D) + anchors (d + D)"),
}
