"""Arrays in binary files: IDX, NPY and NPZ.  Nothing is ever unpickled."""

import io
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.formats.files import OPENERS, opened
from rfbench.datasets.formats.tables import Block


def read_idx(path: Path) -> Array:
    """Bytes in as many dimensions as the header says."""
    with opened(path) as handle:
        head = handle.read(4)
        if len(head) < 4 or head[:3] != b"\0\0\x08":
            raise InputError(f"{path} is no IDX file of bytes (it starts with {head.hex()}); fetch or copy it again")
        shape = tuple(np.frombuffer(handle.read(4 * head[3]).ljust(4 * head[3], b"\0"), ">i4").tolist())
        values = handle.read()
    if len(values) != math.prod(shape):
        raise InputError(
            f"{path}: {math.prod(shape)} bytes of data wanted, {len(values)} found; fetch or copy it again"
        )
    return np.frombuffer(values, np.uint8).reshape(shape)


def read_npy(path: Path) -> Array:
    """An .npy file; mapped, not read, where it is not packed."""
    try:
        if path.suffix not in OPENERS:
            array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
            return array
        with opened(path) as handle:
            return np.lib.format.read_array(io.BytesIO(handle.read()), allow_pickle=False)
    except InputError:
        raise
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path} is no NPY file of numbers ({str(error).splitlines()[0]}); save it anew") from None


def read_npz(path: Path) -> list[Block]:
    """X and y, or X_train and y_train; then X_test and y_test, if there."""
    try:
        with opened(path) as handle, np.load(io.BytesIO(handle.read()), allow_pickle=False) as arrays:
            train = "_train" if "X_train" in arrays else ""
            parts = [train, "_test"] if "X_test" in arrays else [train]
            return [(np.asarray(arrays["X" + part]), np.asarray(arrays["y" + part])) for part in parts]
    except KeyError as error:
        raise InputError(
            f"{path} has no array {error}; X and y, or X_train, y_train, X_test, y_test are wanted"
        ) from None
    except InputError:
        raise
    except (ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is no NPZ file of numbers ({str(error).splitlines()[0]}); save it anew") from None


def checked(path: Path, blocks: Iterator[Block] | list[Block]) -> Iterator[Block]:
    """The blocks, or the first place where one is no matrix of finite numbers with one target a row."""
    row = 0
    for X, y in blocks:
        if X.ndim != 2 or X.dtype.kind not in "biuf" or y.shape != X.shape[:1] or y.dtype.kind not in "biufU":
            raise InputError(
                f"{path.name}: X of shape (rows, columns) and y of shape (rows,) are wanted, both of real numbers; "
                f"{X.dtype} {X.shape} and {y.dtype} {y.shape} were found"
            )
        bad = np.argwhere(~np.isfinite(X))
        if len(bad):
            i, j = bad[0].tolist()
            raise InputError(
                f"{path.name}: row {row + i}, column {j} is {X[i, j]}; leave out such rows or fill them in"
            )
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            i = int(np.argmin(np.isfinite(y)))
            raise InputError(f"{path.name}: the target of row {row + i} is {y[i]}; leave out such rows")
        yield X, y
        row += len(X)
