"""Command-line words → composed configs, and Hydra's complaints in one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rfbench.checks import InputError, did_you_mean
from rfbench.storage import cache_dir

PACKAGE = Path(__file__).resolve().parent.parent
# Inside the package in a wheel, beside it in a checkout.
CONF = next(path for path in (PACKAGE / "conf", PACKAGE.parent / "conf") if (path / "config.yaml").exists())


# The directory is named by a hash of the config, so it cannot be chosen.
OURS = ("hydra.run.dir", "hydra.sweep.dir", "hydra.sweep.subdir", "hydra.output_subdir", "hydra.job.chdir")


def roots() -> list[Path]:
    """Folders of configs: ours, those of `rfbench data add`, and packages named by entry points in rfbench.conf."""
    plugins = [find_spec(point.value) for point in entry_points(group="rfbench.conf")]
    places = [Path(place) for spec in plugins if spec for place in spec.submodule_search_locations or ()]
    return [CONF, *(path for path in (cache_dir() / "conf", *places) if path.is_dir())]


def with_search_path(overrides: list[str]) -> list[str]:
    """The overrides, with all folders of configs on Hydra's search path."""
    more = ", ".join(quoted(f"file://{path}") for path in roots()[1:])
    if not more or any(word.startswith("hydra.searchpath") for word in overrides):
        return overrides
    return [*overrides, f"hydra.searchpath=[{more}]"]


def quoted(word: object) -> str:
    """A word as an override takes it, whatever characters it has."""
    escaped = str(word).replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\${")
    return f"'{escaped}'"


@contextmanager
def composing() -> Iterator[None]:
    """Hydra knows our configs, and its complaints are ours."""
    from hydra import initialize_config_dir
    from hydra.errors import HydraException

    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            yield
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(in_one_line(error)) from None


def parsed(words: list[str]) -> list[Any]:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create().parse_overrides(words)


def first_config(given: list[Any]) -> DictConfig:
    """What the overrides compose to without those that are lists of choices."""
    from hydra import compose

    one = [override.input_line or "" for override in given if not override.is_sweep_override()]
    return compose("config", one, return_hydra_config=True)


def compose_jobs(overrides: list[str], multirun: bool) -> tuple[list[DictConfig], bool]:
    """Every job of a command line with Hydra's part of the config, and whether it is a sweep."""
    from hydra import compose
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.types import RunMode

    with composing():
        given = parsed(overrides)
        for override in given:
            refuse_unknown_addition(override)
            if override.key_or_group in OURS:
                raise InputError(f"'{override.key_or_group}' is set by rfbench: change the working directory instead")
        first = first_config(given)
        if not multirun and first.hydra.mode != RunMode.MULTIRUN:
            if several := [o.input_line for o in given if o.is_sweep_override()]:
                raise InputError(f"'{several[0]}' is a list of choices; add -m to run them all")
            return [first], False
        swept = parsed([f"{key}={value}" for key, value in (first.hydra.sweeper.params or {}).items()])
        jobs = BasicSweeper.split_arguments([*swept, *given], None)[0]
        return [compose("config", job, return_hydra_config=True) for job in jobs], True


def refuse_unknown_addition(override: Any) -> None:
    """+key=value adds to a config; what no config knows would be silently without effect."""
    key = override.key_or_group
    if override.is_add() and not key.startswith("hydra") and key not in known_keys():
        raise InputError(missing(key))


def missing(key: str) -> str:
    """Why there is no such key."""
    known, group = known_keys(), key.partition(".")[0]
    if key in known:
        return f"'{key}' is an option of another {group} than the one chosen; see rfbench --cfg job"
    return f"no '{key}' in the config; {did_you_mean(key, known)}"


def in_one_line(error: Exception) -> str:
    """What was wanted, what came, and the nearest choice."""
    from hydra.errors import MissingConfigException, OverrideParseException

    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, word = str(error.missing_cfg_file).partition("/")
        return f"no '{group}/{word}'; {did_you_mean(word, choices(group))}"
    if isinstance(error, OverrideParseException):
        return f"'{error.override}' is not of the form key=value; see rfbench --help"
    if match := re.search(r"[Cc]ould not override '([^']+)'", str(error)):
        return missing(match[1])
    return " ".join(str(error).split())


def without_hydra(config: DictConfig) -> DictConfig:
    """The user's part of a config."""
    return OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])


def groups() -> list[str]:
    return sorted(path.name for path in CONF.iterdir() if path.is_dir())


def choices(group: str) -> dict[str, str]:
    """The options of a group with the first comment line of each."""
    found = {}
    for root in roots():
        folder = root / group
        for path in sorted(folder.rglob("*.yaml")) if folder.is_dir() else ():
            lines = [line.removeprefix("#").strip() for line in path.read_text(encoding="utf-8").splitlines()[:2]]
            about = lines[lines[0].startswith("@package")]
            found[path.relative_to(folder).with_suffix("").as_posix()] = about
    return found


def known_keys() -> list[str]:
    """Root keys, group names, and group.key of every option."""
    keys = set(groups())
    for path in CONF.rglob("*.yaml"):
        group = path.relative_to(CONF).parts[0] if path.parent != CONF else ""
        if group != "experiment":
            own = {str(key) for key in own_options(path, group)} - {"defaults", "hydra", "name"}
            keys |= {f"{group}.{key}" if group else key for key in own}
    return sorted(keys | {"dataset.threshold"})


def own_options(path: Path, group: str) -> DictConfig:
    """The options of a choice; a file that sets those of other groups too (`@package _global_`) names its own."""
    node = OmegaConf.load(path)
    assert isinstance(node, DictConfig)
    return node.get(group, node)
