"""Command-line words → composed configs, and Hydra's complaints in one line."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import fields
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from rfbench.checks import InputError, did_you_mean
from rfbench.config.files import CONF, choices, roots
from rfbench.config.identity import LATER
from rfbench.config.schema import Root
from rfbench.registry import GROUPS

# Words that people use for what has another name here.
SYNONYMS = {
    "": {"D": "features", "d": "dataset.columns", "p": "degree", "k": "degree", "n": "train_rows"},
    "task": {"regression": "ridge or gpr", "classification": "ridge, gpc or svm", "gp": "gpr or gpc", "mmd": "kid"},
    "kernel": {"rbf": "gaussian", "squared_exponential": "gaussian", "poly": "polynomial", "softmax": "exponential"},
    "sketch": {"fourier": "rff or orf", "countsketch": "tensorsketch", "performer": "favor", "none": "exact"},
}
MOST_OWNERS = 6  # choices that a message names
# The directory is named by a hash of the config, so it cannot be chosen.
RESERVED = ("hydra.run.dir", "hydra.sweep.dir", "hydra.sweep.subdir", "hydra.output_subdir", "hydra.job.chdir")

KEYS = frozenset(field.name for field in fields(Root))
PLUGINS = ("hydra._internal.core_plugins.", "hydra_plugins.")  # launchers and sweepers that are installed


def with_search_path(overrides: list[str]) -> list[str]:
    """The overrides, with all folders of configs on Hydra's search path."""
    more = ", ".join(quoted(f"file://{path}") for path in roots()[1:])
    if not more or any(word.startswith("hydra.searchpath") for word in overrides):
        return overrides
    return [*overrides, f"hydra.searchpath=[{more}]"]


def quoted(word: object) -> str:
    """A word as an override takes it, whatever characters it has; a backslash counts before a quote only."""
    escaped = re.sub(r"(\\*)(?='|$)", r"\1\1", str(word)).replace("'", "\\'").replace("${", "\\${")
    return f"'{escaped}'"


def with_plain_paths(overrides: list[str]) -> list[str]:
    """The overrides, with folders quoted: Hydra gives some characters of paths a meaning."""
    matches = (re.fullmatch(r"(data_dir|output_dir)=((?!null$|['\"$]).*)", word) for word in overrides)
    return [f"{found[1]}={quoted(found[2])}" if found else word for found, word in zip(matches, overrides, strict=True)]


@contextmanager
def composing() -> Iterator[None]:
    """Hydra knows our configs, and its complaints become one line."""
    from hydra import initialize_config_dir
    from hydra.errors import HydraException

    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            yield
    except (HydraException, OmegaConfBaseException, YAMLError, ValueError, OSError) as error:
        if isinstance(error, InputError) or (isinstance(error, OSError) and error.errno):
            raise
        raise InputError(in_one_line(error)) from None


def parsed(words: list[str]) -> list[Any]:
    """The overrides as Hydra understands them."""
    overrides = [parsed_word(word) for word in words]
    for override in overrides:
        key = override.key_or_group
        if override.is_add() and not key.startswith("hydra") and key not in known_keys():
            raise InputError(missing_key(key))  # +key=value that no config knows would have no effect
        if override.is_delete() and "." in key and not key.startswith("hydra"):
            raise InputError(f"'{override.input_line}': an option cannot be removed; give it a value")
        if key in GROUPS and isinstance(several := override.value(), list):
            all_of_them = ",".join(map(str, several))
            raise InputError(f"{key} takes one choice, and a list was given; for a sweep use -m {key}={all_of_them}")
        if key in RESERVED:
            raise InputError(f"'{key}' is set by rfbench: change the working directory instead")
    return overrides


