"""Inception features of the images in a folder, for task.x and task.y of rfbench task=kid."""

from pathlib import Path

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.published.networks import layer_of
from rfbench.storage import checksum, digest
from rfbench_extract.features import write_features
from rfbench_extract.pretrained import pretrained

ENDINGS = (".bmp", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")


class Folder:
    """The images of a folder and of those inside it, in the order of their names."""

    def __init__(self, folder: Path) -> None:
        self.files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS)
        if not self.files:
            raise InputError(f"{folder} has no images; it needs files that end in {', '.join(ENDINGS)}")
        self.shape = (len(self.files),)

    def read(self, start: int, stop: int) -> list[Array]:
        """Images of (height, width, 3) bytes, each of its own size."""
        return [self._image(path) for path in self.files[start:stop]]

    def _image(self, path: Path) -> Array:
        from PIL import Image

        try:
            with Image.open(path) as image:
                return np.asarray(image.convert("RGB"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path} is not an image ({error}); remove it") from None

    def digest(self) -> str:
        return digest(*map(checksum, self.files))


def inception(folder: Path, cache: Path) -> Path:
    """The .npy file of the features of all images, computed if the cache does not have it."""
    images = Folder(folder)
    path = cache / f"inception-{images.digest()}.npy"
    if not path.is_file():
        write_features(pretrained("inception", layer_of("inception", "final", "--layer"), "float32"), images, path)
    return path
