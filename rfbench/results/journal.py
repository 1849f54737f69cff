"""A file that grows by one trial at a time, and a journal that says how far it is whole.

Each line of the journal has the length of the file after a trial and the digest of all bytes up to there.  A kill, a
full disk or a crash can only leave bytes after the last such length; they are not read and are overwritten.  Any other
change of the file is noticed.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

from rfbench.storage import append_file, replace_file


class Content(NamedTuple):
    data: bytes  # up to the last whole trial
    damaged: int  # line near which it is not what was written, or 0


def journal_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.sums")


def read_whole(path: Path) -> Content:
    """The whole trials of a file; all of it where it has no journal, as a joined table or a copy."""
    data = path.read_bytes() if path.exists() else b""
    if not journal_of(path).exists():
        return Content(data, 0)
    lines = [line.split() for line in journal_of(path).read_text(errors="replace").splitlines()]
    good = (line for line in lines if len(line) == 2 and line[0].isdecimal() and len(line[1]) == 64)  # others were cut
    records = [(size, digest) for size, digest in ((int(size), digest) for size, digest in good) if size <= len(data)]
    if not records:
        return Content(b"", 0)
    length, digest = records[-1]
    if hashlib.sha256(data[:length]).hexdigest() == digest:
        return Content(data[:length], 0)
    start, found = 0, hashlib.sha256()
    for length, digest in records:
        found.update(data[start:length])
        if found.hexdigest() != digest:
            break
        start = length
    return Content(data[: records[-1][0]], data.count(b"\n", 0, start) + 1)


class Journalled:
    """A file with a journal, open for one writer."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.size, self.sum = path, len(data), hashlib.sha256(data)

    def rewrite(self, data: bytes) -> None:
        """Replace the file; without a journal between the two steps it counts as whole, which it is."""
        journal_of(self.path).unlink(missing_ok=True)
        replace_file(self.path, data)
        self.size, self.sum = len(data), hashlib.sha256(data)
        replace_file(journal_of(self.path), self._record())

    def append(self, data: bytes) -> None:
        """Add a trial, which counts from the moment its record is complete."""
        append_file(self.path, data, self.size)
        self.size += len(data)
        self.sum.update(data)
        append_file(journal_of(self.path), self._record(), sync=False)

    def _record(self) -> bytes:
        return f"\n{self.size} {self.sum.hexdigest()}".encode()  # after a record that was cut, too
