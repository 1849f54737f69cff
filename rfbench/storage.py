"""The cache directory, atomic writes, locks and digests."""

import hashlib
import lzma
import os
import platform
import re
import shutil
import struct
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

from rfbench.checks import InputError, in_short, require_plain

# What NumPy, zipfile and decompressors raise where a file is not what it should be.
UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError, SyntaxError),
    *(TokenError, RuntimeError, MemoryError, BadZipFile, struct.error, zlib.error, lzma.LZMAError),
)
CLOCK = 2.0  # seconds by which the start of a process and the time of a file may differ
HOST = re.sub(r"[^\w-]", "_", platform.node()) or "host"  # several may share a cache


def cache_dir() -> Path:
    """RFBENCH_CACHE, else rfbench/ in the user's cache directory."""
    if own := os.environ.get("RFBENCH_CACHE"):
        require_plain("RFBENCH_CACHE", own)
        return Path(own).expanduser().absolute()
    try:
        found = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rfbench"
    except RuntimeError:
        raise InputError("this user has no home directory; set RFBENCH_CACHE to a directory for downloads") from None
    require_plain("the cache directory", str(found))
    return found


def ensure_dir(directory: Path) -> Path:
    """The directory, created if it does not exist."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create {directory} ({error.strerror}); set RFBENCH_CACHE to another place") from None
    return directory


@contextmanager
def scratch_dir(parent: Path) -> Iterator[Path]:
    """A directory that disappears in the end; if the process is killed, at the next call."""
    remove_leftovers(ensure_dir(parent))
    with tempfile.TemporaryDirectory(prefix=f".{HOST}.", suffix=f".{os.getpid()}", dir=parent) as scratch:
        yield Path(scratch)


def remove_leftovers(directory: Path, alone: bool = False) -> None:
    """Remove temporary files and directories of processes that were killed: .NAME.PID, .HOST.….PID.

    Where a lock says that no other process writes the directory, all of them are such, whoever has the number now.
    """
    for path in directory.glob(".*.*[0-9]"):
        if not is_temporary(path) or (path.is_dir() and not path.name.startswith(f".{HOST}.")):
            continue
        with suppress(OSError):  # another process was faster, or it is not ours
            if alone or not is_running(int(path.suffix[1:]), path.lstat().st_mtime):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def is_temporary(path: Path) -> bool:
    return path.name.startswith(".") and path.suffix[1:].isdecimal()


def sweep_cache() -> None:
    """Remove what killed processes left in the cache: a conversion may be as large as its dataset."""
    for pattern in (".", "arrays", "arrays/*", "own", "own/*", "conf/dataset", "references", "finished"):
        for folder in cache_dir().glob(pattern) if pattern != "." else [cache_dir()]:
            remove_leftovers(folder)


def is_running(pid: int, since: float) -> bool:
    """Whether the process that had this number at that time runs on, and is not this one.

    Numbers are given again: who started later has written nothing before.  Our own process has nothing unfinished when
    it looks for leftovers.  Tables, figures and tallies are written without the lock of a run, which would tell.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        alive = process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= since + CLOCK
    except (psutil.NoSuchProcess, OverflowError):
        return False
    return alive and pid != os.getpid()


@contextmanager
def atomic_dir(final: Path) -> Iterator[Path]:
    """A directory to fill, which gets its final name only when it is complete."""
    with scratch_dir(final.parent) as scratch:
        part = scratch / "part"
        part.mkdir()
        try:
            yield part
        except OSError as error:
            raise InputError(
                f"cannot write to {final.parent} ({in_short(error)}); free space or set RFBENCH_CACHE"
            ) from None
        try:
            part.rename(final)
        except OSError:
            # Another process was faster: its result is the same.
            if not final.is_dir():
                raise


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file that is never incomplete."""
    with atomic_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A temporary file to fill, which gets its final name when it is complete."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb", opener=not_through_links) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if not isinstance(error, OSError):
            raise
        raise cannot_write(path, error) from None


def append_file(path: Path, content: bytes, size: int | None = None, *, sync: bool = True) -> None:
    """Add to a file after its first `size` bytes, by default at its end; on failure it is as long as before."""
    try:
        with open(path, "ab", buffering=0, opener=not_through_links) as file:
            size = file.truncate(file.tell() if size is None else size)
            try:
                left = memoryview(content)
                while left:
                    left = left[file.write(left) :]
                if sync:
                    os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
    except OSError as error:
        raise cannot_write(path, error) from None


def not_through_links(path: str, flags: int) -> int:
    """For `open`: another user's symbolic link must not choose the file that is written."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def cannot_write(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {error.strerror}; finished work is kept, rerun the command to resume")


@contextmanager
def exclusive_lock(path: Path, busy: str = "") -> Iterator[None]:
    """Let one process at a time hold the lock; the others wait or, if `busy` is given, fail with this message.

    The system releases the lock when the process ends.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0 if busy else -1)  # follows no symbolic link
    try:
        lock.acquire()
    except Timeout:
        raise InputError(busy) from None
    except OSError as error:
        raise InputError(f"cannot lock {path}: {error.strerror}; remove it if it is a symbolic link") from None
    try:
        yield
    finally:
        lock.release()


def checksum(path: Path, kind: str = "sha256") -> str:
    """Checksum of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, kind).hexdigest()


def digest(*parts: Any) -> str:
    """Digest of arrays (their type, shape and bytes) and of other values (their repr)."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype} {part.shape} ".encode())
            found.update(np.ascontiguousarray(part).data.cast("B") if part.size else b"")
        else:
            found.update(f"{part!r} ".encode())
    return found.hexdigest()
