"""Support vector machines on features, and with the kernel itself  [Chang et al. 2016, 5].

Features are given to a linear machine; the exact kernel, of the rows or of measurements of them, to scikit-learn's SVC.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import regrouped
from rfbench.checks import InputError, require
from rfbench.datasets.prepare import Prepared, Split
from rfbench.engines import Engine
from rfbench.kernels import Kernel, KernelRecipe
from rfbench.linalg.gram import block_rows, doubles
from rfbench.linalg.stopwatch import Stopwatch
from rfbench.linalg.tiles import MOST_ROWS
from rfbench.progress import bar, with_progress
from rfbench.sketches import FeatureMap, Sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.base import Measure, Size, Task, Trial, no_localized, of_one_output
from rfbench.tasks.model import Fitted, no_model
from rfbench.tasks.rows import new_rows
from rfbench.tasks.svm.kernel import CACHE, KernelMachine
from rfbench.tasks.svm.linear import BYTES, MULTICLASS, LinearMachine

MOST_C = 1e6  # LIBSVM does not finish beyond: errors are then forbidden


@dataclass(frozen=True)
class SVM(Task):
    """Accuracy on the test rows, and the seconds of all training features, of the fit and of the predictions."""

    name = "svm"
    measurements = True
    C: float = 1.0
    multiclass: str = "one_vs_rest"
    iterations: int = 1000
    save: bool = False

    def __post_init__(self) -> None:
        require(0 < self.C <= MOST_C, "task.C", f"a number above 0 and at most {MOST_C:.0e}", self.C)
        require(self.multiclass in MULTICLASS, "task.multiclass", " or ".join(MULTICLASS), self.multiclass)
        require(self.iterations >= 1, "task.iterations", "at least 1", self.iterations)

    def objection(self, sketch: Sketch, recipe: KernelRecipe) -> str | None:
        if sketch.is_complex:
            return "task=svm needs real features; use the real form of this sketch, or its ctr_ form"
        if not sketch.explicit and self.multiclass == "crammer_singer":
            return "task.multiclass=crammer_singer needs features; the kernel machine compares pairs of classes"
        unsuited = of_one_output(self.name, recipe) or no_localized(self.name, sketch)
        if self.save and not sketch.explicit:
            return "task.save=true of task=svm needs features; use task=ridge with sketch=exact, or another sketch"
        return unsuited or super().objection(sketch, recipe) or (no_model(sketch) if self.save else None)

    def memory(self, size: Size) -> int:
        """All features, or the kernel matrix, and the copy of the solver."""
        rows = 2 * 8 * size.n**2 if size.n <= MOST_ROWS else CACHE << 20
        return size.n * size.D * BYTES if size.explicit else rows

    def reference(self, split: Split, kernel: Kernel, seed: int, engine: Engine) -> None:
        """Nothing but the labels, which must be classes."""
        import sklearn.svm  # noqa: F401  (not on the clock of the first fit)

        train, name = split.train.part, split.train.part.dataset.name
        if train.dataset.classes is None:
            raise InputError(
                f"task=svm needs classes, and dataset '{name}' has numbers to predict; use task=ridge or gpr"
            )
        if len({label for y in train.labels() for label in np.unique(y).tolist()}) < 2:
            raise InputError(f"task=svm needs at least two classes; all {len(train)} training rows have the same one")

    def measure(self, trial: Trial, reference: None) -> Iterator[Measure]:
        draw, engine = trial.drawn(), trial.engine
        features = draw.features
        if features.kernel:
            KernelMachine.refuse_beyond(features.kernel, len(trial.split.train))
        Phi, y, seconds = feature_matrix(features, trial.split.train, engine)
        start = perf_counter()
        machine: KernelMachine | LinearMachine
        if features.kernel:
            machine = KernelMachine(features.kernel, Phi, y, self.C, engine)
        else:
            machine = LinearMachine(Phi, y, self.C, self.iterations, trial.seed, self.multiclass)
        fitted = perf_counter()
        test = trial.split.test
        correct = sum(int(np.sum(machine.predict(doubles(features, X, engine)) == y)) for X, y in new_rows(test))
        predicted = perf_counter()
        yield Measure("accuracy", correct / len(test))
        yield Measure("error", (len(test) - correct) / len(test))
        if isinstance(machine, LinearMachine):
            if machine.exhausted:
                yield Measure("classes_not_converged", machine.exhausted)
            yield Measure("transform_seconds", seconds, "s")
            if self.save:
                trial.keep_model(MachineModel(draw, machine.W, machine.intercept, machine.classes))
        yield Measure("fit_seconds", fitted - start, "s")
        yield Measure("predict_seconds", predicted - fitted, "s")


@dataclass(frozen=True, eq=False)
class MachineModel(Fitted):
    """A linear machine as it is saved."""

    draw: Draw
    W: Array
    intercept: Array
    classes: Array  # that the training rows have

    def __call__(self, X: Array, first: int, engine: Engine) -> dict[str, Array]:
        scores = doubles(self.draw.features, X, engine) @ self.W.T + self.intercept
        scores = np.hstack((-scores, scores)) if len(self.W) == 1 else scores
        outputs = np.full((len(X), self.classes.max() + 1), -np.inf)
        outputs[:, self.classes] = scores
        return {"outputs": outputs}


def feature_matrix(features: FeatureMap, train: Prepared, engine: Engine) -> tuple[Array, Array, float]:
    """(Φ, y) of all rows, Φ in double precision as scikit-learn needs it, and the seconds that the map took."""
    Phi, y, done, watch = np.empty((len(train), features.D)), np.empty(len(train), np.int64), 0, Stopwatch()
    size = block_rows(features.D)
    buffer = features.empty(size)
    with bar(len(train), "training rows", " rows") as shown:
        for X, labels in with_progress(regrouped(train.blocks(), size), shown):
            rows = slice(done, done + len(X))
            with watch("features"):
                engine.transform(features, X, buffer[: len(X)])
            Phi[rows], y[rows], done = buffer[: len(X)], labels, rows.stop
    return Phi, y, watch["features"]
