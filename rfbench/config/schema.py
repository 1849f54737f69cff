"""YAML → plain values: every key known and every type checked, before anything runs."""

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rfbench.arrays import padded
from rfbench.checks import InputError, did_you_mean, require, require_finite
from rfbench.registry import GROUPS


@dataclass
class Root:
    """The keys of a config and their types; the groups are typed by the classes they name."""

    dataset: dict[str, Any] = field(default_factory=dict)
    kernel: dict[str, Any] = field(default_factory=dict)
    sketch: dict[str, Any] = field(default_factory=dict)
    task: dict[str, Any] = field(default_factory=dict)
    engine: dict[str, Any] = field(default_factory=dict)
    opu: dict[str, Any] | None = None
    meter: dict[str, Any] | None = None
    degree: int = 3
    features: Any = "2d"
    seeds: Any = 5
    train_rows: int | None = None
    dtype: str = "float32"
    block_rows: int = 256
    output_dir: str = "outputs"
    data_dir: str | None = None
    download: bool = True
    memory_limit: str | None = None
    shard: str | None = None
    costs: bool | None = None
    force: bool = False
    plot: Any = None
    spread: str = "std"
    size: str = "normal"
    sizes: dict[str, Any] = field(default_factory=dict)


def typed(config: DictConfig) -> dict[str, Any]:
    """The config as plain values; an unknown key or a wrong type is refused in one line."""
    known = [f.name for f in fields(Root)]
    for key in map(str, config):
        if key not in known:
            raise InputError(f"no '{key}' in the config; {did_you_mean(key, known)}")
    for group in (name for name in GROUPS if name != "experiment"):
        if not isinstance(config.get(group), DictConfig) or "name" not in config[group]:
            raise InputError(
                f"{group} must be one of the choices that rfbench list shows; {config.get(group)} was given"
            )
        name = config[group].get("name")
        require(isinstance(name, str), f"{group}.name", "a word", name)
    try:
        plain = OmegaConf.to_container(OmegaConf.merge(_schema(), config), resolve=True)
    except OmegaConfBaseException as error:
        raise InputError(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    assert isinstance(plain, dict)
    for group in ("opu", "meter"):  # an absent device does not change the name of a directory
        plain[group] = None if plain[group]["name"] == "none" else plain[group]
    return {str(key): value for key, value in plain.items()}


@cache
def _schema() -> DictConfig:
    return OmegaConf.structured(Root)  # type: ignore[no-any-return]


def feature_count(given: int | str, d: int) -> int:
    """ "2d" is twice the next power of two of the number of data columns, before a bias is appended."""
    if isinstance(given, int):
        return given
    count, h = float(given[:-1]) * padded(d), padded(d)
    require_finite("features", count)
    require(count >= 1 and count == int(count), "features", f"a whole number ({given} of {h} is {count:g})", given)
    return int(count)
