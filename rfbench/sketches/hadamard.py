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


def transform(U: Array, spare: Array, rows: int) -> Array:
    """H U for U of shape (d, b) whose first rows count and the others are taken as zero.

    The result is in U or in spare, and the other is overwritten.  Inner factors come first, so that a block of zeros
    stays one until the outermost.
    """
    d, b = U.shape
    right = 1
    for size in reversed(factors(d)):
        blocks = -(-rows // (right * size))
        kept = size if blocks > 1 else -(-rows // right)  # of the rows of blocks that have any
        U[rows : ((blocks - 1) * size + kept) * right] = 0
        H, shape = _matrix(size, U.dtype), (-1, size, right * b)
        np.matmul(H[:, :kept], U.reshape(shape)[:blocks, :kept], out=spare.reshape(shape)[:blocks])
        U, spare = spare, U
        right *= size
        rows = blocks * right
    return U
