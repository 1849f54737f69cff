"""Matrix-valued kernels with a Gaussian scalar part k, for functions with several outputs  [Brault et al. 2016, 2.3].

With δ = x − y, s = ‖δ‖²/l² and as many outputs as columns, −∇∇ᵀk is the curl-free kernel, (∇∇ᵀ − ΔI)k the
divergence-free one [ibid., Definition 2.2], and c times the first plus 1 − c times the second is

    K(δ) = k(δ)/l² [((1 − c)(d − 1 − s) + c) I + (1 − 2c) δδᵀ/l²]                                     (1)

The Gram matrix of n rows has one p × p block per pair: n p rows and columns, outputs along the fast axis.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from rfbench.arrays import Array, squared_distances
from rfbench.checks import require
from rfbench.kernels.base import LengthScale
from rfbench.kernels.exponential import Gaussian


class MatrixKernel(LengthScale):
    """K(x, y) whose entries all come from one Gaussian kernel."""

    matrix_valued = True
    exponents = tuple(k / 4 for k in range(-14, 5))  # mostly negative: a field may turn often within a median

    @property
    def gaussian(self) -> Gaussian:
        """k."""
        return Gaussian(self.length_scale)


class FieldKernel(MatrixKernel):
    """Equation (1): fields with as many components as coordinates."""

    @property
    @abstractmethod
    def curl_free_part(self) -> float:
        """c."""

    def size(self, d: int) -> int:
        return d

    def objection(self, X: Array) -> str | None:
        if X.shape[1] > 1:
            return None
        return f"kernel '{self.name}' is for fields in two dimensions or more; the data have one column"

    def gram(self, X: Array, Y: Array) -> Array:
        (n, d), m, l2, c = X.shape, len(Y), self.gaussian.l2, self.curl_free_part
        k = self.gaussian.gram(X, Y) / l2
        delta = X.astype(np.float64)[:, None] - Y  # (n, m, d)
        K = delta.transpose(0, 2, 1)[..., None] * (delta * (k * (1 - 2 * c) / l2)[..., None])[:, None]
        each = np.arange(d)
        K[:, each, :, each] += k * ((1 - c) * (d - 1 - squared_distances(X, Y) / l2) + c)
        return K.reshape(n * d, m * d)


class CurlFree(FieldKernel):
    """Gradient fields."""

    name = "curl_free"

    @property
    def curl_free_part(self) -> float:
        return 1.0


class DivFree(FieldKernel):
    """Fields without sources."""

    name = "div_free"

    @property
    def curl_free_part(self) -> float:
        return 0.0


@dataclass(frozen=True)
class Helmholtz(FieldKernel):
    """A convex combination of both, which can learn any field with a Helmholtz decomposition."""

    name = "helmholtz"
    curl_free: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.curl_free <= 1, "kernel.curl_free", "from 0 (divergence-free) to 1", self.curl_free)

    @property
    def curl_free_part(self) -> float:
        return self.curl_free
