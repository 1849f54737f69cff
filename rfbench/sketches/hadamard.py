"""Walsh–Hadamard transform by matrix products: H_{ab} = H_a ⊗ H_b.

For d = 1024 two products with H₃₂ replace ten butterfly passes and run at the speed of BLAS.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FACTOR = 64  # the largest H that is built


def padded(d: int) -> int:
    """The next power of two."""
    return 1 << (d - 1).bit_length()


@cache
def _matrix(d: int, dtype: Any) -> Array:
    from scipy.linalg import hadamard

    H = hadamard(d).astype(dtype)
    H.flags.writeable = False
    return H


@cache
def factors(d: int) -> tuple[int, ...]:
    """Near-equal powers of two, none above FACTOR, with product d."""
    bits, most = d.bit_length() - 1, FACTOR.bit_length() - 1
    parts = max(-(-bits // most), 1)
    return tuple(1 << (bits + i) // parts for i in range(parts))


def transform(U: Array, spare: Array) -> Array:
    """H U for U of shape (d, b); the result is in U or in spare, and the other is overwritten."""
    d, b = U.shape
    left = 1
    for size in factors(d):
        shape = (left, size, d * b // (left * size))
        np.matmul(_matrix(size, U.dtype), U.reshape(shape), out=spare.reshape(shape))
        U, spare = spare, U
        left *= size
    return U
