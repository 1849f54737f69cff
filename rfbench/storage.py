"""The cache directory, atomic writes, locks and digests."""

import hashlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

from rfbench import __version__
from rfbench.arrays import Array
from rfbench.checks import InputError


def cache_dir() -> Path:
    """RFBENCH_CACHE, else rfbench/ in the user's cache directory."""
    if own := os.environ.get("RFBENCH_CACHE"):
        return Path(own).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rfbench"


def ensure_dir(directory: Path) -> Path:
    """The directory, created if it does not exist."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create {directory} ({error.strerror}); set RFBENCH_CACHE to another place") from None
    return directory


@contextmanager
def atomic_dir(final: Path) -> Iterator[Path]:
    """A directory to fill, which gets its final name only when it is complete."""
    with tempfile.TemporaryDirectory(prefix=".", dir=ensure_dir(final.parent)) as scratch:
        part = Path(scratch, "part")
        part.mkdir()
        try:
            yield part
        except OSError as error:
            raise InputError(f"cannot write to {final.parent} ({error}); free space or set RFBENCH_CACHE") from None
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
        with open(part, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if not isinstance(error, OSError):
            raise
        raise InputError(
            f"cannot write {path}: {error.strerror}; finished work is kept, rerun the command to resume"
        ) from None


@contextmanager
def exclusive_lock(path: Path, busy: str = "") -> Iterator[None]:
    """Let one process at a time hold the lock; the others wait or, if `busy` is given, fail with this message.

    The system releases the lock when the process ends.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0 if busy else -1)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(busy) from None
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
            found.update(np.ascontiguousarray(part).data.cast("B"))
        else:
            found.update(f"{part!r} ".encode())
    return found.hexdigest()


def cached(name: str, depends_on: tuple[Any, ...], make: Callable[[], tuple[Array, ...]]) -> tuple[Array, ...]:
    """The result of `make`, from the cache if the same version has computed it from the same values."""
    path = cache_dir() / "references" / f"{name}-{digest(name, __version__, *depends_on)}.npz"
    with suppress(OSError, ValueError, BadZipFile, EOFError), np.load(path) as found:
        return tuple(found[key] for key in found.files)
    arrays = make()
    content = io.BytesIO()
    np.savez(content, *arrays)
    with suppress(InputError):  # go on without a cache that cannot be written
        replace_file(path, content.getvalue())
    return arrays
