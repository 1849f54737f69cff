"""The array type of the whole package, and small functions of arrays that several layers need."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.checks import InputError

Array = NDArray[Any]


def padded(d: int) -> int:
    """The next power of two."""
    return 1 << (d - 1).bit_length()


def real_type(dtype: Any) -> np.dtype[Any]:
    """float32 for complex64, float64 for complex128; a real type is itself."""
    return np.empty(0, dtype).real.dtype


def complex_type(dtype: Any) -> np.dtype[Any]:
    """complex64 for float32, complex128 for float64."""
    return np.result_type(dtype, np.complex64)


def is_complex(dtype: Any) -> bool:
    return np.issubdtype(dtype, np.complexfloating)


def diagonal(A: Array) -> Array:
    """The diagonal of a square matrix as a view that can be written to."""
    return A.reshape(-1)[:: len(A) + 1]


def inner(X: Array, Y: Array) -> Array:
    """⟨x, y⟩ of all pairs, in float64."""
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise InputError(f"both arrays of rows must have shape (n, d) with one d; {X.shape} and {Y.shape} were given")
    return X.astype(np.float64, copy=False) @ Y.astype(np.float64, copy=False).T


def squared_norms(X: Array) -> Array:
    """‖x‖² of every row, in float64."""
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def squared_distances(X: Array, Y: Array) -> Array:
    """‖x − y‖² of all pairs, never negative."""
    D2 = inner(X, Y)
    D2 *= -2
    D2 += squared_norms(X)[:, None] + squared_norms(Y)
    return np.maximum(D2, 0, out=D2)
