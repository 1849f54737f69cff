"""What an experiment adds to a command line: the overrides of its size, and of its data sets those that are at hand."""

from typing import Any

from omegaconf import DictConfig, OmegaConf

from rfbench.checks import InputError, require
from rfbench.config.compose import composing, first_config, parsed
from rfbench.datasets import load, status

SIZES = ("quick", "normal", "full")


def completed(overrides: list[str]) -> tuple[list[str], list[str]]:
    """The overrides with those of the experiment's size, and what its caption tells: what is smaller or missing."""
    if not any(word.startswith("experiment=") for word in overrides):
        return overrides, []
    with composing():
        given = parsed(overrides)
        first = first_config(given)
    require(first.size in SIZES, "size", "quick, normal or full", first.size)
    mine = {override.key_or_group for override in given}
    added = {key: value for key, value in (first.sizes.get(first.size) or {}).items() if key not in mine}
    swept = dict(first.hydra.sweeper.params or {}) | added
    notes = smaller(first, swept, mine) if first.size != "full" else []
    if "dataset" in swept and "dataset" not in mine:
        names = [name.strip() for name in str(swept["dataset"]).split(",")]
        missing = {name: reason for name in names if (reason := absence(name, first))}
        if len(missing) == len(names):
            raise InputError(f"none of its data sets is at hand: {next(iter(missing.values()))}")
        if missing:
            added["dataset"] = ",".join(name for name in names if name not in missing)
            notes.append(f"not at hand: {', '.join(missing)}")
    return [*overrides, *(f"{key}={_word(value)}" for key, value in added.items())], notes


def smaller(first: DictConfig, swept: dict[str, Any], mine: set[str]) -> list[str]:
    """What the paper has more of, as in `seeds 3 (paper: 10)`."""
    wanted = {key: value for key, value in (first.sizes.get("full") or {}).items() if key not in mine}
    now = {key: swept.get(key, OmegaConf.select(first, key)) for key in wanted}
    words = {key: [_word(one).replace("null", "all") for one in (now[key], value)] for key, value in wanted.items()}
    told = [f"{key} {ours} (paper: {theirs})" for key, (ours, theirs) in words.items() if ours != theirs]
    return [", ".join(told)] if told else []


def absence(name: str, config: DictConfig) -> str:
    """Why a data set cannot be used, or nothing."""
    if status(name, config.data_dir) in ("embedded", "generated", "own file"):
        return ""
    try:
        load({"name": name}, data_dir=config.data_dir, download=config.download)
    except InputError as error:
        return str(error)
    return ""


def _word(value: Any) -> str:
    """As an override takes it."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return "null" if value is None else str(value)
    return f"[{','.join(map(str, value))}]"