@lru_cache(maxsize=4096)
def parsed_word(word: str) -> Any:
    """One override; jobs of a sweep share most of theirs."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    return OverridesParser.create().parse_overrides([word])[0]


def refuse_calls(config: DictConfig) -> DictConfig:
    """The config, unless it names code to run: Hydra calls every `_target_`, logging every class of a handler."""
    hydra = config.hydra
    named = {f"hydra.callbacks.{name}": callback for name, callback in (hydra.get("callbacks") or {}).items()}
    named |= {f"hydra.{name}": hydra.get(name) for name in ("launcher", "sweeper")}
    for key, node in [*named.items(), *((str(key), config[key]) for key in config if key != "hydra")]:
        for target in targets(OmegaConf.to_container(node) if OmegaConf.is_config(node) else node):
            if key not in ("hydra.launcher", "hydra.sweeper") or not target.startswith(PLUGINS):
                raise InputError(f"{key} names code to run (_target_={target}), which a config must not; remove it")
    for name in ("hydra_logging", "job_logging"):
        if set(hydra.get(name) or {}) & {"handlers", "formatters", "filters"}:
            raise InputError(f"hydra.{name} is set by rfbench; remove it")
    return config


def targets(node: Any) -> Iterator[str]:
    """Every `_target_` in a config."""
    if isinstance(node, dict):
        if "_target_" in node:
            yield str(node["_target_"])
        node = list(node.values())
    for one in node if isinstance(node, list) else ():
        yield from targets(one)


def compose_experiment(given: list[Any]) -> DictConfig:
    """The config of the experiment alone, with Hydra's part: its mode, its sweep and its sizes."""
    from hydra import compose

    needed = ("experiment", "size", "data_dir", "download")
    chosen = [o for o in given if o.key_or_group in needed or o.key_or_group.startswith("hydra")]
    words = [o.input_line for o in chosen if not o.is_sweep_override()]
    return refuse_calls(compose("config", words, return_hydra_config=True))


def combinations(words: list[str], multirun: bool) -> list[list[str]]:
    """The overrides of every job: in a sweep, every combination of choices."""

    def choices_of(override: Any) -> list[str]:
        if not override.is_sweep_override():
            return [override.input_line]
        if not multirun:
            raise InputError(f"'{override.input_line}' is a list of choices; add -m to run them all")
        return [f"{override.get_key_element()}={value}" for value in override.sweep_string_iterator()]

    with composing():
        return [list(job) for job in product(*map(choices_of, parsed(words)))]


def for_sweeper(words: list[str]) -> list[str]:
    """The words of a sweep as Hydra takes them: an option of a choice may exist in the jobs only.

    Before its first job Hydra composes a config without the swept words, in which `kernel.length_scale=1` may have no
    place; as a list of one choice it is left for the jobs.  A list cannot have null, which is added by force.
    """

    def word(o: Any) -> str:
        if "." not in o.key_or_group or o.key_or_group.startswith("hydra") or o.is_sweep_override():
            return str(o.input_line)
        if o.value() is None:
            return f"++{o.key_or_group}=null"
        return f"{o.get_key_element()}=choice({o.input_line.partition('=')[2]})"

    return [word(o) for o in parsed(words)]


class Composed(NamedTuple):
    """The config of a job."""

    words: list[str]  # without those for Hydra
    config: DictConfig  # the user's part
    hydra: DictConfig  # Hydra's part, which jobs of the same choices share


def compose_jobs(words: list[str], multirun: bool) -> list[DictConfig]:
    """The user's part of the config of every job."""
    compose_one = composer()
    return [compose_one(job).config for job in combinations(words, multirun)]


def composer() -> Callable[[list[str]], Composed]:
    """Composes the jobs of a sweep: what their choices make once, into which their values are put.

    A choice takes Hydra a tenth of a second, a value takes none; Hydra puts values in last, too, by the same function.
    """

    @cache
    def composed(choices: tuple[str, ...]) -> tuple[DictConfig, DictConfig]:
        config = compose_job(list(choices))
        return without_hydra(config), config.hydra

    def compose_one(words: list[str]) -> Composed:
        values = [override for override in parsed(words) if is_value(override)]
        lines = {override.input_line for override in values}
        config, hydra = composed(tuple(word for word in words if word not in lines))
        config = deepcopy(config)
        OmegaConf.set_struct(config, True)  # there are no other keys
        try:
            for override in values:
                OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
            OmegaConf.set_struct(config, None)
        except (OmegaConfBaseException, ValueError):
            config = without_hydra(compose_job(words))  # which says what is wrong
        return Composed([word for word in words if not word.startswith("hydra")], config, hydra)

    return compose_one


