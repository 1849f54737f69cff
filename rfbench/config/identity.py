"""Where results live: directories named by what determines the numbers.

outputs/<dataset-sketch-task>/<hash>/       a single run
outputs/<experiment>/jobs/<hash>/           a job of an experiment, whose joined table lies two levels up
outputs/sweep-<hash>/jobs/<hash>/           a job of a sweep
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# They change where and how a run is computed, or how much of it, but no number.
NOT_IDENTITY = (
    "seeds",
    "force",
    "data_dir",
    "download",
    "memory_limit",
    "block_rows",
    "engine",
    "plot",
    "size",
    "sizes",
)


def short_hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(_same(value), sort_keys=True, default=str).encode()).hexdigest()[:12]


def _same(value: Any) -> Any:
    """1 and 1.0 are the same number."""
    if isinstance(value, Mapping):
        return {key: _same(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_same(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def job_name(config: Mapping[str, Any]) -> str:
    return "-".join(str(config[group]["name"]) for group in ("dataset", "sketch", "task"))


def job_hash(config: Mapping[str, Any]) -> str:
    """The hash of all values that determine the numbers; whether models are saved does not."""
    found = {key: value for key, value in config.items() if key not in NOT_IDENTITY and value is not None}
    if isinstance(task := config.get("task"), Mapping):
        found["task"] = {key: value for key, value in task.items() if key != "save"}
    return short_hash(found)


def directories(configs: Iterable[Mapping[str, Any]], experiment: str | None, sweep: bool) -> tuple[Path, list[Path]]:
    """Where the table and the figure go, and the directory of each job."""
    configs, outputs = list(configs), Path.cwd() / "outputs"
    hashes = [job_hash(config) for config in configs]
    if not (experiment or sweep):
        single = outputs / job_name(configs[0]) / hashes[0]
        return single, [single]
    target = outputs / (experiment or f"sweep-{short_hash(sorted(set(hashes)))}")
    return target, [target / "jobs" / name for name in hashes]
