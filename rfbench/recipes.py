"""Fitted objects as JSON and arrays in one NPZ file, and back.  Nothing is ever unpickled.

A frozen dataclass is its class and its fields; another object may have a method `recipe`, which returns the arguments
of its constructor.  A function is its name.  Names are looked up in the rooms below, and in plugins, only.
"""

import json
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from rfbench import __version__
from rfbench.arrays import Array
from rfbench.checks import InputError, in_short
from rfbench.registry import ENTRY_POINTS, entry_points
from rfbench.storage import UNREADABLE, atomic_file

FORMAT = 1  # of the file; raised when older ones cannot be read any more
ROOMS = tuple(f"rfbench.{room}" for room in ("datasets.prepare", "datasets.columns", "kernels", "sketches", "tasks"))
ROOMS += ("rfbench.linalg.spill",)
LIBRARIES = ("numpy", "scipy", "scikit-learn")


def write_recipe(path: Path, value: Any) -> None:
    """Write an object and the versions that made it; the file appears when it is complete."""
    arrays: dict[str, Array] = {}
    head = {"format": FORMAT, "versions": {"rfbench": __version__} | {name: version(name) for name in LIBRARIES}}
    text = json.dumps(head | {"value": encode(value, arrays)})
    with atomic_file(path) as file:
        np.savez(file, **{"recipe": np.array(text)} | arrays)  # type: ignore[arg-type]


def read_recipe(path: Path) -> Any:
    """The object in a file, or a line on why it cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            head = json.loads(str(arrays["recipe"]))
            if head["format"] != FORMAT:
                raise InputError(
                    f"{path} was saved by rfbench {head['versions']['rfbench']} and cannot be read by {__version__}; "
                    "run the command that saved it again with force=true"
                )
            return decode(head["value"], arrays)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"no model {path}") from None
    except (*UNREADABLE, ImportError) as error:
        raise InputError(f"{path} is damaged or of another version ({in_short(error)})") from None


def encode(value: Any, arrays: dict[str, Array]) -> Any:
    """The value as JSON; its arrays are added to the others under numbers."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        arrays[name := f"array{len(arrays)}"] = value
        return {"array": name}
    if isinstance(value, list):
        return [encode(one, arrays) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(one, arrays) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, arrays), encode(one, arrays)] for key, one in value.items()]}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, partial):
        return {"partial": encode(value.func, arrays), "arguments": encode(list(value.args), arrays)}
    if isinstance(value, type | FunctionType):
        return {"name": f"{value.__module__}:{value.__qualname__}"}
    if hasattr(value, "recipe"):
        parts = value.recipe()
    elif is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    else:
        raise TypeError(f"a {type(value).__name__} cannot be saved")
    return {"class": encode(type(value), arrays), "fields": {key: encode(one, arrays) for key, one in parts.items()}}


def decode(code: Any, arrays: Any) -> Any:
    """The inverse of `encode`."""
    if isinstance(code, list):
        return [decode(one, arrays) for one in code]
    if not isinstance(code, dict):
        return code
    if "class" in code:
        return decode(code["class"], arrays)(**{key: decode(one, arrays) for key, one in code["fields"].items()})
    if "partial" in code:
        return partial(decode(code["partial"], arrays), *decode(code["arguments"], arrays))
    ((kind, inside),) = code.items()
    if kind == "array":
        return arrays[inside]
    if kind == "tuple":
        return tuple(decode(inside, arrays))
    if kind == "dict":
        return {decode(key, arrays): decode(one, arrays) for key, one in inside}
    return np.dtype(inside) if kind == "dtype" else _named(inside)


def _named(word: str) -> Any:
    """The class or function of that name, if it and its module are ours or a plugin's."""
    module, _, name = word.partition(":")
    plugins = {point.value.partition(".")[0].partition(":")[0] for point in _plugins()}

    def known(module: str) -> bool:
        return module.startswith(ROOMS) or module.partition(".")[0] in plugins - {"rfbench"}

    if not known(module):
        raise ValueError(f"'{word}' is not a part of a model; is its plugin installed?")
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if not known(getattr(found, "__module__", "")) or not isinstance(found, type | FunctionType):
        raise ValueError(f"'{word}' is not a part of a model")
    return found


def _plugins() -> Any:
    return (point for group in ENTRY_POINTS.values() if group for point in entry_points(group=group))
