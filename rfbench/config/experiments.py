"""What an experiment adds to a command line: its sweep and the overrides of its size."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from omegaconf import DictConfig, OmegaConf

from rfbench.checks import InputError, require
from rfbench.config.compose import compose_experiment, composing, parsed

SIZES = ("quick", "normal", "full")


@dataclass(frozen=True)
class Plan:
    """The overrides of a command line, completed."""

    words: list[str]
    multirun: bool
    experiment: str | None
    datasets: list[str]  # of the experiment's own sweep; missing ones are left out
    data_dir: str | None
    download: bool
    notes: list[str]  # for the caption: what is smaller than in the paper

    def without(self, missing: Collection[str]) -> "Plan":
        """The plan without some of the experiment's datasets."""
        left = [name for name in self.datasets if name not in missing]
        words = [f"dataset={','.join(left)}" if word.startswith("dataset=") else word for word in self.words]
        notes = [*self.notes, f"missing datasets: {', '.join(missing)}"]
        return replace(self, words=words, datasets=left, notes=notes)


def plan(overrides: list[str], multirun: bool) -> Plan:
    """Put the sweep of the experiment and of its size before the user's own words, which win."""
    from hydra.types import RunMode

    with composing():
        given = parsed(overrides)
        for override in given:
            if override.key_or_group == "experiment" and override.is_sweep_override():
                raise InputError(f"'{override.input_line}': each experiment is a sweep of its own; run one at a time")
        if not any(asks_more(override.key_or_group) for override in given):
            size = next((override.value() for override in reversed(given) if override.key_or_group == "size"), "normal")
            require_size(size, None)
            return Plan(overrides, multirun, None, [], None, True, [])
        config = compose_experiment(given)
    require_size(config.size, config.hydra.runtime.choices.get("experiment"))
    mine = {override.key_or_group for override in given}
    swept = dict(config.hydra.sweeper.params or {}) | dict(config.sizes.get(config.size) or {})
    added = {key: value for key, value in swept.items() if key not in mine}
    names = str(added["dataset"]).split(",") if "dataset" in added else []
    words = [*(f"{key}={as_word(value)}" for key, value in added.items()), *overrides]
    return Plan(
        [*words, "hydra.sweeper.params=null"] if config.hydra.sweeper.params else words,
        multirun or config.hydra.mode == RunMode.MULTIRUN,
        config.hydra.runtime.choices.get("experiment"),
        [name.strip() for name in names],
        config.data_dir,
        config.download,
        smaller(config, swept, mine) if config.size != "full" else [],
    )


def asks_more(key: str) -> bool:
    """Whether a key may bring other words than those of the command line."""
    return key == "experiment" or (key.startswith("hydra") and key != "hydra.searchpath")


def require_size(size: Any, experiment: str | None) -> None:
    require(size in SIZES, "size", "quick, normal or full", size)
    if size != "normal" and not experiment:
        raise InputError(f"size={size} has no effect without an experiment; add experiment=…, or remove it")


def smaller(config: DictConfig, swept: dict[str, Any], mine: set[str]) -> list[str]:
    """What is smaller than in the paper, as in `seeds 3 (paper: 10)`."""
    wanted = {key: value for key, value in (config.sizes.get("full") or {}).items() if key not in mine}
    now = {key: swept.get(key, OmegaConf.select(config, key)) for key in wanted}
    words = {key: [as_word(one).replace("null", "all") for one in (now[key], value)] for key, value in wanted.items()}
    differ = [f"{key} {ours} (paper: {theirs})" for key, (ours, theirs) in words.items() if ours != theirs]
    return [", ".join(differ)] if differ else []


def as_word(value: Any) -> str:
    """A value as an override takes it."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return "null" if value is None else str(value)
    return f"[{','.join(map(str, value))}]"
