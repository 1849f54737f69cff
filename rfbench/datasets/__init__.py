"""Datasets by name, looked up in this order: embedded, the user's files, the cache, the network."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from rfbench.checks import InputError, require_finite
from rfbench.datasets import own
from rfbench.datasets.attention import load_head
from rfbench.datasets.base import Dataset
from rfbench.datasets.embedded import load_embedded
from rfbench.datasets.generated.fields import load_five_gaussians, load_low_rank
from rfbench.datasets.generated.sinc import load_sinc
from rfbench.datasets.generated.synthetic import load_bits, load_synthetic
from rfbench.datasets.pair import load_pair
from rfbench.datasets.published.catalogue import CATALOGUE, EMBEDDED
from rfbench.datasets.published.convert import available_files, converted
from rfbench.datasets.published.fetch import fetch
from rfbench.datasets.published.networks import MODELS, found, load_network
from rfbench.datasets.published.sources import SOURCES
from rfbench.datasets.shifted import load_shifted
from rfbench.registry import entry_points, find

__all__ = ["GENERATED", "load", "names", "status"]

GENERATED = {
    "synthetic": load_synthetic,
    "bits": load_bits,
    "five_gaussians": load_five_gaussians,
    "low_rank": load_low_rank,
    "sinc": load_sinc,
}


def names() -> list[str]:
    """All datasets but the user's own."""
    return list(dict.fromkeys((*EMBEDDED, *CATALOGUE, *MODELS, *GENERATED, "shifted")))


def load(config: Mapping[str, Any], *, data_dir: str | None, download: bool) -> Dataset:
    """The dataset of a config, as published; the caller applies its `prepare`."""
    place = os.path.abspath(data_dir) if data_dir else None  # other processes may have another working directory
    source = json.dumps(dict(config), sort_keys=True, default=str), place, download
    return replace(_load(config, data_dir, download), source=source)


@lru_cache(maxsize=8)
def loaded_again(config: str, data_dir: str | None, download: bool, digest: str) -> Dataset:
    """The dataset that another process has loaded."""
    dataset = load(json.loads(config), data_dir=data_dir, download=download)
    if dataset.digest != digest:
        raise InputError(f"dataset '{dataset.name}' has other data here than where the run began; copy them from there")
    return dataset


def _load(config: Mapping[str, Any], data_dir: str | None, download: bool) -> Dataset:
    name = config["name"]
    if config.get("file"):
        return own.load_own(config)
    if "x" in config:
        return load_pair(config)
    if "qk" in config:
        return load_head(config)
    if name == "shifted":
        return load_shifted(config, lambda other: load({"name": other}, data_dir=data_dir, download=download))
    if name in GENERATED:
        for key, value in config.items():
            require_finite(f"dataset.{key}", value)
        return GENERATED[name](config)
    if name in EMBEDDED:
        return load_embedded(name)
    files = available_files(name, data_dir)
    if name in MODELS and not files:
        return load_network(config, data_dir)
    if name not in CATALOGUE:
        return find("dataset", name, dict.fromkeys(names()))(config)
    return converted(name, files or fetch(name, data_dir, download))


def status(name: str, data_dir: str | None) -> str:
    """Whether a dataset can be used now, judged by file names only."""
    if name in EMBEDDED:
        return "embedded"
    if name in (*GENERATED, "shifted"):
        return "generated"
    if available_files(name, data_dir) or (name in MODELS and found(name, "final", data_dir)):
        return "available"
    if name in MODELS:
        return "needs extraction"
    if name in CATALOGUE:
        return "downloadable" if name in SOURCES else "manual download"
    if own.recipe(name).is_file():
        return "own file"
    return "of a plugin" if name in {point.name for point in entry_points(group="rfbench.datasets")} else "unknown"
