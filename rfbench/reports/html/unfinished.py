"""Trials that the config of a job asks for and its results lack: the run was interrupted, or it has not ended."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rfbench.config.schema import feature_count
from rfbench.reports.tables import SETTING

NOT_RUN = "not run"
EMPTY = {"metric": "", "value": "", "unit": "", "status": NOT_RUN, "message": NOT_RUN}


def not_run(rows: Sequence[dict[str, str]], config: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """A row without a number for each such trial; none where the whole job failed, since that row has the reason."""
    started: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        started.setdefault(row["features"], []).append(row)
    if "" in started:
        return
    seeds = config["seeds"] if isinstance(config["seeds"], list) else range(config["seeds"])
    for features in dict.fromkeys([*started, *_features(config, rows[0]["d"], set(started))]):
        done = {row["seed"] for row in started.get(features, ())}
        alike = started.get(features) or started[rows[0]["features"]]
        settings = {tuple(row[key] for key in SETTING): {key: row[key] for key in SETTING} for row in alike}
        for seed in (str(seed) for seed in seeds if str(seed) not in done):
            yield from (setting | EMPTY | {"features": features, "seed": seed} for setting in settings.values())


def _features(config: Mapping[str, Any], d: str, started: set[str]) -> set[str]:
    """The numbers of features that the config asks for, where some were not started; a sketch may adjust them."""
    given = config["features"] if isinstance(config["features"], list) else [config["features"]]
    if len(started) >= len(given):
        return set()
    from rfbench.datasets.prepare import Preparation
    from rfbench.kernels import kernel_recipe
    from rfbench.sketches import make_sketch

    try:
        kernel = kernel_recipe(degree=config["degree"], **config["kernel"]).provisional()
        sketch = make_sketch(kernel=kernel, **config["sketch"])
        columns = Preparation(tuple(config["dataset"].get("prepare") or ())).columns(int(d))
        asked = {str(sketch.count(columns, feature_count(D, int(d)))) for D in given}
    except ValueError:  # features=auto:…, or a sketch or kernel of a plugin that is not installed
        return set()
    return asked if started <= asked else set()  # the task may have its own numbers
