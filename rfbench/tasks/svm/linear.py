"""A linear support vector machine for each class against the rest, by scikit-learn's LinearSVC.

    min_w ½‖w‖² + C Σᵢ max(0, 1 − yᵢ⟨w, φᵢ⟩)²,      yᵢ = ±1, φᵢ with a one appended                         (1)

LIBLINEAR has two ways to it.  The passes of coordinate descent on the dual grow with C‖φ‖², those of Newton's method
hardly do; at a few the two cost the same.
"""

import sys
import warnings

import numpy as np

from rfbench.arrays import Array
from rfbench.progress import bar

BYTES = 24  # of a feature: a double, and LIBLINEAR's own copy of it with an index
DUAL = 3.0  # C‖φ‖² up to which the dual is quicker: 0.19 s against 0.32 at 1, 0.75 against 0.33 at 10


class LinearMachine:
    """Equation (1), class by class: for a bar, and because LIBLINEAR cannot be interrupted."""

    def __init__(self, Phi: Array, y: Array, C: float, iterations: int, seed: int) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        self.classes = np.unique(y)
        two = len(self.classes) == 2
        dual = C * np.einsum("ij,ij->", Phi, Phi) <= DUAL * len(Phi)
        found = []
        with warnings.catch_warnings(), bar(len(self.classes) - two, "linear SVM", " classes") as shown:
            warnings.simplefilter("ignore", ConvergenceWarning)
            for label in self.classes[two:]:
                machine = LinearSVC(C=C, dual=bool(dual), max_iter=iterations, random_state=seed)
                found.append(machine.fit(Phi, y == label))
                shown.update()
        self.W = np.vstack([machine.coef_ for machine in found])  # (classes, D), or one row for two classes
        self.intercept = np.concatenate([machine.intercept_ for machine in found])
        self.exhausted = sum(machine.n_iter_ >= iterations for machine in found)
        if self.exhausted:
            print(
                f"rfbench: linear SVM: {self.exhausted} of {len(found)} classes used up task.iterations={iterations} "
                "before they converged; raise it, or lower task.C",
                file=sys.stderr,
            )

    def predict(self, Phi: Array) -> Array:
        scores = Phi @ self.W.T + self.intercept
        return self.classes[scores.argmax(1) if len(self.W) > 1 else (scores[:, 0] > 0).astype(int)]
