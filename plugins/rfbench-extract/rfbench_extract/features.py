"""rfbench data extract: rows of images → rows of features, in a file that an interrupted extraction resumes.

The file has its final name when it is complete.  Until then it ends in .part, and its length says how many rows it has.
The first batch is computed again to check that the part comes from the same network and images.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.formats.binary import read_npy
from rfbench.datasets.published.networks import DATASETS, LABELS, layer_of
from rfbench.datasets.store import write_header
from rfbench.progress import bar
from rfbench.storage import cache_dir, ensure_dir, replace_file
from rfbench_extract.pretrained import pretrained

BATCH = 32  # images: VGG16 takes 1 GB for them.  Fixed, because the last bits of the features may depend on it.


def write_dataset(model: str, layer: str, dtype: str, out: Path | None) -> str:
    """Write the features of all CIFAR-10 images in a layer of a network; return how to use them."""
    name, wanted = DATASETS[model], layer_of(model, layer, "--layer")
    path = (out or cache_dir() / "files") / name / f"{layer}.npy"
    if not path.is_file():
        network = pretrained(model, wanted, dtype)
        images = load({"name": "cifar10"}, data_dir=None, download=True)
        write_labels(images.y.read(0, images.y.shape[0]), ensure_dir(path.parent) / LABELS)
        write_features(network, images.X, path)
    n, d = read_npy(path).shape
    options = (f" dataset.layer={layer}" if layer != "final" else "") + (f" data_dir={out}" if out else "")
    return f"{path}: {n} rows of {d} columns; use it with rfbench dataset={name}{options}"


def write_labels(y: Array, path: Path) -> None:
    """Write one file for all layers."""
    if path.is_file() and not np.array_equal(read_npy(path), y):
        raise InputError(f"{path} has the labels of other images; delete {path.parent} and extract all layers again")
    content = io.BytesIO()
    np.save(content, y)
    replace_file(path, content.getvalue())


class Images(Protocol):
    """Rows of pixels, or images of any size."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def read(self, start: int, stop: int) -> Any: ...


def write_features(network: Callable[[Any], Array], images: Images, path: Path) -> None:
    """n images → (n, d) in single precision; rows that an earlier call has written are kept."""
    n, part = images.shape[0], path.with_name(f"{path.name}.part")
    first = network(images.read(0, min(BATCH, n))).astype(np.float32)
    header = io.BytesIO()
    write_header(header, first.dtype, (n, first.shape[1]))
    start = header.getvalue() + first.tobytes()
    done = rows_in(part, start, first)
    try:
        with part.open("r+b" if done else "wb") as file, bar(n, "extracting", " images", initial=done) as shown:
            if not done:
                file.write(start)
                done = len(first)
                shown.update(done)
            file.truncate(file.seek(len(start) + (done - len(first)) * first[0].nbytes))
            for span in spans(n, BATCH, done):
                file.write(network(images.read(span.start, span.stop)).astype(np.float32).tobytes())
                shown.update(span.stop - span.start)
        part.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write {part} ({error.strerror}); free space and rerun the command to resume"
        ) from None


def rows_in(part: Path, start: bytes, first: Array) -> int:
    """The number of rows of a partial file, in complete batches; 0 if its first batch is incomplete."""
    if not part.is_file() or part.stat().st_size < len(start):
        return 0
    with part.open("rb") as file:
        found, header = file.read(len(start)), len(start) - first.nbytes
    again = np.frombuffer(found[header:], np.float32).reshape(first.shape)
    # Not bit by bit: another number of threads may round differently.
    if found[:header] != start[:header] or not np.allclose(again, first, rtol=1e-3, atol=1e-3 * np.abs(first).max()):
        raise InputError(f"{part} comes from another network, dtype or other images; delete it and rerun")
    return (part.stat().st_size - header) // first[0].nbytes // BATCH * BATCH
