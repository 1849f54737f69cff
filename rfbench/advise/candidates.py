"""Sketches with their predicted errors: mean ‖K̂ − K‖/‖K‖ in the Frobenius norm, as task=kernel_error measures it.

    E‖K̂ − K‖² = Σ Var k̂ + (E k̂ − k)²,   summed over all entries of the kernel matrix                                (1)

is known where a sketch has a closed form, and its root, corrected by tails.py, is the prediction; nothing is drawn.
For other sketches it is the mean over a few draws; for other numbers of features it falls with √D, or is drawn again
where the sketch learns from rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from time import process_time

import numpy as np

from rfbench.advise.evidence import Evidence, observe
from rfbench.advise.tails import Tails, tails
from rfbench.arrays import padded
from rfbench.checks import InputError
from rfbench.config.files import choices
from rfbench.config.labels import default_options
from rfbench.datasets.base import Dataset
from rfbench.job import Job
from rfbench.seeds import rng_for
from rfbench.sketches import SKETCHES, FeatureMap, Sketch
from rfbench.sketches.products.weights import Law
from rfbench.tasks.base import KERNEL_ROWS

DRAWS = 6
MOST_DRAWN = 2048  # features at most of a sketch that is drawn to predict its error
NEAR = 4  # times more or fewer features than were drawn, for which errors follow by the square root
FURTHEST = 4  # times MOST_DRAWN: beyond, a small bias that draws do not show could decide
MOST_FEATURES = 1 << 16
STEPS = 12  # of the search for a number of features
CLOSE = 0.98  # the number of features is good enough if the error is this near to the one wanted
Shapes = dict[tuple[float, float], Tails | None]


@dataclass(eq=False)
class Candidate:
    """A sketch with all that is predicted of it."""

    name: str
    sketch: Sketch
    evidence: Evidence
    shapes: Shapes = field(default_factory=dict)  # by law; candidates share them
    fit_seconds: dict[int, float] = field(default_factory=dict)
    errors: dict[int, float] = field(default_factory=dict)
    recipes: dict[int, Sketch] = field(default_factory=dict)  # fitted
    drawn: dict[int, float] = field(default_factory=dict)  # errors of draws
    closed_form: bool = True

    def count(self, D: int) -> int:
        """The nearest number of features that is possible, from D on."""
        for more in range(D, 2 * D + 64):
            if not self.sketch.objection(more):
                return self.sketch.count(self.evidence.d, more)
        raise InputError(self.sketch.objection(D) or "no number of features is possible")

    def fitted(self, D: int) -> Sketch:
        """The sketch fitted to training rows; a run takes more rows, by which the seconds are multiplied."""
        if D in self.recipes:
            return self.recipes[D]
        X, wanted = self.evidence.fitting_rows, max(self.sketch.sample_rows, KERNEL_ROWS)
        X, start = X[:wanted], process_time()
        found = self.sketch.adapt(X, D)
        if found != self.sketch:  # some, such as nystrom, learn in their draw
            found.sample(self.evidence.d, D, rng_for(0, "advise", self.name, D), self.evidence.dtype.name)
        rows = min(wanted, len(self.evidence.train))
        self.recipes[D] = found
        self.fit_seconds[D] = (process_time() - start) * rows / len(X) if found != self.sketch else 0.0
        return found

    def draw(self, D: int, k: int) -> FeatureMap:
        rng = rng_for(k, "advise", self.name, D)
        return self.fitted(D).sample(self.evidence.d, D, rng, self.evidence.dtype.name)

    def error(self, D: int) -> float:
        """The predicted error of D features."""
        if D not in self.errors:
            sketch = self.fitted(D)
            self.closed_form = sketch.closed_form is not None
            self.errors[D] = self._known(sketch, D) if self.closed_form else self._drawn(sketch, D)
        return self.errors[D]

    @property
    def most(self) -> int:
        """The most features for which an error is predicted, once one is."""
        return MOST_FEATURES if self.closed_form else FURTHEST * MOST_DRAWN

    def _known(self, sketch: Sketch, D: int) -> float:
        """Equation (1); of a complex sketch the real part counts, which is what a model uses."""
        form, (X, kernel) = sketch.closed_form, (self.evidence.X, self.evidence.kernel)
        assert form
        V = form.variance(X, X, D)
        if sketch.is_complex and form.pseudo_variance:
            V = np.maximum(V + form.pseudo_variance(X, X, D), 0) / 2
        variance, bias = self.evidence.total(V) / self.evidence.scale, 0.0
        if form.mean:
            off = form.mean(X, X, D) - kernel.gram(X, X)
            bias = self.evidence.total(self.evidence.squares(off)) / self.evidence.scale
        if (law := sketch.weight_law) and (shape := self._shape(law)):
            variance *= shape(variance**0.5) ** 2
        return float((variance + bias) ** 0.5)

    def _shape(self, law: Law) -> Tails | None:
        key = law.kurtosis, law.t
        if key not in self.shapes:
            self.shapes[key] = tails(self.evidence, law)
        return self.shapes[key]

    def _drawn(self, sketch: Sketch, D: int) -> float:
        """The mean error of a few draws of D features, or what those of numbers near it say.

        The error of a sketch that learns from rows, such as nystrom, falls faster than with √D: it is drawn, or lies
        between two that were.
        """
        few = max((k for k in self.drawn if k <= D), default=0)
        if enough := min((k for k in self.drawn if D <= k <= NEAR * few), default=0):
            x, y = np.log([few, enough]), np.log([self.drawn[few], self.drawn[enough]])
            return float(np.exp(np.interp(np.log(D), x, y)))
        near = min(self.drawn, key=lambda other: abs(np.log(other / D)), default=self.count(min(D, MOST_DRAWN)))
        learned = sketch != self.sketch
        if near == D or ((learned or not 1 / NEAR <= near / D <= NEAR) and D <= MOST_DRAWN):
            self.drawn[D] = self._mean_of_draws(sketch, D)
            return self.drawn[D]
        if near not in self.drawn:
            self.drawn[near] = self._mean_of_draws(self.fitted(near), near)
        return self.drawn[near] * float(near / D) ** 0.5

    def _mean_of_draws(self, sketch: Sketch, D: int) -> float:
        X, dtype = self.evidence.X, self.evidence.dtype.name
        K, found = self.evidence.kernel.gram(X, X), []
        for k in range(DRAWS):
            features = sketch.sample(X.shape[1], D, rng_for(k, "advise", self.name, D), dtype)
            Phi = features(X)
            error = self.evidence.squares(features.product(Phi, Phi).real - K)
            found.append((self.evidence.total(error) / self.evidence.scale) ** 0.5)
        return float(np.mean(found))

    def needed(self, error: float) -> int | None:
        """The fewest features of at most this predicted error, or None where even the most have a larger one."""
        few, enough, D = 0, MOST_FEATURES + 2, self.count(2 * padded(self.evidence.d))
        for _ in range(STEPS):
            found = self.error(D)
            few, enough = (D, enough) if found > error else (few, D)
            if CLOSE * error <= found <= error or few + 2 >= enough:
                break
            D = 2 * ceil(D * (found / error) ** 2 / CLOSE / 2)  # where errors fall with the square root of D
            if not few < D < enough:
                D = 2 * ceil((max(few, 1) * enough) ** 0.5 / 2)
            D = self.count(D)
        return enough if enough <= self.most else None


def has_error(sketch: Sketch) -> bool:
    """Whether it has features of single rows, and they are not those of the kernel itself."""
    return sketch.explicit and (sketch.random or sketch.stated_bias is not None)


def candidates_of(jobs: Sequence[Job], evidence: Evidence) -> list[Candidate]:
    """The sketches of the jobs, those that have features of single rows and fit the kernel and the task."""
    found: list[Candidate] = []
    shapes: Shapes = {}
    for job in jobs:
        try:
            sketch = job.sketch(evidence.kernel)
        except InputError:  # of another kernel
            continue
        if has_error(sketch) and not job.task.objection(sketch, job.kernel):
            found.append(Candidate(str(job.config["sketch"]["name"]), sketch, evidence, shapes))
    return found


def with_every_sketch(job: Job) -> list[Job]:
    """The job with each sketch of its kernel in turn, by its default options."""
    fits = {name for name, family in SKETCHES.items() if not family.kernels or job.kernel.name in family.kernels}
    names = (name for name in choices("sketch") if "/" not in name and (name in fits or name not in SKETCHES))
    return [replace(job, config={**job.config, "sketch": default_options("sketch", name)}) for name in names]


def features_for(job: Job, dataset: Dataset, error: float) -> int:
    """The fewest features of the sketch of a job that have at most this predicted error."""
    name = str(job.config["sketch"]["name"])
    if job.device:
        raise InputError(f"features=auto:{error:g} needs a sketch that this computer draws; give a number of features")
    evidence = observe(job, dataset)
    sketch = job.sketch(evidence.kernel)
    if not has_error(sketch):
        raise InputError(f"features=auto:{error:g} has no error to choose by with sketch={name}; give a number")
    one = Candidate(name, sketch.survey(lambda: (X for X, _ in evidence.train.blocks())), evidence)
    if found := one.needed(error):
        return found
    most = one.error(one.count(MOST_FEATURES))
    raise InputError(
        f"features=auto:{error:g} is out of reach of sketch={name}: {MOST_FEATURES:,} features have a predicted error "
        f"of {most:.2g}; use a larger error, or rfbench advise to find a better sketch"
    )
