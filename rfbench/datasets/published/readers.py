"""Files of published datasets → blocks of rows, training rows first."""

import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError, in_short
from rfbench.datasets.formats.binary import checked, read_idx, read_npy, read_npz
from rfbench.datasets.formats.files import opened
from rfbench.datasets.formats.tables import CELLS_PER_CHUNK, Block, read_table

FOLDS = 10
READ_ROWS = 100_000  # at once
ADULT_NUMBERS = [0, 2, 4, 10, 11, 12]
ADULT_WORDS = [1, 3, 5, 6, 7, 8, 9, 13]


def tables(files: Sequence[Path], **options: Any) -> Iterator[Block]:
    for path in files:
        yield from read_table(path, **options)


def postures(files: Sequence[Path]) -> Iterator[Block]:
    """Drop the dummy record of class 0 at the start of the full file."""
    for X, y in tables(files, target="Class", drop=("User",), missing="?"):
        yield X[y != 0], y[y != 0]


def prices(files: Sequence[Path]) -> Iterator[Block]:
    """Logarithms: prices differ by factors."""
    for X, y in tables(files, target="price"):
        yield X, np.log(y)


def folds(path: Path, rows: int) -> Array:
    """For each row the split of which it is a test row, 0 to 9."""
    found = read_npy(path)
    if found.shape != (rows,) or found.dtype != np.uint8 or set(np.unique(found)) != set(range(FOLDS)):
        raise InputError(f"{path.name} must have {rows} numbers from 0 to {FOLDS - 1}; download it again")
    return found


def flights(files: Sequence[Path]) -> Iterator[Block]:
    """Month, day, hour and minute of departure, place of both airports, miles between them; minutes late at arrival."""
    (path,) = files
    with opened(path) as handle, np.load(io.BytesIO(handle.read()), allow_pickle=False) as arrays:
        times = [arrays[name] for name in ("month", "day", "hour", "minute")]
        origin, destination, delay = (arrays[name] for name in ("origin", "destination", "delay"))
        place, miles = arrays["airport_latlon"], arrays["distance"]
    for span in spans(len(delay), READ_ROWS):
        start, end = origin[span], destination[span]
        columns = [*(column[span] for column in times), place[start], place[end], miles[start, end]]
        yield np.column_stack(columns).astype(np.float32), delay[span].astype(np.float64)


def idx(files: Sequence[Path]) -> Iterator[Block]:
    """Image and label files alternate."""
    for images, labels in zip(files[::2], files[1::2], strict=True):
        X, y = read_idx(images), read_idx(labels)
        yield X.reshape(len(X), -1), y


def npz(files: Sequence[Path]) -> Iterator[Block]:
    for path in files:
        yield from checked(path, read_npz(path))


def cifar(files: Sequence[Path]) -> Iterator[Block]:
    """Available training batches, test images, and the labels of all training and test images."""
    *batches, test_images, train_labels, test_labels = files
    labels = read_npy(train_labels)
    for path in batches:
        start = 10_000 * (int(path.name.split(".")[0][-1]) - 1)
        yield read_npy(path).reshape(10_000, -1), labels[start : start + 10_000]
    yield read_npy(test_images).reshape(10_000, -1), read_npy(test_labels)


def efficientnet(files: Sequence[Path]) -> Iterator[Block]:
    """Features of the CIFAR-10 images: (q/255)² times the scale of the column, for bytes q."""
    *features, scale, train_labels, test_labels = files
    for q, y in cifar([*features, train_labels, test_labels]):
        yield np.square(np.divide(q, 255, dtype=np.float32)) * read_npy(scale), y


MAX_COLUMNS = 1_000_000  # a row of them is 8 MB


def libsvm_parts(files: Sequence[Path]) -> list[Iterator[Block]]:
    """Sparse text, converted to dense blocks; all files get the columns of the widest."""
    from sklearn.datasets import load_svmlight_files

    with ExitStack() as stack:
        handles = [stack.enter_context(opened(path)) for path in files]
        try:
            flat = load_svmlight_files(handles)
        except ValueError as error:
            raise InputError(
                f"{' or '.join(path.name for path in files)} is not a LIBSVM file ({in_short(error)}); "
                "its lines must be 'label index:value …'"
            ) from None
    columns = flat[0].shape[1]
    if columns > MAX_COLUMNS:
        raise InputError(f"{files[0].name} has {columns} columns, which are stored dense; the limit is {MAX_COLUMNS}")
    rows = max(1, CELLS_PER_CHUNK // columns)
    return [checked(path, dense(X, y, rows)) for path, X, y in zip(files, flat[::2], flat[1::2], strict=True)]


def dense(X: Any, y: Array, rows: int) -> Iterator[Block]:
    for i in range(0, len(y), rows):
        yield X[i : i + rows].toarray(), y[i : i + rows]


def libsvm(files: Sequence[Path]) -> Iterator[Block]:
    return chain.from_iterable(libsvm_parts(files))


def gisette(files: Sequence[Path]) -> Iterator[Block]:
    """Data and label files alternate."""
    for data, labels in zip(files[::2], files[1::2], strict=True):
        y = np.concatenate([y for _, y in read_table(labels, target=0)])
        start = 0
        for X, _ in read_table(data, target=None):
            yield X, y[start : start + len(X)]
            start += len(X)


def miniboo(files: Sequence[Path]) -> Iterator[Block]:
    """The first line has the numbers of signal (class 1) and background (class 0) rows that follow."""
    (path,) = files
    with opened(path) as handle:
        signal = int(handle.readline().split()[0])
    start = 0
    for X, _ in read_table(path, target=None, skip=1):
        yield X, (np.arange(start, start + len(X)) < signal).astype(np.int64)
        start += len(X)


def adult(files: Sequence[Path]) -> Iterator[Block]:
    """Numbers unchanged, words one-hot over the words of the training file ('?' is one of them)."""
    import pandas as pd

    frames = []
    for path in files:
        with opened(path) as handle:
            frames.append(pd.read_csv(handle, header=None, comment="|", skipinitialspace=True, na_filter=False))
    words = {j: sorted(frames[0][j].unique()) for j in ADULT_WORDS}
    for frame in frames:
        one_hot = [frame[[j]].to_numpy() == np.array(words[j], dtype=object) for j in ADULT_WORDS]
        X = np.hstack([frame[ADULT_NUMBERS].to_numpy(float), *one_hot])
        yield X, frame[14].str.rstrip(".").to_numpy(dtype=str)
