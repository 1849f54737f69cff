"""Files on disk: plain, .gz or .xz, refused in one line if they cannot be read."""

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rfbench.checks import InputError, in_short

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}


def find(directory: Path, file: str) -> Path | None:
    """The file in the directory, compressed or not."""
    for suffix in ("", *OPENERS):
        if (path := directory / (file + suffix)).is_file():
            return path
    return None


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The content, decompressed as it is read."""
    try:
        with OPENERS.get(path.suffix, open)(path, "rb") as handle:
            yield handle
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise InputError(f"cannot read {path} ({in_short(error)}); download or copy it again") from None
