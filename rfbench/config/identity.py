"""Where results live: directories named by what determines the numbers, below output_dir.

outputs/<dataset-sketch-task>/<hash>/       a single run
outputs/<experiment>/jobs/<hash>/           a job of an experiment, whose joined table lies two levels up
outputs/sweep-<hash>/jobs/<hash>/           a job of a sweep
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rfbench.checks import InputError, in_short, require_plain

# They change where and how a run is computed, or how much of it, but no number.
NOT_IDENTITY = (
    "seeds",
    "force",
    "output_dir",
    "data_dir",
    "download",
    "memory_limit",
    "block_rows",
    "engine",
    "shard",
    "plot",
    "spread",
    "size",
    "sizes",
)
# Options that came later: at these values they do not rename the directories of earlier runs.
LATER: dict[str, dict[str, Any]] = {
    "dataset": {
        "split": "default",
        "test_fraction": 0.1,
        "split_seed": None,
        "prepare_on": "train",
        "target": "as_published",
    },
    "task": {"order": "random", "intercept": False, "off_diagonal": False},
}


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
    for group, later in LATER.items():
        if isinstance(node := config.get(group), Mapping):
            found[group] = {key: value for key, value in node.items() if key not in later or value != later[key]}
    if isinstance(task := found.get("task"), dict):
        task.pop("save", None)
    if isinstance(dataset := found.get("dataset"), dict) and "file" in dataset:
        dataset["file"] = Path(dataset["file"]).name  # your own dataset: its content, in the cache of any machine
    return short_hash(found)


def results_dir(config: Mapping[str, Any]) -> Path:
    """The folder for results."""
    given = str(config["output_dir"])
    require_plain("output_dir", given)
    try:
        place = Path.cwd() / Path(given).expanduser()
        with suppress(FileNotFoundError, NotADirectoryError):
            place.stat()
    except (OSError, ValueError, RuntimeError) as error:  # too long, a zero byte, the home of an unknown user
        reason = error.strerror if isinstance(error, OSError) else in_short(error)
        raise InputError(f"output_dir cannot be used ({reason}); choose another folder") from None
    return place


def directories(configs: Iterable[Mapping[str, Any]], experiment: str | None, sweep: bool) -> tuple[Path, list[Path]]:
    """Where the table and the figure go, and the directory of each job."""
    configs = list(configs)
    outputs = results_dir(configs[0])
    hashes = [job_hash(config) for config in configs]
    if not (experiment or sweep):
        single = outputs / job_name(configs[0]) / hashes[0]
        return single, [single]
    target = outputs / (experiment or f"sweep-{short_hash(sorted(set(hashes)))}")
    return target, [target / "jobs" / name for name in hashes]
