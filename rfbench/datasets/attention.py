"""Queries and keys of an attention head as a data set: keys are for training, queries for testing.

Rows are divided by d^¼, so that exp(⟨x, y⟩) of them is exp(QKᵀ/√d) [Wacker 2022, 1.3.2].
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError
from rfbench.datasets.base import Dataset, InMemory
from rfbench.seeds import rng_for
from rfbench.storage import checksum


def head_config(task: Mapping[str, Any]) -> dict[str, Any]:
    """The config of the data set that a task's options name: a head of a file, or drawn rows."""
    prepare = {"prepare": ["unit_norm"]} if task.get("normalize") else {}
    if not (file := task.get("file")):
        return {"name": "drawn", "qk": {key: task.get(key) for key in ("length", "columns", "spread")}, **prepare}
    path, head = Path(str(file)).expanduser().absolute(), task.get("head", 0)
    return {"name": f"{path.stem}-head{head}", "qk": {"file": str(path), "head": head}, **prepare}


def load_head(config: Mapping[str, Any]) -> Dataset:
    qk, digest = config["qk"], ""
    if "file" in qk:
        Q, K, _ = read_head(Path(qk["file"]), qk["head"])
        digest = checksum(Path(qk["file"]))[:12]
    else:
        shape, scale = (qk["length"], qk["columns"]), np.sqrt(qk["spread"])
        Q, K = (scale * rng_for(0, "attention", which).standard_normal(shape) for which in "QK")
    rows = np.concatenate((K, Q))
    labels = InMemory(np.broadcast_to(0.0, len(rows)))
    return Dataset(config["name"], InMemory(rows), labels, None, len(K), Q.shape[1] ** 0.25, digest)


def read_head(path: Path, head: int) -> tuple[Array, Array, Array | None]:
    """(Q, K, V) of one head; V may be absent."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in ("Q", "K", "V") if name in arrays}
    except (OSError, ValueError, zipfile.BadZipFile, TypeError, AttributeError) as error:
        raise InputError(f"task.file wants an .npz file with Q and K; {path} cannot be read ({error})") from None
    wanted = "of shape (tokens, columns) or (heads, tokens, columns)"
    if not {"Q", "K"} <= set(found):
        raise InputError(f"task.file wants an .npz file with Q and K {wanted}; {path.name} has not both")
    heads = {len(A) if A.ndim == 3 else 0 for A in found.values()}
    good = len(heads) == 1 and all(A.ndim in (2, 3) and A.dtype.kind in "biuf" and A.size for A in found.values())
    columns, tokens = ({found[a].shape[i] for a in names if a in found} for i, names in ((-1, "QK"), (-2, "KV")))
    if not good or len(columns) > 1 or len(tokens) > 1:
        shapes = ", ".join(f"{name} {A.shape}" for name, A in found.items())
        raise InputError(f"task.file wants numbers {wanted} that fit each other; {path.name} has {shapes}")
    (count,) = heads
    if count:
        if not 0 <= head < count:
            raise InputError(f"task.head must be from 0 to {count - 1}, the heads of {path.name}; {head} was given")
        found = {name: A[head] for name, A in found.items()}
    return found["Q"], found["K"], found.get("V")
