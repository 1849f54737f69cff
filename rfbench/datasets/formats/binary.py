"""Arrays in binary files: IDX, NPY and NPZ.  Nothing is ever unpickled."""

import io
import math
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, in_short
from rfbench.datasets.formats.files import OPENERS, opened
from rfbench.datasets.formats.tables import Block
from rfbench.storage import UNREADABLE, atomic_file, cache_dir, checksum


def read_idx(path: Path) -> Array:
    """An array of bytes in the shape of the header."""
    with opened(path) as handle:
        head = handle.read(4)
        if len(head) < 4 or head[:3] != b"\0\0\x08":
            raise InputError(f"{path} is not an IDX file of bytes (it starts with {head.hex()}); download it again")
        shape = tuple(np.frombuffer(handle.read(4 * head[3]).ljust(4 * head[3], b"\0"), ">i4").tolist())
        values = handle.read()
    if len(values) != math.prod(shape):
        raise InputError(
            f"{path} has {len(values)} bytes of data; its header says {math.prod(shape)}; download it again"
        )
    return np.frombuffer(values, np.uint8).reshape(shape)


def read_npy(path: Path) -> Array:
    """An .npy file, memory-mapped unless it is compressed."""
    try:
        if path.suffix not in OPENERS:
            array: Array = np.lib.format.open_memmap(path, mode="r")
            return array
        with opened(path) as handle:
            return np.lib.format.read_array(io.BytesIO(handle.read()), allow_pickle=False)
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{path} is not a numeric NPY file ({in_short(error)}); save it again") from None


def read_npz(path: Path) -> list[Block]:
    """(X, y) or (X_train, y_train), then (X_test, y_test) if the file has them."""
    try:
        with opened(path) as handle, np.load(io.BytesIO(handle.read()), allow_pickle=False) as arrays:
            train = "_train" if "X_train" in arrays else ""
            parts = [train, "_test"] if "X_test" in arrays else [train]
            return [(np.asarray(arrays["X" + part]), np.asarray(arrays["y" + part])) for part in parts]
    except KeyError as error:
        raise InputError(
            f"{path} has no array {error}; it needs X and y, or X_train, y_train, X_test and y_test"
        ) from None
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{path} is not a numeric NPZ file ({in_short(error)}); save it again") from None


def unpacked(path: Path) -> Path:
    """The only array of an .npz file, or its features or X, as an .npy file in the cache."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            name = next((name for name in ("features", "X") if name in names), names[0])
            if len(names) > 1 and name not in ("features", "X"):
                raise InputError(f"{path.name} has {', '.join(names)}; save one array, or call one of them features")
            file = cache_dir() / "features" / f"{checksum(path)[:16]}.npy"
            if not file.exists():
                with archive.open(f"{name}.npy") as content, atomic_file(file) as copy:
                    shutil.copyfileobj(content, copy)
    except InputError:
        raise
    except (*UNREADABLE, IndexError) as error:
        raise InputError(f"{path} is not a numeric NPZ file ({in_short(error)}); save it again") from None
    return file


def checked(path: Path, blocks: Iterator[Block] | list[Block]) -> Iterator[Block]:
    """The same blocks; anything but a matrix of finite numbers with one target per row is refused with its place."""
    row = 0
    for X, y in blocks:
        if X.ndim != 2 or X.dtype.kind not in "biuf" or y.shape != X.shape[:1] or y.dtype.kind not in "biufU":
            raise InputError(
                f"{path.name}: X must be real numbers of shape (rows, columns) and y of shape (rows,); "
                f"found {X.dtype} {X.shape} and {y.dtype} {y.shape}"
            )
        bad = np.argwhere(~np.isfinite(X))
        if len(bad):
            i, j = bad[0].tolist()
            raise InputError(f"{path.name}: row {row + i}, column {j} is {X[i, j]}; drop such rows or fill them in")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            i = int(np.argmin(np.isfinite(y)))
            raise InputError(f"{path.name}: the target of row {row + i} is {y[i]}; drop such rows")
        yield X, y
        row += len(X)
