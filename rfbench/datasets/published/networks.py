"""Features of the CIFAR-10 images in networks trained on ImageNet: .npy files that `rfbench data extract` writes.

Layers are those of Ohana et al. 2019, Table 1: inner layers see the original images, final layers enlarged ones.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rfbench.checks import InputError, did_you_mean
from rfbench.datasets.base import Dataset, InMemory, OnDisk
from rfbench.datasets.formats.binary import read_npy
from rfbench.datasets.published.convert import directories
from rfbench.storage import digest

TEST_ROWS = 10_000  # the last ones
SAMPLE = 64  # rows in the digest: a file may be larger than memory
LABELS = "labels.npy"


class Layer(NamedTuple):
    module: str  # its output is the features
    side: int  # of the images in pixels; smaller ones are enlarged
    columns: int
    enlarge: str = "bicubic"


NETWORKS = {
    "resnet34": {
        "layer1": Layer("layer1", 32, 4096),
        "layer2": Layer("layer2", 32, 2048),
        "layer3": Layer("layer3", 32, 1024),
        "final": Layer("avgpool", 224, 512),
    },
    "alexnet": {
        "pool1": Layer("features.2", 32, 576),
        "pool2": Layer("features.5", 32, 192),
        "final": Layer("features", 224, 9216),
    },
    "vgg16": {
        "pool2": Layer("features.9", 32, 8192),
        "pool3": Layer("features.16", 32, 4096),
        "pool4": Layer("features.23", 32, 2048),
        "pool5": Layer("features.30", 32, 512),
        "final": Layer("features", 224, 25_088),
    },
    "inception": {"final": Layer("pool", 299, 2048, "bilinear")},  # of the Fréchet and Kernel Inception Distances
    "efficientnet_lite0": {"final": Layer("_avg_pooling", 128, 1280)},
}
DATASETS = {
    "resnet34": "cifar10_resnet34",
    "alexnet": "cifar10_alexnet",
    "vgg16": "cifar10_vgg16",
    "inception": "cifar10_inception",
    "efficientnet_lite0": "cifar10_efficientnet",  # also a published dataset
}
MODELS = {name: model for model, name in DATASETS.items()}


def layer_of(model: str, layer: str, key: str) -> Layer:
    """The layer of that name; `key` is the option that gave it."""
    if layer not in NETWORKS[model]:
        raise InputError(f"{key}: {model} has no layer '{layer}'; {did_you_mean(layer, NETWORKS[model])}")
    return NETWORKS[model][layer]


def found(name: str, layer: str, data_dir: str | None) -> Path | None:
    """The file of a layer, if the labels are beside it."""
    folders = (folder for folder in directories(name, data_dir) if (folder / LABELS).is_file())
    return next((path for folder in folders if (path := folder / f"{layer}.npy").is_file()), None)


def load_network(config: Mapping[str, Any], data_dir: str | None) -> Dataset:
    """Rows of the file itself, which is never copied: it may be larger than memory."""
    name, layer = config["name"], str(config.get("layer", "final"))
    columns = layer_of(MODELS[name], layer, "dataset.layer").columns
    path = found(name, layer, data_dir)
    if path is None:
        raise InputError(
            f"dataset '{name}': the files {layer}.npy and {LABELS} are missing; "
            f"run 'rfbench data extract --model {MODELS[name]} --layer {layer} --images cifar10', "
            f"put them into {directories(name, data_dir)[0]}, or use dataset=digits, which needs no file"
        )
    X, y = read_npy(path), read_npy(path.with_name(LABELS))
    n = len(y)
    if X.shape != (n, columns) or X.dtype.kind != "f" or y.shape != (n,) or y.dtype.kind not in "iu" or n <= TEST_ROWS:
        raise InputError(
            f"{path}: expected {columns} real numbers and a label in {LABELS} for more than {TEST_ROWS} images; "
            f"found {X.dtype} {X.shape} and {y.dtype} {y.shape}; extract them again"
        )
    content = digest(X.shape, X[:: max(n // SAMPLE, 1)], y)[:12]
    return Dataset(name, OnDisk(path), InMemory(y.astype(np.int64)), 10, n - TEST_ROWS, digest=content)
