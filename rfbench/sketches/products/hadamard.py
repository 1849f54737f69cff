"""Walsh–Hadamard transform by matrix products: H_{ab} = H_a ⊗ H_b.

For d = 1024 three products, with H₁₆ and twice H₈, replace ten butterfly passes and run at the speed of BLAS.
"""

from functools import cache
from typing import Any

import numpy as np

from rfbench.arrays import Array


@cache
def _matrix(d: int, dtype: Any) -> Array:
    from scipy.linalg import hadamard

    H = hadamard(d).astype(dtype)
    H.flags.writeable = False
    return H


@cache
def factors(d: int) -> tuple[int, ...]:
    """As few sizes of at most 16 with product d as there can be, as equal as can be, the inner ones first.

    Small sizes take fewer operations and large ones fewer passes; this was the fastest choice in benchmarks.
    """
    bits = d.bit_length() - 1
    count = max(-(-bits // 4), 1)
    return tuple(1 << (bits + count - 1 - i) // count for i in range(count))


def transform(U: Array, spare: Array, rows: int) -> tuple[Array, Array]:
    """H U for U of shape (d, b), of which only the first `rows` rows are read and the others count as zero.

    Returns the result and the array that is free again: U and spare, in either order.  Inner factors come first, so
    that blocks of zeros stay zero until the outermost factor.
    """
    d, b = U.shape
    right = 1
    for size in factors(d):
        blocks = -(-rows // (right * size))
        kept = size if blocks > 1 else -(-rows // right)  # rows of a block that are not zero
        U[rows : ((blocks - 1) * size + kept) * right] = 0
        H, shape = _matrix(size, U.dtype), (-1, size, right * b)
        np.matmul(H[:, :kept], U.reshape(shape)[:blocks, :kept], out=spare.reshape(shape)[:blocks])
        U, spare = spare, U
        right *= size
        rows = blocks * right
    return U, spare
