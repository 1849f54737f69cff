"""The exact kernel's support vector machine, one class against another, by scikit-learn's SVC.

It gets the whole kernel matrix, made of products of large blocks, while that fits.  LIBSVM's own rows of the Gaussian
kernel, one at a time as it needs them, take no memory, and 1.7 times as long to fit, 3 to 4 times to predict.
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

MOST_GAUSSIAN_ROWS = 100_000  # time grows with their square
CACHE = 1000  # megabytes of rows that LIBSVM keeps


class KernelMachine:
    def __init__(self, kernel: Kernel, X: Array, y: Array, C: float, engine: Engine) -> None:
        from sklearn.svm import SVC

        self.kernel, self.X, self.engine, self.whole = kernel, X, engine, len(X) <= MOST_ROWS
        if self.whole:
            self.machine = SVC(C=C, kernel="precomputed").fit(exact_matrix(kernel, X, engine), y)
        else:
            assert isinstance(kernel, Gaussian)
            self.machine = SVC(C=C, gamma=1 / (2 * kernel.l2), cache_size=CACHE).fit(X, y)

    @staticmethod
    def refuse_beyond(kernel: Kernel, n: int) -> None:
        """Say before the work begins that it would not end."""
        most = MOST_GAUSSIAN_ROWS if isinstance(kernel, Gaussian) else MOST_ROWS
        if n > most:
            raise InputError(
                f"sketch=exact is for at most {most} rows with the {kernel.name} kernel, and there are {n}; "
                f"use train_rows={most}, or a sketch"
            )

    def predict(self, X: Array) -> Array:
        if not self.whole:
            return self.machine.predict(X)
        rows = self.engine.map(lambda span: self.kernel.gram(X[span], self.X), spans(len(X), TILE))
        return self.machine.predict(np.vstack(list(rows)))
