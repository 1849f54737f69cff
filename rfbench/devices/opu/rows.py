"""Digests of rows of bits."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def row_digests(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """64 bits for each row; among a million different rows, two collide with probability 3·10⁻⁸."""
    packed = np.packbits(bits, axis=1)
    digests = b"".join(blake2b(row.data, digest_size=8).digest() for row in packed)
    return np.frombuffer(digests, "<u8")
