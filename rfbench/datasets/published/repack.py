"""Copies of published datasets in other formats, converted back to the published files.

The fingerprint of the dataset verifies that a copy has the same numbers.
"""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import IO

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError


def write_idx(path: Path, array: Array) -> None:
    head = b"\0\0\x08" + bytes([array.ndim]) + np.array(array.shape, ">i4").tobytes()
    path.write_bytes(head + np.ascontiguousarray(array, np.uint8).tobytes())


def mnist_csv(part: str) -> Callable[[IO[bytes], Path], None]:
    """Unpack a CSV with a header, then label and pixels in each line."""

    def unpack(source: IO[bytes], into: Path) -> None:
        import pandas as pd

        values = pd.read_csv(source, dtype=np.uint8).to_numpy()
        write_idx(into / f"{part}-labels-idx1-ubyte", values[:, 0])
        write_idx(into / f"{part}-images-idx3-ubyte", values[:, 1:].reshape(-1, 28, 28))

    return unpack


def reordered(file: str, order: Sequence[int], header: bool) -> Callable[[IO[bytes], Path], None]:
    """Unpack a CSV with its columns in another order; the text of the cells is kept."""

    def unpack(source: IO[bytes], into: Path) -> None:
        lines = source.read().decode().split("\n")[header:]
        rows = (line.strip().split(",") for line in lines if line.strip())
        (into / file).write_text("".join(",".join(row[j] for j in order) + "\n" for row in rows))

    return unpack


def sheet(file: str, decimals: Sequence[int]) -> Callable[[IO[bytes], Path], None]:
    """Unpack the numbers on the first sheet of an .xlsx file, rounded per column as in the published text."""

    def rounded(cell: bytes, k: int) -> str:
        return str(Decimal(str(float(cell))).quantize(Decimal(1).scaleb(-k), ROUND_HALF_UP))

    def unpack(source: IO[bytes], into: Path) -> None:
        with zipfile.ZipFile(io.BytesIO(source.read())) as book:
            xml = book.read("xl/worksheets/sheet1.xml")
        # Cells with words, such as the header, have a type t="s" and do not match.
        cells = re.findall(rb'<c r="[A-Z]+\d+"(?: s="\d+")?><v>([^<]+)</v>', xml)
        rows = zip(*[iter(cells)] * len(decimals), strict=True)
        lines = (" ".join(map(rounded, row, decimals)) for row in rows)
        (into / file).write_text("\n".join(lines) + "\n")

    return unpack


def fold_masks(source: IO[bytes], into: Path) -> None:
    """Unpack a gzipped CSV of 0 and 1 with a column for each split, in which the test rows are 1."""
    with gzip.open(source) as handle:
        masks = np.loadtxt(handle, delimiter=",", ndmin=2) != 0
    if not (masks.sum(1) == 1).all():
        raise InputError("a row is not a test row of exactly one split")
    np.save(into / "fold.npy", masks.argmax(1).astype(np.uint8))


def flights(source: IO[bytes], into: Path) -> None:
    """Unpack a Parquet file of dates, codes of airports, miles and delays, beside a table of the airports."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError("its file is Parquet; pip install pyarrow to read it") from None
    import pandas as pd

    frame = parquet.read_table(io.BytesIO(source.read())).to_pandas()
    codes = np.unique(frame[["origin", "destination"]].to_numpy(dtype="S3"))
    start, end = (np.searchsorted(codes, frame[name].to_numpy(dtype="S3")) for name in ("origin", "destination"))
    distance = np.zeros((len(codes), len(codes)), np.int16)
    distance[start, end] = frame["distance"]
    places = pd.read_csv(into / "airports.csv", index_col="iata")[["latitude", "longitude"]]
    columns = {name: getattr(frame["date"].dt, name) for name in ("month", "day", "hour", "minute")}
    columns |= {"origin": start, "destination": end}
    np.savez_compressed(
        into / "flights.npz",
        delay=frame["delay"].astype(np.int16),
        distance=distance,
        airport=codes,
        airport_latlon=places.loc[codes.astype(str)].to_numpy(np.float32),
        **{name: column.astype(np.uint8) for name, column in columns.items()},
    )


def cifar_binary(part: str) -> Callable[[IO[bytes], Path], None]:
    """Unpack records of a label and three colour planes; the labels of the batches are joined in order."""

    def unpack(source: IO[bytes], into: Path) -> None:
        records = np.frombuffer(source.read(), np.uint8).reshape(-1, 3073)
        np.save(into / f"{part}.npy", records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        labels = into / ("test_labels.npy" if part.startswith("test") else "train_labels.npy")
        before = [np.load(labels)] if labels.is_file() else []
        np.save(labels, np.concatenate([*before, records[:, 0]]))

    return unpack


def cifar_picture(part: str) -> Callable[[IO[bytes], Path], None]:
    """Unpack a picture with one image of 32 x 32 pixels per line."""

    def unpack(source: IO[bytes], into: Path) -> None:
        from PIL import Image

        np.save(into / f"{part}.npy", np.asarray(Image.open(source).convert("RGB")).reshape(-1, 32, 32, 3))

    return unpack


def json_labels(part: str) -> Callable[[IO[bytes], Path], None]:
    """Unpack a list of labels."""

    def unpack(source: IO[bytes], into: Path) -> None:
        np.save(into / f"{part}.npy", np.array(json.load(source), np.uint8))

    return unpack
