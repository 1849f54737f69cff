"""Where results live: a directory named by what determines the numbers."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# They change where and how a run is computed, or how much of it, but no number.
NOT_IDENTITY = ("seeds", "force", "data_dir", "download", "block_rows", "engine", "plot", "size", "sizes")


def digest(value: Any) -> str:
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


def job_directory(config: Mapping[str, Any], name: str) -> Path:
    """outputs/<name>/<hash> below the working directory."""
    identity = {key: value for key, value in config.items() if key not in NOT_IDENTITY and value is not None}
    return Path.cwd() / "outputs" / name / digest(identity)


def sweep_directory(jobs: Iterable[Path], name: str) -> Path:
    """Where the joined results of several jobs go."""
    return Path.cwd() / "outputs" / name / digest(sorted(job.name for job in jobs))
