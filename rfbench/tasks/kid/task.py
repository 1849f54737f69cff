"""Kernel Inception Distance: the squared MMD of two sets of feature vectors with the kernel (⟨x, y⟩/d + 1)ᵖ.

It compares the training with the test rows, or two files [Bińkowski et al. 2018; Wacker 2022, 4.3.2].  Each of
`resamples` draws of the sketch is an unbiased estimate of the exact value for these rows; their standard deviation is
that of one draw.  The part of the value that needs no sketch is computed exactly (tangent.py and remainder.py in
sketches/maclaurin).  Beside it: the exact value where neither set has more than `exact_rows`, and Block-MMD.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from rfbench.blocks import spans
from rfbench.checks import InputError, require
from rfbench.datasets.pair import pair
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.seeds import rng_for
from rfbench.sketches import FeatureMap, Sketch, Tangent, better_apart, by_degrees, known_part
from rfbench.sketches.draw import Draw
from rfbench.storage import digest
from rfbench.tasks.base import KERNEL_ROWS, Measure, Task, Trial, of_one_output
from rfbench.tasks.kid.embedding import Embedder, Embedding, squared_mmd
from rfbench.tasks.kid.mmd import Estimate, block_mmd, exact

SUBSET_ROWS = 1000  # of torch-fidelity and torchmetrics
MATRICES_BYTES = 1 << 29  # for the matrices of degree 2, two blocks for each worker
MAPS_BYTES = 1 << 29  # for draws in memory at once; more draws take another pass over the rows
BLOCKS = 32  # of rows read at once, for all workers together

# Exact values and Block-MMD by what they depend on: the sketches of a sweep share them.
KNOWN: dict[tuple[Any, ...], Estimate] = {}


@dataclass(frozen=True)
class KID(Task):
    """Mean and standard deviation of the estimates by sketch, the exact value, and Block-MMD on `subsets` of rows."""

    name = "kid"
    x: str | None = None  # two .npy files, which datasets/pair.py makes a dataset
    y: str | None = None
    exact_degree: int | str = "auto"
    resamples: int = 20
    subsets: int = 100
    subset_rows: int | str = "auto"
    exact_rows: int = 10_000

    def __post_init__(self) -> None:
        require(self.exact_degree in (0, 1, 2, "auto"), "task.exact_degree", "0, 1, 2 or auto", self.exact_degree)
        require(self.resamples >= 1, "task.resamples", "at least 1", self.resamples)
        require(self.subsets == 0 or self.subsets >= 2, "task.subsets", "0 (no Block-MMD) or at least 2", self.subsets)
        good = self.subset_rows == "auto" or (not isinstance(self.subset_rows, str) and self.subset_rows >= 2)
        require(good, "task.subset_rows", "auto or at least 2", self.subset_rows)
        require(self.exact_rows >= 0, "task.exact_rows", "at least 0", self.exact_rows)

    @classmethod
    def data(cls, options: Mapping[str, Any]) -> dict[str, Any] | None:
        return pair(options)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if reason := sketch.truncation:
            return f"task=kid needs all degrees of the kernel; {reason}"
        if not sketch.explicit:
            return "task=kid computes the exact value beside every sketch; use a sketch with features"
        if self.exact_degree == 2 and not by_degrees(recipe.provisional(), sketch, 2):
            return "task.exact_degree=2 needs a product or Maclaurin sketch of degree 3 or more and a bias; use auto"
        return of_one_output(self.name, recipe) or super().objection(sketch, recipe)

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> list[Measure]:
        """The measures that do not depend on the sketch."""
        n, m = len(split.train), len(split.test)
        if min(n, m) < 2:
            raise InputError(f"task=kid needs at least 2 rows of each set; there are {n} and {m}")
        size = self._subset_rows(n, m) if self.subsets else 0
        with_exact = max(n, m) <= self.exact_rows
        rows = (content(split.train), content(split.test)) if size or with_exact else ()
        found = []
        if with_exact:
            e = known((*rows, kernel), lambda: exact(kernel, split, engine))
            found += [Measure("exact_kid", e.mean), Measure("exact_seconds", e.seconds, "s")]
        if size:
            b = known(
                (*rows, kernel, seed, self.subsets, size),
                lambda: block_mmd(kernel, split, self.subsets, size, seed, engine),
            )
            found.append(Measure("block_kid", b.mean, message=f"{self.subsets} subsets of {size} rows"))
            found += [Measure("block_kid_std", b.std), Measure("block_seconds", b.seconds, "s")]
        return found

    def _subset_rows(self, n: int, m: int) -> int:
        """The given number, or 1000 but at most half of a set: subsets that are a set do not vary."""
        if isinstance(self.subset_rows, str):
            return max(min(SUBSET_ROWS, min(n, m) // 2), 2)
        if self.subset_rows > min(n, m):
            raise InputError(
                f"task.subset_rows={self.subset_rows} rows cannot be drawn from sets of {n} and {m} rows; "
                f"use at most {min(n, m)}, or task.subsets=0 to do without Block-MMD"
            )
        return self.subset_rows

    def known_part(self, trial: Trial) -> tuple[Tangent | None, Callable[[int], Draw]]:
        """The part that needs no sketch, and the draws for the rest."""
        if not self.exact_degree:
            return None, trial.plan
        rows = max(KERNEL_ROWS, trial.sketch.sample_rows)
        X, _ = trial.split.train.sample(rows, rng_for(trial.seed, "kid", "centre"))
        d, D = X.shape[1], trial.D
        degree = self.exact_degree
        if isinstance(degree, str):
            # Degree 2 takes the time of d dense features, once for all draws in memory, and d² numbers per block.
            fits = 16 * trial.engine.workers * d**2 <= MATRICES_BYTES
            degree = 1 + (fits and d <= self.resamples * D / 4 and better_apart(trial.kernel, trial.sketch))
        found = known_part(trial.kernel, trial.sketch, X, D, degree)
        if found is None or found[1] is trial.sketch:
            return found and found[0], trial.plan
        exactly, sketch, D = found
        return exactly, lambda k: Draw(sketch, d, D, trial.seed, ("kid", repr(sketch), k), X.dtype.name)

    def passes(
        self, trial: Trial, exactly: Tangent | None, plan: Callable[[int], Draw], first: FeatureMap
    ) -> Iterator[tuple[Embedder, Embedding, Embedding]]:
        """Embeddings of both sets, each time for as many draws as may be in memory; `first` is the first draw."""
        engine, at_once = trial.engine, max(MAPS_BYTES // max(held(first), 1), 1)
        for span in spans(self.resamples, at_once):
            draws = [plan(k) for k in range(span.start, span.stop)]
            embedder = Embedder(draws, exactly, None if span.start else first)
            x, y = (
                engine.accumulate(embedder, part, BLOCKS * engine.block_rows).finish()
                for part in (trial.split.train, trial.split.test)
            )
            yield embedder, x, y

    def measure(self, trial: Trial, reference: list[Measure]) -> Iterator[Measure]:
        start = perf_counter()
        exactly, plan = self.known_part(trial)
        first = plan(0)()
        values: list[float] = []
        inside = 0.0
        for _, x, y in self.passes(trial, exactly, plan, first):
            values.extend(squared_mmd(x, y))
            inside += x.seconds + y.seconds
        seconds = perf_counter() - start

        if first.counts:
            trial.learn({"allocation": {str(n): count for n, count in first.counts.items()}})
        share = f", exact up to degree {exactly.degree}" if exactly else ""
        yield Measure("kid", float(np.mean(values)), message=f"unbiased MMD² × 1{share}")
        if self.resamples > 1:
            yield Measure("kid_std", float(np.std(values, ddof=1)), message=f"over {self.resamples} draws")
        yield Measure("kid_seconds", seconds / self.resamples, "s")
        yield Measure("sums_seconds", (seconds - inside / trial.engine.workers) / self.resamples, "s")
        yield from reference


def held(thing: object) -> int:
    """Bytes of the arrays in a map and in the maps inside it."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    inner = thing if isinstance(thing, list | tuple) else getattr(thing, "__dict__", {}).values()
    return sum(map(held, inner))


def content(part: Prepared) -> str:
    """A digest of the prepared rows."""
    return digest(*(digest(X) for X, _ in part.blocks()))


def known(key: tuple[Any, ...], compute: Callable[[], Estimate]) -> Estimate:
    if key not in KNOWN:
        KNOWN[key] = compute()
    return KNOWN[key]
