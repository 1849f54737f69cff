"""Queries and keys of an attention head as a dataset: keys are training rows, queries are test rows.

Rows are divided by d^¼, so that exp(⟨x, y⟩) of them is exp(QKᵀ/√d) [Wacker 2022, 1.3.2].
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.checks import InputError, in_short, require
from rfbench.datasets.base import Dataset, InMemory
from rfbench.seeds import rng_for
from rfbench.storage import UNREADABLE, checksum


def head_config(task: Mapping[str, Any]) -> dict[str, Any]:
    """The config of the dataset that the task's options describe: a head of a file, or random rows."""
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
    """(Q, K, V) of one head; V is None where the file has none."""
    layout = "of shape (tokens, columns) or (heads, tokens, columns)"
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in ("Q", "K", "V") if name in file}
    except UNREADABLE as error:
        raise InputError(
            f"task.file must be an .npz file with Q and K; cannot read {path} ({in_short(error)})"
        ) from None
    if not {"Q", "K"} <= set(arrays):
        raise InputError(f"task.file must be an .npz file with Q and K {layout}; {path.name} lacks one of them")
    shapes = ", ".join(f"{name} {A.shape}" for name, A in arrays.items())
    arrays = {name: A[None] if A.ndim == 2 else A for name, A in arrays.items()}  # one head
    Q, K, V = arrays["Q"], arrays["K"], arrays.get("V")
    numeric = all(A.ndim == 3 and A.dtype.kind in "biuf" and A.size for A in arrays.values())
    if not numeric or Q.shape[::2] != K.shape[::2] or (V is not None and V.shape[:2] != K.shape[:2]):
        raise InputError(f"task.file must have numbers {layout} that fit each other; {path.name} has {shapes}")
    require(0 <= head < len(K), "task.head", f"from 0 to {len(K) - 1}, the heads of {path.name}", head)
    return Q[head], K[head], None if V is None else V[head]
