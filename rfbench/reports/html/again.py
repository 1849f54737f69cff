"""The command that makes a line of a table again, from the config of its run."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from rfbench.checks import InputError
from rfbench.config.compose import quoted
from rfbench.config.files import CONF
from rfbench.config.labels import default_options
from rfbench.kernels import KERNELS
from rfbench.registry import find
from rfbench.tasks import TASKS

GROUPS = ("dataset", "kernel", "sketch", "task", "opu", "meter")
DEFAULTS = {"train_rows": None, "dtype": "float32"}


def command(config: Mapping[str, Any], features: Any = None) -> str:
    """Every choice by its name, the options that differ from its YAML, and the numbers; `features` of one line."""
    words = [word for group in GROUPS for word in _choice(config, group)]
    if has_degree(config["kernel"]["name"]):
        words.append(f"degree={config['degree']}")
    words.append(f"features={_word(features or config['features'])}")
    words.append(f"seeds={_word(config['seeds'])}")
    words += [f"{key}={_word(config[key])}" for key, default in DEFAULTS.items() if config.get(key, default) != default]
    return shlex.join(["rfbench", *words])


def has_degree(kernel: str) -> bool:
    """Whether a kernel has a degree, as one that is no longer installed may have."""
    try:
        return "degree" in find("kernel", kernel, KERNELS).__dataclass_fields__
    except InputError:
        return True


def _choice(config: Mapping[str, Any], group: str) -> Iterator[str]:
    """group=name group.option=value …; options that depend on the task are always there."""
    node = config.get(group)
    if not node or (group == "dataset" and _own_rows(config["task"])):
        return
    yield f"{group}={node['name']}"
    paired = CONF / f"task_{group}" / f"{config['task']['name']}_{node['name']}.yaml"
    before = {} if paired.exists() else default_options(group, str(node["name"]))
    missing = object()
    for key, value in node.items():
        if key != "name" and before.get(key, missing) != value:
            yield f"{group}.{key}={_word(value)}"


def _own_rows(task: Mapping[str, Any]) -> bool:
    """Whether the options of the task name the rows, so that a dataset would be refused."""
    try:
        return bool(find("task", task["name"], TASKS).data(task))
    except InputError:  # of a plugin that is not installed
        return False


def _word(value: Any) -> str:
    """A value as Hydra reads it back."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_word(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return f"[{','.join(map(_word, value))}]"
    if isinstance(value, str):
        simple = value.replace("_", "").replace("/", "").replace(".", "").replace("-", "").isalnum()
        return value if simple and yaml.safe_load(value) == value else quoted(value)
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
