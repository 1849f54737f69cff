"""Small matrices that tasks show, each with its setting: maps.npz, posteriors.npz and grids.npz."""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, in_short
from rfbench.storage import UNREADABLE, replace_file

MAPS, POSTERIORS, GRIDS = "maps", "posteriors", "grids"


class PictureKey(NamedTuple):
    """The setting of a picture; kind is the name of its file."""

    kind: str
    dataset: str
    sketch: str
    features: int
    error: float
    kernel: str = ""


def keep_pictures(directory: Path, pictures: dict[PictureKey, Array]) -> None:
    """Add them to those in the directory."""
    for kind in dict.fromkeys(key.kind for key in pictures):
        ours = {key: A for key, A in pictures.items() if key.kind == kind}
        content = io.BytesIO()
        named: dict[str, Any] = {json.dumps(key): A for key, A in (read_pictures(directory, kind) | ours).items()}
        np.savez_compressed(content, **named)
        replace_file(directory / f"{kind}.npz", content.getvalue())


def read_pictures(directory: Path, kind: str) -> dict[PictureKey, Array]:
    path = directory / f"{kind}.npz"
    if not path.exists():
        return {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {PictureKey(*json.loads(key)): arrays[key] for key in arrays}
    except UNREADABLE as error:
        raise InputError(
            f"{path} is damaged ({in_short(error)}); delete it, and add force=true to draw it again"
        ) from None


def most_features(pictures: Iterable[PictureKey]) -> dict[tuple[str, str], PictureKey]:
    """(dataset, sketch) → its picture with the most features."""
    return {(key.dataset, key.sketch): key for key in sorted(pictures, key=lambda key: key.features)}
