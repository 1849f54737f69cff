"""What is computed once: in memory for the jobs of a command, on disk for other commands and processes.

Keys are digests of all that a value depends on, so nothing in the cache is ever wrong; it may only be missing.
"""

import io
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rfbench import __version__
from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.memory import arrays_of
from rfbench.storage import UNREADABLE, cache_dir, digest, ensure_dir, exclusive_lock, remove_leftovers, replace_file

IN_MEMORY, ON_DISK = 1 << 28, 1 << 31  # bytes
V = TypeVar("V")


class Memory:
    """Values by the digest of what they depend on, those used last up to a number of bytes."""

    def __init__(self, most: int = IN_MEMORY) -> None:
        self.most, self.values = most, OrderedDict[str, tuple[Any, int]]()

    def get(self, depends_on: tuple[Any, ...], make: Callable[[], V]) -> V:
        """The value, made if it is not there."""
        key = digest(*depends_on)
        if key in self.values:
            self.values.move_to_end(key)
            value: V = self.values[key][0]
            return value
        value = make()
        self.values[key] = value, sum(arrays_of(value).values())
        while sum(size for _, size in self.values.values()) > self.most:
            self.values.popitem(last=False)
        return value

    def clear(self) -> None:
        self.values.clear()


kept = Memory()  # of one command, whose data do not change


def cached(name: str, depends_on: tuple[Any, ...], make: Callable[[], tuple[Array, ...]]) -> tuple[Array, ...]:
    """The result of `make`, from memory or from the disk if the same version has computed it from the same values."""
    key = digest(name, __version__, *depends_on)
    return kept.get((key,), lambda: _from_disk(cache_dir() / "references" / f"{name}-{key}.npz", make))


def _from_disk(path: Path, make: Callable[[], tuple[Array, ...]]) -> tuple[Array, ...]:
    """From a file, or made by the first process that asks, while others that want the same wait for it."""
    if (found := _read(path)) is not None:
        return found
    with _turn(path.with_suffix(".lock")):
        if (found := _read(path)) is not None:
            return found
        arrays = make()
        content = io.BytesIO()
        np.savez(content, *arrays)
        with suppress(InputError):  # go on without a cache that cannot be written
            replace_file(path, content.getvalue())
            trim(path.parent, ON_DISK)
        return arrays


def _read(path: Path) -> tuple[Array, ...] | None:
    with suppress(*UNREADABLE), np.load(path) as found:
        arrays = tuple(found[key] for key in found.files)
        os.utime(path)  # used now
        return arrays
    return None


@contextmanager
def _turn(lock: Path) -> Iterator[None]:
    """One process at a time, where the folder can be written; the lock goes when it is free."""
    turn = exclusive_lock(lock)
    try:
        ensure_dir(lock.parent)
        turn.__enter__()
    except InputError:
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):  # on Windows a lock that is held stays
            lock.unlink(missing_ok=True)  # who waits for it looks for the result first
        turn.__exit__(None, None, None)


def trim(folder: Path, most: int) -> None:
    """Remove what killed processes left, and the files that were not used for the longest time until the others have
    at most this many bytes."""
    remove_leftovers(folder)
    with suppress(OSError):  # another process removes them, too
        files = sorted(((path.stat(), path) for path in folder.iterdir()), key=lambda one: one[0].st_mtime_ns)
        total = sum(stat.st_size for stat, _ in files)
        for stat, path in files:
            if total <= most:
                return
            path.unlink()
            total -= stat.st_size
