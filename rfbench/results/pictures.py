"""maps.npz: small matrices that a task shows, each under the setting it belongs to."""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfbench.results.files import replace_file

FILE = "maps.npz"


class Setting(NamedTuple):
    """Where a picture belongs."""

    dataset: str
    sketch: str
    features: int
    error: float


def keep_pictures(directory: Path, pictures: dict[Setting, NDArray[Any]]) -> None:
    """Add to those that are there."""
    if pictures:
        content = io.BytesIO()
        named: dict[str, Any] = {json.dumps(key): A for key, A in (read_pictures(directory) | pictures).items()}
        np.savez_compressed(content, **named)
        replace_file(directory / FILE, content.getvalue())


def read_pictures(directory: Path) -> dict[Setting, NDArray[Any]]:
    if not (directory / FILE).exists():
        return {}
    with np.load(directory / FILE) as arrays:
        return {Setting(*json.loads(key)): arrays[key] for key in arrays}
