"""Linear support vector machines by scikit-learn's LinearSVC: each class against the rest, or all classes at once.

    min_w ½‖w‖² + C Σᵢ max(0, 1 − yᵢ⟨w, φᵢ⟩)²,      yᵢ = ±1, φᵢ with a one appended                         (1)
    min ½ Σ_c ‖w_c‖² + C Σᵢ max_c (0, 1 − [c = yᵢ] − ⟨w_yᵢ − w_c, φᵢ⟩)          [Crammer & Singer 2001]       (2)

LIBLINEAR has two solvers for (1).  Coordinate descent on the dual needs more passes as C‖φ‖² grows, Newton's method
hardly does; they cost the same where C‖φ‖² is a few.  For (2) it has coordinate descent only, which scikit-learn stops
by the tolerance alone.
"""

import sys
import warnings

import numpy as np

from rfbench.arrays import Array
from rfbench.progress import bar

BYTES = 24  # for each feature: a double, and LIBLINEAR's own copy of it with an index
MULTICLASS = {"one_vs_rest": "ovr", "crammer_singer": "crammer_singer"}  # ours, scikit-learn's
TOLERANCE = {"one_vs_rest": 1e-4, "crammer_singer": 0.1}  # of the gradient: scikit-learn's default, LIBLINEAR's
DUAL_LIMIT = 3.0  # C‖φ‖² up to which the dual is faster: 0.19 s against 0.32 at 1, 0.75 against 0.33 at 10


class LinearMachine:
    """Equation (1), class by class: that shows progress, and LIBLINEAR cannot be interrupted within a class; or (2)."""

    def __init__(
        self, Phi: Array, y: Array, C: float, iterations: int, seed: int, multiclass: str = "one_vs_rest"
    ) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        self.classes = np.unique(y)
        two = len(self.classes) == 2
        at_once = multiclass == "crammer_singer"
        problems = [y] if at_once else [y == label for label in self.classes[two:]]
        dual = C * np.einsum("ij,ij->", Phi, Phi) <= DUAL_LIMIT * len(Phi)
        found = []
        with warnings.catch_warnings(), bar(len(problems), "linear SVM", " problems") as shown:
            warnings.simplefilter("ignore", ConvergenceWarning)
            for labels in problems:
                machine = LinearSVC(
                    C=C,
                    multi_class=MULTICLASS[multiclass],
                    dual=bool(dual),
                    tol=TOLERANCE[multiclass],
                    max_iter=iterations,
                    random_state=seed,
                )
                found.append(machine.fit(Phi, labels))
                shown.update()
        self.W = np.vstack([machine.coef_ for machine in found])  # (classes, D), or one row for two classes
        self.intercept = np.concatenate([machine.intercept_ for machine in found])
        self.exhausted = 0 if at_once else sum(machine.n_iter_ >= iterations for machine in found)
        if self.exhausted:
            print(
                f"rfbench: linear SVM: {self.exhausted} of {len(found)} classes did not converge within "
                f"task.iterations={iterations}; raise it or lower task.C",
                file=sys.stderr,
            )

    def predict(self, Phi: Array) -> Array:
        scores = Phi @ self.W.T + self.intercept
        return self.classes[scores.argmax(1) if len(self.W) > 1 else (scores[:, 0] > 0).astype(int)]
