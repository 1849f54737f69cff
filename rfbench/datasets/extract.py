"""rfbench data extract: rows of images → rows of features, in a file that grows and is gone on with after a stop.

The file has its final name when it is whole.  Until then it ends in .part, and tells by its length how far it is; that
it is of the same network and images is seen by the first batch, which is computed again.
"""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rfbench.arrays import Array
from rfbench.blocks import spans
from rfbench.checks import InputError
from rfbench.datasets import load
from rfbench.datasets.base import Rows
from rfbench.datasets.formats.binary import read_npy
from rfbench.datasets.pretrained import pretrained
from rfbench.datasets.published.networks import DATASETS, LABELS, layer_of
from rfbench.datasets.store import write_header
from rfbench.progress import bar
from rfbench.storage import cache_dir, ensure_dir, replace_file

BATCH = 32  # images, of which VGG16 takes 1 GB; fixed, for the last bits of what a network gives may depend on it


def extract(model: str, layer: str, out: Path | None) -> str:
    """Features of all images of CIFAR-10 at hand by a layer of a network, as dataset=cifar10_… reads them."""
    name, wanted = DATASETS[model], layer_of(model, layer, "--layer")
    path = (out or cache_dir() / "files") / name / f"{layer}.npy"
    if not path.is_file():
        network = pretrained(model, wanted)
        images = load({"name": "cifar10"}, data_dir=None, download=True)
        write_labels(images.y.read(0, images.y.shape[0]), ensure_dir(path.parent) / LABELS)
        write_features(network, images.X, path)
    n, d = read_npy(path).shape
    options = (f" dataset.layer={layer}" if layer != "final" else "") + (f" data_dir={out}" if out else "")
    return f"{path}: {n} rows of {d} columns; use it by rfbench dataset={name}{options}"


def write_labels(y: Array, path: Path) -> None:
    """One file for all layers."""
    if path.is_file() and not np.array_equal(read_npy(path), y):
        raise InputError(f"{path} is of other images than those at hand; delete {path.parent} and extract it all again")
    content = io.BytesIO()
    np.save(content, y)
    replace_file(path, content.getvalue())


def write_features(network: Callable[[Array], Array], images: Rows, path: Path) -> None:
    """(n, pixels) → (n, d) in single precision; what an earlier call has done stays."""
    n, part = images.shape[0], path.with_name(f"{path.name}.part")
    first = network(images.read(0, min(BATCH, n))).astype(np.float32)
    head = io.BytesIO()
    write_header(head, first.dtype, (n, first.shape[1]))
    begun = head.getvalue() + first.tobytes()
    done = rows_in(part, begun, first)
    try:
        with part.open("r+b" if done else "wb") as file, bar(n - done, "images left", " images") as shown:
            if not done:
                file.write(begun)
                done = len(first)
                shown.update(done)
            file.truncate(file.seek(len(begun) + (done - len(first)) * first[0].nbytes))
            for span in spans(n, BATCH, done):
                file.write(network(images.read(span.start, span.stop)).astype(np.float32).tobytes())
                shown.update(span.stop - span.start)
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {part} ({error.strerror}); the same command goes on from where it is") from None


def rows_in(part: Path, begun: bytes, first: Array) -> int:
    """How many rows a file that was begun has, in whole batches; 0 where the first is not complete."""
    if not part.is_file() or part.stat().st_size < len(begun):
        return 0
    with part.open("rb") as file:
        there, start = file.read(len(begun)), len(begun) - first.nbytes
    again = np.frombuffer(there[start:], np.float32).reshape(first.shape)
    # Not bit by bit: another number of threads may round otherwise.
    if there[:start] != begun[:start] or not np.allclose(again, first, rtol=1e-3, atol=1e-3 * np.abs(first).max()):
        raise InputError(f"{part} is of another network or of other images; delete it and run again")
    return (part.stat().st_size - start) // first[0].nbytes // BATCH * BATCH
