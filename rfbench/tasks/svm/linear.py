"""A linear support vector machine for each class against the rest, by scikit-learn's LinearSVC.

    min_w ½‖w‖² + C Σᵢ max(0, 1 − yᵢ⟨w, φᵢ⟩)²,      yᵢ = ±1, φᵢ with a one appended                         (1)

LIBLINEAR has two solvers.  Coordinate descent on the dual needs more passes as C‖φ‖² grows, Newton's method hardly
does; they cost the same where C‖φ‖² is a few.
"""

import sys
import warnings

import numpy as np

from rfbench.arrays import Array
from rfbench.progress import bar

BYTES = 24  # for each feature: a double, and LIBLINEAR's own copy of it with an index
DUAL_LIMIT = 3.0  # C‖φ‖² up to which the dual is faster: 0.19 s against 0.32 at 1, 0.75 against 0.33 at 10


class LinearMachine:
    """Equation (1), class by class: that shows progress, and LIBLINEAR cannot be interrupted within a class."""

    def __init__(self, Phi: Array, y: Array, C: float, iterations: int, seed: int) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        self.classes = np.unique(y)
        two = len(self.classes) == 2
        dual = C * np.einsum("ij,ij->", Phi, Phi) <= DUAL_LIMIT * len(Phi)
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
                f"rfbench: linear SVM: {self.exhausted} of {len(found)} classes did not converge within "
                f"task.iterations={iterations}; raise it or lower task.C",
                file=sys.stderr,
            )

    def predict(self, Phi: Array) -> Array:
        scores = Phi @ self.W.T + self.intercept
        return self.classes[scores.argmax(1) if len(self.W) > 1 else (scores[:, 0] > 0).astype(int)]