def is_value(override: Any) -> bool:
    """Whether an override is key=value, and no choice of a group, nor anything that only Hydra understands."""
    key, _, option = override.key_or_group.partition(".")
    changes = override.is_add() or override.is_force_add() or override.is_delete() or override.is_sweep_override()
    return key in KEYS and (option or key not in GROUPS) and not (changes or override.package)


def compose_job(words: list[str]) -> DictConfig:
    """The config of the overrides of one job, with Hydra's part."""
    from hydra import compose

    with composing():
        return refuse_calls(compose("config", words, return_hydra_config=True))


def missing_key(key: str) -> str:
    """Why there is no such key."""
    known, group = known_keys(), key.partition(".")[0]
    if key in known:
        others = f" ({' or '.join(owners)})" if 0 < len(owners := owners_of(key)) <= MOST_OWNERS else ""
        return f"'{key}' is an option of another {group} than the one chosen{others}; see rfbench --cfg job"
    if key in SYNONYMS[""]:
        return f"no '{key}' in the config; did you mean '{SYNONYMS[''][key]}'?"
    return f"no '{key}' in the config; {did_you_mean(key, known)}"


def owners_of(key: str) -> list[str]:
    """The choices that have an option: task=gpr for task.likelihood."""
    group, _, option = key.partition(".")
    files = (CONF / group).glob("*.yaml")
    return [f"{group}={path.stem}" for path in sorted(files) if option in own_options(path, group)]


def missing_choice(group: str, word: str) -> str:
    """Why there is no such choice, and which one is meant: of this group, of another one, or a file."""
    meant = SYNONYMS.get(group, {}).get(word.lower())
    others = [other for other in GROUPS if other not in (group, "experiment") and word in choices(other)]
    if group == "dataset" and (Path(word).suffix or os.path.isfile(word)):
        name = re.sub(r"\W", "_", Path(word).name.partition(".")[0]) or "mine"
        advice = f"to use a file of yours, rfbench data add {word} --name {name}"
    elif meant:
        advice = f"choose {meant}"
    elif others:
        advice = f"'{word}' is a {others[0]}: {others[0]}={word}"
    else:
        advice = did_you_mean(word, choices(group))
    return f"no '{group}/{word}'; {advice}"


def in_one_line(error: Exception) -> str:
    """What was wanted, what came, and the nearest choice."""
    from hydra.errors import MissingConfigException, OverrideParseException

    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return missing_choice(*str(error.missing_cfg_file).split("/", 1))
    if isinstance(error, OverrideParseException):
        return f"'{error.override}' is not of the form key=value; see rfbench --help"
    if match := re.search(r"[Cc]ould not override '([^']+)'", str(error)):
        return missing_key(match[1])
    if isinstance(error, OSError | UnicodeDecodeError) and (path := damaged_config()):  # they do not name it
        return f"{path} is damaged; correct it or delete it"
    return " ".join(re.sub(r"\w+ raised while composing config:", "", str(error)).split())


def damaged_config() -> Path | None:
    """A config file that is not ours and holds no keys."""
    for path in (path for root in roots()[1:] for path in sorted(root.rglob("*.yaml"))):
        try:
            assert isinstance(OmegaConf.load(path), DictConfig)
        except (AssertionError, YAMLError, OSError, ValueError):
            return path
    return None


def without_hydra(config: DictConfig) -> DictConfig:
    """The user's part of a config."""
    return OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])


@cache
def known_keys() -> list[str]:
    """Root keys, group names, and group.key of every option."""
    keys = set(GROUPS)
    for path in CONF.rglob("*.yaml"):
        group = path.relative_to(CONF).parts[0] if path.parent != CONF else ""
        if group != "experiment" and group in ("", *GROUPS):
            own = {str(key) for key in own_options(path, group)} - {"defaults", "hydra", "name"}
            keys |= {f"{group}.{key}" if group else key for key in own}
    return sorted(keys | {f"dataset.{key}" for key in ("threshold", *LATER["dataset"])})


@cache
def own_options(path: Path, group: str) -> DictConfig:
    """The options of a choice; a file that sets those of other groups too (`@package _global_`) names its own."""
    node = OmegaConf.load(path)
    assert isinstance(node, DictConfig)
    return node.get(group, node)
