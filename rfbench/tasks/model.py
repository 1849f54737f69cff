"""A fitted model with all that new rows need: their columns, their preparation, the draw of its features."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.datasets.base import class_name
from rfbench.datasets.columns import Columns
from rfbench.datasets.formats.cells import frame_table
from rfbench.datasets.prepare import Prepared, apply
from rfbench.engines import Engine, Local
from rfbench.sketches import Sketch
from rfbench.sketches.draw import Draw
from rfbench.tasks.rows import PREDICTED_ROWS


class Fitted(ABC):
    """What a task has learned, as a dataclass of numbers, arrays and the draw of its features."""

    draw: Draw

    @abstractmethod
    def __call__(self, X: Array, first: int, engine: Engine) -> dict[str, Array]:
        """Numbers of prepared rows, of which the first is row `first` of all.

        `outputs`: (n, p), or of classes (n, C), the largest for the predicted one.  `std`: (n,), the standard deviation
        of a new measurement.  `probabilities`: (n, C).
        """


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model; `predict` takes rows as they were before preparation."""

    fitted: Fitted
    about: dict[str, Any]  # dataset, sketch, … as in results.csv, and the digest of the data
    d: int
    dtype: str
    scale: float  # rows are divided by it
    steps: list[Callable[[Array], Array]]  # of the preparation
    classes: int | None
    labels: tuple[Any, ...]
    columns: Columns | None
    block_rows: int
    probe: tuple[Array, Array]  # a prepared row and its features

    @property
    def column_names(self) -> list[str]:
        """Names of the d columns of X, in order."""
        return self.columns.outputs if self.columns else [str(j) for j in range(self.d)]

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """n predictions: classes by name, numbers, or (n, p); with return_std a pair.

        X has the numbers of `column_names`, (n, d), or is a DataFrame with the columns of the training data.
        """
        table = self.table(X)
        names = [name for name in table if name.startswith("prediction")]
        found = table[names[0]] if len(names) == 1 else np.column_stack([table[name] for name in names])
        if not return_std:
            return found
        if "std" not in table:
            raise InputError(f"task={self.about['task']} has no standard deviation; use task=gpr")
        return found, table["std"]

    def table(self, X: Any, first: int = 0) -> dict[str, Array]:
        """The columns that `rfbench predict` writes, for rows of which the first is row `first` of all."""
        if hasattr(X, "iloc"):
            table = frame_table(X)
            X = np.concatenate(list((self.columns or Columns.plain(self.d)).placed(table).rows(table)))
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.d or X.dtype.kind not in "biuf":
            raise InputError(f"X must be numbers of shape (rows, {self.d}); {X.dtype} {X.shape} was given")
        if len(bad := np.argwhere(~np.isfinite(X))):
            (row, column), value = bad[0], X[tuple(bad[0])]
            raise InputError(f"row {first + row}, column {column} of X is {value}; fill it, or leave the row out")
        with Local(block_rows=self.block_rows).running() as engine:
            parts = [self._block(X[rows], first + rows.start, engine) for rows in spans(len(X), PREDICTED_ROWS)]
        parts = parts or [{"prediction": np.empty(0)}]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _block(self, X: Array, first: int, engine: Engine) -> dict[str, Array]:
        X = np.ascontiguousarray(apply(self.steps, X.astype(np.float64) / self.scale), self.dtype)
        found = self.fitted(X, first, engine)
        outputs = found["outputs"]
        if self.classes is not None:
            names = np.array(self.class_names, object)
            table = {"prediction": names[outputs.argmax(1)]}
            probabilities = found.get("probabilities", np.empty((len(X), 0)))
            return table | {f"p_{name}": p for name, p in zip(names, probabilities.T, strict=False)}
        several = outputs.shape[1] > 1
        table = {f"prediction_{j}" if several else "prediction": outputs[:, j] for j in range(outputs.shape[1])}
        return table | {key: found[key] for key in ("std",) if key in found}

    @property
    def class_names(self) -> list[str]:
        return [class_name(label) for label in self.labels or range(self.classes or 0)]

    def verify(self) -> None:
        """Refuse to predict where the seed draws other features than when the model was saved."""
        x, Phi = self.probe
        now = self.fitted.draw.features(x)
        if now.shape != Phi.shape or not np.allclose(now, Phi, rtol=1e-3, atol=1e-3 * float(np.abs(Phi).max() or 1)):
            raise InputError(
                "this version of NumPy or SciPy draws other features than the one that saved the model; "
                "install the versions that run.json names, or fit the model again"
            )


def model_of(fitted: Fitted, train: Prepared, block_rows: int, about: dict[str, Any]) -> Model:
    """A model that was fitted to these rows."""
    dataset, (x, _) = train.part.dataset, train.take(np.zeros(1, np.int64))
    return Model(
        fitted,
        about | {"digest": dataset.digest},
        dataset.X.shape[1],
        np.dtype(train.dtype).name,
        dataset.scale,
        list(train.steps),
        dataset.classes,
        dataset.labels,
        dataset.columns,
        block_rows,
        (x, fitted.draw.features(x)),
    )


def no_model(sketch: Sketch) -> str | None:
    """Why a model of this sketch cannot be saved, or None."""
    if sketch.localized:
        return "task.save=true needs features that depend on one row only; use sketch=optimized_maclaurin"
    return "task.save=true cannot save the features of an OPU; use opu=none" if sketch.device else None
