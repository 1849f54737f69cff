"""Where fetched and converted files are kept, and the rule that each of them is whole or absent."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rfbench.checks import InputError


def cache_dir() -> Path:
    """RFBENCH_CACHE, else rfbench/ in the user's cache directory."""
    if own := os.environ.get("RFBENCH_CACHE"):
        return Path(own).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rfbench"


def made(directory: Path) -> Path:
    """The directory, made if need be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory} cannot be made ({error.strerror}); set RFBENCH_CACHE elsewhere") from None
    return directory


@contextmanager
def whole(final: Path) -> Iterator[Path]:
    """A directory to fill, which appears under its final name complete or not at all."""
    with tempfile.TemporaryDirectory(prefix=".", dir=made(final.parent)) as scratch:
        part = Path(scratch, "part")
        part.mkdir()
        try:
            yield part
        except OSError as error:
            raise InputError(f"cannot write to {final.parent} ({error}); free space or set RFBENCH_CACHE") from None
        try:
            part.rename(final)
        except OSError:
            # Another process was first: its result is as good as ours.
            if not final.is_dir():
                raise


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Lets one process at a time fetch a set; the others wait and find it done."""
    with (made(cache_dir() / "locks") / name).open("w") as handle:
        try:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        except ImportError:
            pass
        yield
