"""Frames on disk, indexed by the digest of their row, each row once, in batches.

Each batch is a file that is written atomically, so the frames are usable whenever the writer stops.
"""

import io
import logging
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.storage import digest, replace_file

log = logging.getLogger("rfbench")


def place(folder: Path, d: int, D: int, key: int, ones: float | None) -> Path:
    """The folder of the frames of a setting."""
    return folder / f"{d}x{D}-{key:016x}-{'half' if ones is None else repr(ones)}"


class Frames:
    """Counts of D outputs for the rows in the batches of a folder; only digests of the rows are stored."""

    def __init__(self, folder: Path, D: int) -> None:
        self.folder = folder
        self.record = np.dtype([("row", "<u8"), ("counts", "u1", (D,))])
        self.files: list[Path] = []
        self.rows = np.empty(0, np.uint64)  # digests, increasing
        self.places = np.empty((0, 2), np.int64)  # file and record of each
        for path in sorted(folder.glob("*.npy")):
            try:
                self._index(path, self._open(path)["row"])
            except (OSError, ValueError, EOFError) as error:
                log.warning("%s is damaged and ignored: %s", path, error)

    def _open(self, path: Path) -> Array:
        batch = np.load(path, mmap_mode="r")
        if batch.dtype != self.record:
            raise ValueError("frames of another number of outputs")
        return batch

    def _index(self, path: Path, rows: Array) -> None:
        rows, first = np.unique(rows, return_index=True)
        fresh = ~self.has(rows)
        at = np.searchsorted(self.rows, rows[fresh])
        places = np.column_stack([np.full(fresh.sum(), len(self.files)), first[fresh]])
        self.rows, self.places = np.insert(self.rows, at, rows[fresh]), np.insert(self.places, at, places, axis=0)
        self.files.append(path)

    def has(self, rows: Array) -> NDArray[np.bool_]:
        """Which of these digests have frames."""
        at = np.searchsorted(self.rows, rows)
        return self.rows[np.minimum(at, len(self.rows) - 1)] == rows if len(self.rows) else np.zeros(len(rows), bool)

    def read(self, rows: Array) -> NDArray[np.uint8]:
        """Counts of rows that have frames."""
        counts = np.empty((len(rows), self.record["counts"].shape[0]), np.uint8)
        files, records = self.places[np.searchsorted(self.rows, rows)].T
        for number in np.unique(files):
            here = files == number
            counts[here] = self._open(self.files[number])["counts"][records[here]]
        return counts

    def add(self, rows: Array, counts: NDArray[np.uint8]) -> None:
        """Write a batch; it is on disk when this returns."""
        batch = np.empty(len(rows), self.record)
        batch["row"], batch["counts"] = rows, counts
        content = io.BytesIO()
        np.save(content, batch)
        path = self.folder / f"{digest(rows)}.npy"
        replace_file(path, content.getvalue())
        self._index(path, rows)
