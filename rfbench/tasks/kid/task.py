"""Kernel Inception Distance: the squared MMD of two sets of feature vectors with the kernel (⟨x, y⟩/d + 1)ᵖ.

It compares the training with the test rows, or two files [Bińkowski et al. 2018; Wacker 2022, 4.3.2].  Each of
`resamples` draws of the sketch is an unbiased estimate of the exact value for these rows; their standard deviation is
that of one draw, and no error bar of the distance, which the choice of the rows moves too (error.py).  The part of the
value that needs no sketch is computed exactly (tangent.py and remainder.py in sketches/maclaurin).  Beside it: the
exact value where neither set has more than `exact_rows`, and Block-MMD.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.checks import InputError, require
from rfbench.datasets.pair import pair
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch, Tangent, better_apart, by_degrees, known_part
from rfbench.sketches.draw import Draw
from rfbench.storage import digest
from rfbench.tasks.base import KERNEL_ROWS, Measure, Task, Trial, of_one_output
from rfbench.tasks.kid.estimate import Distances, Error, distances, sets_of
from rfbench.tasks.kid.mmd import Estimate, block_mmd, exact

SUBSET_ROWS = 1000  # of torch-fidelity and torchmetrics
MATRICES_BYTES = 1 << 29  # for the matrices of degree 2, two blocks for each worker

# Exact values and Block-MMD by what they depend on: the sketches of a sweep share them.
KNOWN: dict[tuple[Any, ...], Estimate] = {}


@dataclass(frozen=True)
class KID(Task):
    """The estimate by sketch and its errors, the exact value, and Block-MMD on `subsets` of rows, of every set."""

    name = "kid"
    spreads = True
    x: str | None = None  # a file, and one or several others, which datasets/pair.py makes a dataset
    y: str | list | None = None  # type: ignore[type-arg]
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

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> dict[str, list[Measure]]:
        """The measures of every set that do not depend on the sketch."""
        pairs = {name: Split(split.train, part) for name, part in sets_of(split).items()}
        for n, m in ((len(one.train), len(one.test)) for one in pairs.values()):
            if min(n, m) < 2:
                raise InputError(f"task=kid needs at least 2 rows of each set; there are {n} and {m}")
        found = {name: self._without_sketch(one, kernel, seed, engine) for name, one in pairs.items()}
        if self.x in (self.y if isinstance(self.y, list) else [self.y]) and self.x:
            warn_of_the_same(Path(self.x).name)
        return found

    def _without_sketch(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> list[Measure]:
        n, m = len(split.train), len(split.test)
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

    def distances(self, trial: Trial) -> tuple[Distances, Tangent | None, dict[str, int]]:
        """The estimates of all sets, what is known without a sketch, and how the features are allocated to degrees."""
        watch = Stopwatch()
        with watch("all"):
            exactly, plan = self.known_part(trial)
            first = plan(0)()
        found = distances(trial, exactly, plan, first, self.resamples)
        found.watch.add(watch)
        return found, exactly, {str(n): count for n, count in (first.counts or {}).items()}

    def measure(self, trial: Trial, reference: dict[str, list[Measure]]) -> Iterator[Measure]:
        found, exactly, allocation = self.distances(trial)
        if allocation:
            trial.learn({"allocation": allocation})
        share = f", exact up to degree {exactly.degree}" if exactly else ""
        counts = dict(zip(reference, found.sampling.m, strict=True))
        for i, (name, measures) in enumerate(reference.items()):
            of_set = [*self._of_set(found, i, f"unbiased MMD² × 1{share}"), *measures]
            yield from placed(trial, name, counts[name], of_set)
        if self.resamples > 1:
            names = list(reference)
            for i, j, difference in found.differences():
                one, other = names[i], names[j]
                rows = counts[one] + counts[other]
                yield from placed(trial, f"{one} - {other}", rows, errors("kid_difference", difference))

    def _of_set(self, found: Distances, i: int, message: str) -> Iterator[Measure]:
        yield Measure("kid", float(found.values[i].mean()), message=message)
        if self.resamples > 1:
            yield from list(errors("kid", found.of(i)))[1:]
            std = float(np.std(found.values[i], ddof=1))
            yield Measure("kid_std", std, message=f"of one draw of the sketch, over {self.resamples} draws")
        share = self.resamples * len(found.values)
        yield Measure("kid_seconds", found.watch["all"] / share, "s")
        yield Measure("sums_seconds", (found.watch["all"] - found.watch["features"]) / share, "s")


@cache
def warn_of_the_same(file: str) -> None:
    """Say once that a set is compared with itself, whose rows are not independent of themselves."""
    print(
        f"rfbench: {file} is compared with itself; the estimate is for sets drawn apart, and falls below 0 for a set "
        "and itself: split the file in two",
        file=sys.stderr,
    )


def errors(metric: str, found: Error) -> Iterator[Measure]:
    """A value, its standard error, and the parts of it that the rows and the sketch have."""
    yield Measure(metric, found.value)
    yield Measure(f"{metric}_error", found.total, message="standard error, of rows and sketch together")
    yield Measure(f"{metric}_sampling_error", found.sampling)
    yield Measure(f"{metric}_sketch_error", found.sketch)


def placed(trial: Trial, name: str, rows: int, measures: Iterable[Measure]) -> Iterator[Measure]:
    """The measures as those of one of several sets; those of a single one are of the trial's dataset."""
    if not name:
        return iter(measures)
    dataset = trial.split.train.part.dataset
    options = str(trial.columns.get("dataset", "")).removeprefix(dataset.name)
    where = {"dataset": f"{Path(dataset.files[0][0]).stem}:{name}{options}", "n_test": rows}
    return (measure._replace(where=where) for measure in measures)


def content(part: Prepared) -> str:
    """A digest of the prepared rows."""
    return digest(*(digest(X) for X, _ in part.blocks()))


def known(key: tuple[Any, ...], compute: Callable[[], Estimate]) -> Estimate:
    if key not in KNOWN:
        KNOWN[key] = compute()
    return KNOWN[key]
