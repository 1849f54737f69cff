"""Small matrices that a task shows, each under the setting it belongs to: maps.npz, posteriors.npz, grids.npz."""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfbench.storage import replace_file

MAPS, POSTERIORS, GRIDS = "maps", "posteriors", "grids"


class PictureKey(NamedTuple):
    """Where a picture belongs; kind is the name of its file."""

    kind: str
    dataset: str
    sketch: str
    features: int
    error: float
    kernel: str = ""


def keep_pictures(directory: Path, pictures: dict[PictureKey, NDArray[Any]]) -> None:
    """Add to those that are there."""
    for kind in dict.fromkeys(key.kind for key in pictures):
        ours = {key: A for key, A in pictures.items() if key.kind == kind}
        content = io.BytesIO()
        named: dict[str, Any] = {json.dumps(key): A for key, A in (read_pictures(directory, kind) | ours).items()}
        np.savez_compressed(content, **named)
        replace_file(directory / f"{kind}.npz", content.getvalue())


def read_pictures(directory: Path, kind: str) -> dict[PictureKey, NDArray[Any]]:
    path = directory / f"{kind}.npz"
    if not path.exists():
        return {}
    with np.load(path) as arrays:
        return {PictureKey(*json.loads(key)): arrays[key] for key in arrays}
