"""Our results under a directory, each with its setting, which is that of its run.json."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from rfbench.checks import InputError
from rfbench.config.labels import label, with_options
from rfbench.reports.compare.published import IMAGES, of_deviation
from rfbench.results.manifest import read_manifest
from rfbench.results.rows import read_rows
from rfbench.results.series import read_series

# Options that change how precisely a number is known, or what is measured beside it.
NOT_SETTING = {
    "dataset": ("prepare", "threshold", "rows"),
    "task": (
        *("reference_rows", "samples", "rows", "exact_rows", "folds", "resamples", "subsets", "subset_rows"),
        *("solver", "tolerance"),
    ),
}
# Points of curves that earlier versions wrote as metrics.
RENAMED = {
    "ratio_to_real_q050": "ratio_to_real@0.5",
    "ratio_to_tensorsketch_q050": "ratio_to_tensorsketch@0.5",
    "variance_t010": "variance@1",
}


@dataclass(frozen=True)
class Ours:
    """Mean, standard deviation and count over seeds of one metric, or the message of a failure."""

    directory: Path
    dataset: str
    prepare: str
    task: str
    kernel: str
    scale: float  # k(x, x) of rows of length 1, for kernels (γ x·y + ν)^p
    degree: str
    sketch: str
    features: str
    metric: str
    mean: float
    std: float | None
    count: int
    n_train: int
    n_test: int
    rows: int  # test rows of kernel errors and divergences
    message: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return self.dataset, self.prepare, self.kernel, self.degree, self.sketch, self.features, self.metric


def read_ours(directory: Path) -> list[Ours]:
    """Every job below; joined tables of sweeps repeat the rows of their jobs and have no run.json."""
    if not directory.is_dir():
        raise InputError(f"no directory {directory}; run an experiment first, such as rfbench experiment=wacker/fig4_8")
    found = [one for path in sorted(directory.rglob("run.json")) for one in _job(path)]
    if not found:
        raise InputError(f"no results under {directory}; run an experiment first, or name the directory they are in")
    return sorted(found, key=lambda one: (*one.key[:3], one.degree.zfill(3), one.sketch, one.features.zfill(9)))


def _job(path: Path) -> Iterator[Ours]:
    """One for each number of features and metric, and one without metric for each failure."""
    try:
        config = read_manifest(path.parent)["config"]
        setting = setting_of(config)
    except (KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({error!r}); move it away and rerun") from None
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in (*read_rows(path.with_name("results.csv")), *_points(path.parent)):
        groups.setdefault((row["features"], RENAMED.get(row["metric"], row["metric"])), []).append(row)
    for (features, metric), rows in groups.items():
        n_train, n_test = (int(rows[0][column] or 0) for column in ("n_train", "n_test"))
        common = setting | {"directory": path.parent, "features": features, "metric": metric}
        common |= {"n_train": n_train, "n_test": n_test, "rows": min(_rows(config["task"]), n_test)}
        common["degree"] = rows[0]["degree"]
        values = [float(row["value"]) for row in rows if row["status"] == "ok" and isfinite(float(row["value"]))]
        if not values:
            yield Ours(mean=float("nan"), std=None, count=0, message=rows[0]["message"] or "not finite", **common)
            continue
        spread, count = _spread(metric, values, config["task"], groups.get((features, "kid_std"), []))
        yield Ours(mean=mean(values), std=spread, count=count, **common)


def _points(directory: Path) -> Iterator[dict[str, str]]:
    """Points of curves as rows; the metric is the curve at an x, such as ratio_to_real@0.5."""
    for point in read_series(directory):
        yield point | {"metric": f"{point['name']}@{float(point['x']):g}", "value": point["y"], "status": "ok"}


def _spread(
    metric: str, values: list[float], task: Mapping[str, Any], deviations: list[dict[str, str]]
) -> tuple[float | None, int]:
    """(standard deviation over seeds, their number); with one seed, those of its draws where the task has several."""
    if len(values) > 1:
        return stdev(values), len(values)
    draws = int(task.get("resamples") or 0)
    if metric == "kid" and deviations:
        return float(deviations[0]["value"]), draws
    if metric == "kid_std":
        return of_deviation(values[0], draws)
    return None, 1


def _rows(task: Mapping[str, Any]) -> int:
    return int(task.get("reference_rows") or task.get("rows") or 0)


def setting_of(config: Mapping[str, Any]) -> dict[str, Any]:
    dataset = config["dataset"]
    device = [f"opu={label('opu', config['opu'])}"] if config.get("opu") else []
    steps = [step for step in dataset.get("prepare") or [] if not (step == "min_zero" and dataset["name"] in IMAGES)]
    kernel, scale = kernel_name(config["kernel"], int(config["degree"]))
    return {
        "dataset": _label("dataset", dataset),
        "task": _label("task", config["task"]),
        "prepare": " ".join(map(str, steps)),  # pixels start at 0, so min_zero does not change images
        "kernel": kernel,
        "scale": scale,
        "sketch": with_options(_label("sketch", config["sketch"]), device),
    }


def _label(group: str, node: Mapping[str, Any]) -> str:
    """The label of a choice, with 10 for 10.0."""
    chosen = {key: value for key, value in node.items() if key not in NOT_SETTING.get(group, ())}
    return re.sub(r"(?<=\d)\.0\b", "", label(group, chosen))


def kernel_name(node: Mapping[str, Any], degree: int) -> tuple[str, float]:
    """polynomial(γ, ν) scaled to γ + ν = 1, and (γ + ν)^p; 1 − ‖x−y‖²/a² on the unit sphere has this form too."""
    gamma, bias = node.get("gamma"), node.get("bias")
    if node["name"] == "polynomial_sphere":
        gamma = 2 / node["a"] ** 2
        bias = 1 - gamma
    if isinstance(gamma, int | float) and isinstance(bias, int | float):
        return f"polynomial({gamma / (gamma + bias):.6g}, {bias / (gamma + bias):.6g})", float(gamma + bias) ** degree
    if node["name"] == "polynomial":
        return f"polynomial({gamma}, {bias:g})", 1.0
    return _label("kernel", node), 1.0
