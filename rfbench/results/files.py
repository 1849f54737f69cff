"""Files that are there whole or not at all."""

import os
from pathlib import Path

from rfbench.checks import InputError


def replace_file(path: Path, content: str | bytes) -> None:
    """Write beside the file and rename over it: a reader, a crash or a full disk never sees half of it."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True) if part.parent.is_dir() else None
        raise InputError(
            f"cannot write {path}: {error.strerror}; what was finished is kept, the same command goes on from there"
        ) from None
