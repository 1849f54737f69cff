"""run.json: what was run, with which versions, on which machine."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from shutil import which
from time import perf_counter
from typing import Any

from rfbench import __version__
from rfbench.checks import InputError
from rfbench.memory import peak_bytes
from rfbench.registry import plugins_of
from rfbench.results.recorder import Recorder
from rfbench.storage import replace_file


class Manifest:
    """The run.json of a job; a resumed job adds to what it learned before."""

    def __init__(self, directory: Path, config: Mapping[str, Any]) -> None:
        self.path, self.config, self.start = directory / "run.json", config, perf_counter()
        self.before, self.plugins = read_manifest(directory), plugins_of(config)

    def data_changed(self, digest: str) -> bool:
        return self.before.get("data", digest) != digest

    def other_plugins(self) -> str:
        """The plugins that computed what is there, where they are not those of today."""
        before = self.before.get("plugins", self.plugins)
        return "" if before == self.plugins else versions_of(before) or "another program"

    def write(self, data: str, recorder: Recorder) -> None:
        manifest = {
            "config": self.config,
            "data": data,
            "learned": self.before.get("learned", {}) | recorder.learned,
            "seconds": round(perf_counter() - self.start, 3),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "peak_bytes": peak_bytes(),
            "meter": recorder.readings.sources or self.before.get("meter", "none"),
            "versions": {"rfbench": __version__, "python": platform.python_version()} | library_versions(),
            "plugins": self.plugins,
            "blas": blas(),
            "machine": {"system": platform.platform(), "processor": processor(), "cores": os.cpu_count()},
            "git": git_state(),
        } | {key: self.before[key] for key in ("merged",) if key in self.before}
        replace_file(self.path, json.dumps(manifest, indent=1, default=str) + "\n")


@cache
def library_versions() -> dict[str, str]:
    return {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "hydra-core")}


def versions_of(plugins: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in plugins.items())


def read_manifest(directory: Path) -> dict[str, Any]:
    """The content of a run.json, or nothing."""
    path = directory / "run.json"
    if not path.exists():
        return {}
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(manifest["config"], dict) and isinstance(manifest.get("learned", {}), dict):
            return manifest
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    raise InputError(f"{path} is damaged; move {directory} away and rerun")


def learned_lines(directory: Path) -> list[str]:
    """What kernel and sketch learned from the training rows of the first seed, a line each."""
    first: dict[str, str] = {}
    for key, facts in read_manifest(directory).get("learned", {}).items():
        short = {name: value for name, value in facts.items() if not isinstance(value, list)}  # no matrices
        words = "; ".join(f"{name} {_plain(value)}" for name, value in short.items())
        first.setdefault(key.partition(", seed")[0], f"{key}: {words}" if words else "")
    return [line for line in first.values() if line]


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {one}" for key, one in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def blas() -> list[dict[str, Any]]:
    from threadpoolctl import threadpool_info

    keys = ("internal_api", "version", "num_threads", "architecture")
    return [{key: pool.get(key) for key in keys} for pool in threadpool_info()]


@cache
def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


@cache
def git_state() -> str | None:
    """Commit of the checkout the program runs from, with + where it was changed; None without git."""
    here = Path(__file__).resolve().parents[2]
    if not (here / ".git").exists() or not which("git"):
        return None
    # Without a lock, which a run that is killed would leave in the checkout.
    command = ["git", "--no-optional-locks", "-C", str(here), "status", "--porcelain=v2", "--branch"]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid")), "")
    return commit[:12] + ("+" if any(not line.startswith("#") for line in lines) else "")
