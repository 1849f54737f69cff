"""Where the numbers of an experiment come from: configs as YAML, versions, machines and data."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from rfbench.reports.html.collect import Run


def configs_as_yaml(runs: Sequence[Run]) -> str:
    """The config of one job; of several what they share, and for each of them the rest."""
    configs = {run.directory.name: run.manifest["config"] for run in runs if run.manifest}
    if len(configs) < 2:
        return "".join(_dump(config) for config in configs.values())
    shared = _shared(list(configs.values()))
    return _dump({"shared": shared, "jobs": {name: _rest(config, shared) for name, config in configs.items()}})


def _dump(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)


def _shared(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, first in nodes[0].items():
        values = [node.get(key) for node in nodes]
        if all(value == first for value in values):
            found[key] = first
        elif all(isinstance(value, dict) for value in values) and (inner := _shared(values)):  # type: ignore[arg-type]
            found[key] = inner
    return found


def _rest(node: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for key, value in node.items():
        if isinstance(value, dict) and isinstance(shared.get(key), dict):
            value = _rest(value, shared[key])
            if not value:
                continue
        elif key in shared:
            continue
        found[key] = value
    return found


def provenance(runs: Sequence[Run]) -> list[tuple[str, list[tuple[str, int]]]]:
    """What run.json says: (fact, its values and the number of runs that have each)."""
    found: dict[str, Counter[str]] = {}
    for run in runs:
        for fact, value in _facts(run.manifest):
            found.setdefault(fact, Counter())[value] += 1
    return [(fact, values.most_common()) for fact, values in found.items()]


def _facts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not manifest:
        return
    for name, version in dict(manifest.get("versions") or {}).items():
        yield name, str(version)
    for pool in manifest.get("blas") or []:
        yield "threads", f"{pool.get('internal_api')} {pool.get('version')}, threads: {pool.get('num_threads')}"
    for name, value in dict(manifest.get("machine") or {}).items():
        yield name, str(value)
    meter = manifest.get("meter", "none")
    yield "git", str(manifest.get("git") or "not a checkout")
    yield f"digest of {manifest['config']['dataset']['name']}", str(manifest.get("data"))
    yield "meter", ", ".join(f"{k}: {v}" for k, v in meter.items()) if isinstance(meter, dict) else str(meter)
