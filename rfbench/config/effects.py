"""Options that have an effect beside certain values of others only; given without them they are a mistake."""

from collections.abc import Iterable, Mapping
from typing import Any

LIKELIHOOD = ("kernel.length_scale", "task.noise", "task.signal")
CHOSEN = ("task.alpha=auto", "kernel.length_scale=validation", "kernel.bias=validation", "dataset.threshold=validation")
# (choice, or a group for all of its choices; option): the settings of which one is needed.
NEEDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("task=attention", "task.head"): ("task.file=FILE",),
    ("task=gpr", "task.likelihood"): tuple(f"{one}=likelihood" for one in LIKELIHOOD),
    ("task=kid", "task.subset_rows"): ("task.subsets=NUMBER",),
    ("task=pooling", "task.stride"): ("task.patch=NUMBER",),
    ("task=profile", "task.angle"): ("task.along=norm",),
    ("task=ridge", "task.tolerance"): ("task.solver=cg", "task.solver=auto"),
    ("task=ridge", "task.validation"): CHOSEN,
    ("task=ridge", "task.protocol"): CHOSEN,
    ("task=svm", "task.iterations"): ("task.multiclass=one_vs_rest",),
    ("task=vector_field", "task.epochs"): ("task.solver=sgd",),
    ("task=vector_field", "task.folds"): ("task.alpha=auto", "kernel.length_scale=validation"),
    ("kernel=decomposable", "kernel.edges"): ("kernel.coupling=laplacian", "kernel.coupling=damped_laplacian"),
    ("sketch=localized_maclaurin", "sketch.centroids"): ("sketch.centers=clusters",),
    ("sketch=localized_maclaurin", "sketch.clusters"): ("sketch.centers=clusters",),
    ("sketch=localized_maclaurin", "sketch.threshold"): ("sketch.clusters=null",),
    ("sketch=nystrom", "sketch.block"): ("sketch.landmarks=rpcholesky", "sketch.landmarks=greedy"),
    ("dataset", "dataset.test_fraction"): ("dataset.split=default", "dataset.split=scikit_learn"),
    ("dataset=synthetic", "dataset.density"): ("dataset.distribution=sparse",),
    ("engine=dask", "engine.workers"): ("engine.address=null",),
} | {
    ("task=attention", f"task.{option}"): ("task.file=null",) for option in ("length", "columns", "spread")
}  # fmt: skip


def without_effect(key: str, configs: Iterable[Mapping[str, Any]]) -> str | None:
    """Why an option has no effect on any of these configs, or None."""
    reasons = [_reason(key, config) for config in configs]
    return reasons[0] if all(reasons) else None


def _reason(key: str, config: Mapping[str, Any]) -> str | None:
    for (choice, option), settings in NEEDS.items():
        group, _, name = choice.partition("=")
        if option == key and name in ("", config[group]["name"]) and not any(_holds(one, config) for one in settings):
            return f"it needs {' or '.join(settings)}"
    return None


def _holds(setting: str, config: Mapping[str, Any]) -> bool:
    """Whether an option has a value; FILE and NUMBER stand for any but null and 0."""
    key, _, wanted = setting.partition("=")
    group, _, option = key.partition(".")
    value = config[group].get(option)
    return bool(value) if wanted in ("FILE", "NUMBER") else str(value) == {"null": "None"}.get(wanted, wanted)
