"""Names for the columns of results.csv that tell jobs of a sweep apart."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from rfbench.config.compose import own_options
from rfbench.config.files import CONF, roots

NEVER_SHOWN = ("name", "base", "file", "sha256", "x", "y", "qk", "dump", "folder", "save")


def label(group: str, node: Mapping[str, Any]) -> str:
    """The name of a choice; in brackets its base sketch and the options that are not those of its YAML.

    optimized_maclaurin(rademacher), polynomial(bias=0.5), digits(prepare=[center, unit_norm])
    """
    defaults = default_options(group, str(node["name"]))
    base = [str(node["base"])] if "base" in node else []
    other = [f"{key}={_plain(node[key])}" for key in node if key not in NEVER_SHOWN and node[key] != defaults.get(key)]
    return with_options(str(node["name"]), base + other)


def with_options(name: str, options: list[str]) -> str:
    """name, or name(options); to a name that has options already they are added."""
    if not options:
        return name
    return f"{name[:-1]}, {', '.join(options)})" if name.endswith(")") else f"{name}({', '.join(options)})"


def _plain(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def default_options(group: str, name: str) -> Mapping[str, Any]:
    """Options of a choice before anybody changed them: those of its group, then its own."""
    files = (path for root in roots() if (path := root / group / f"{name}.yaml").exists())
    return _options(group, next(files, None))


@cache
def _options(group: str, file: Path | None) -> Mapping[str, Any]:
    node: Any = OmegaConf.merge(_shared().get(group, {}), own_options(file, group) if file else {})
    plain = OmegaConf.to_container(node, resolve=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items() if key != "defaults"}


@cache
def _shared() -> DictConfig:
    """The options that all choices of a group have."""
    shared = OmegaConf.load(CONF / "config.yaml")
    assert isinstance(shared, DictConfig)
    return shared
