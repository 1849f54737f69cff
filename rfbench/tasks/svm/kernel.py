"""The exact kernel's support vector machine, one class against another, by scikit-learn's SVC.

If it fits in memory SVC gets the full kernel matrix, computed by products of large blocks.  LIBSVM's own rows of the
Gaussian kernel, one at a time as it needs them, take no memory, but 1.7 times as long to fit and 3 to 4 times as long
to predict.
"""

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.engines import Engine
from rfbench.kernels import Kernel
from rfbench.kernels.exponential import Gaussian
from rfbench.linalg.tiles import MOST_ROWS, TILE
from rfbench.tasks.kernel_error import exact_matrix

MOST_GAUSSIAN_ROWS = 100_000  # time grows with the square of the rows
CACHE = 1000  # megabytes of kernel rows that LIBSVM keeps


class KernelMachine:
    """From the kernel matrix of at most `matrix_rows` rows, else, with the Gaussian kernel, from the rows."""

    def __init__(
        self, kernel: Kernel, X: Array, y: Array, C: float, engine: Engine, *, matrix_rows: int = MOST_ROWS
    ) -> None:
        from sklearn.svm import SVC

        self.kernel, self.X, self.engine, self.precomputed = kernel, X, engine, len(X) <= matrix_rows
        if self.precomputed:
            self.machine = SVC(C=C, kernel="precomputed").fit(exact_matrix(kernel, X, engine), y)
        else:
            assert isinstance(kernel, Gaussian)
            self.machine = SVC(C=C, gamma=1 / (2 * kernel.l2), cache_size=CACHE).fit(X, y)

    @staticmethod
    def refuse_beyond(kernel: Kernel, n: int) -> None:
        """Refuse problems that LIBSVM cannot finish."""
        most = MOST_GAUSSIAN_ROWS if isinstance(kernel, Gaussian) else MOST_ROWS
        if n > most:
            raise InputError(
                f"sketch=exact with the {kernel.name} kernel is limited to {most:,} rows, and there are {n:,}. "
                f"Use train_rows={most} or another sketch"
            )

    def predict(self, X: Array) -> Array:
        if not self.precomputed:
            return self.machine.predict(X)
        rows = self.engine.map(lambda span: self.kernel.gram(X[span], self.X), spans(len(X), TILE))
        return self.machine.predict(np.vstack(list(rows)))
