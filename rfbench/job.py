"""A config, built: kernel, sketch, task, engine and devices, with every mistake that shows without the data refused."""

import inspect
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from omegaconf import DictConfig

from rfbench.checks import InputError, did_you_mean, require, require_finite
from rfbench.config.compose import own_options
from rfbench.config.files import CONF
from rfbench.config.identity import LATER
from rfbench.config.labels import label, with_options
from rfbench.config.schema import typed
from rfbench.datasets.prepare import FITTED, Preparation
from rfbench.datasets.splits import TEST_FRACTION, Splitting
from rfbench.devices.meters import Meter, make_meter
from rfbench.devices.opu import make_opu
from rfbench.devices.opu.shared import SharedDevice
from rfbench.engines import Engine, make_engine
from rfbench.kernels import Kernel, KernelRecipe, kernel_recipe
from rfbench.memory import parse_bytes
from rfbench.registry import find
from rfbench.reports.figures.against import COLUMNS
from rfbench.reports.formats import SPREADS
from rfbench.reports.names import METRICS, is_metric
from rfbench.sketches import SKETCHES, Sketch, make_sketch, on_device
from rfbench.tasks import TASKS, Task, make_task

MAX_SEEDS = 100_000
MAX_DEGREE = 1000  # (x·y + 1)ᵖ of rows of length 1 is finite up to here


@dataclass(frozen=True)
class Job:
    """All that a run needs besides the data."""

    config: dict[str, Any]  # plain values
    kernel: KernelRecipe
    task: Task
    engine: Engine
    meter: Meter
    preparation: Preparation
    features: list[int | str]
    seeds: list[int]
    dtype: np.dtype[Any]
    memory: int | None  # bytes that it may take, if the config says so
    device: SharedDevice | None  # opened by the run

    @property
    def partial(self) -> bool:
        """Whether other commands do their share of the rows."""
        return self.engine.shard is not None

    def sketch(self, kernel: Kernel) -> Sketch:
        sketch = make_sketch(kernel=kernel, **self.config["sketch"])
        return on_device(sketch, self.device) if self.device else sketch

    def real_twin(self, kernel: Kernel) -> Sketch | None:
        """tensorsrht for complex_tensorsrht and ctr_tensorsrht, or the one of task.against, with the options it has."""
        name, other = str(self.config["sketch"]["name"]), str(self.config["task"].get("against", "real"))
        twin = re.sub("^(complex|ctr)_", "", name) if other == "real" else other
        if twin == name:
            return None
        known = inspect.signature(find("sketch", twin, SKETCHES).make).parameters
        options = {key: value for key, value in self.config["sketch"].items() if key in known}
        return make_sketch(twin, kernel, **options)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of results.csv that are the same for all trials."""
        labels = {group: label(group, self.config[group]) for group in ("dataset", "sketch", "kernel", "task")}
        if self.config["dtype"] != "float32":
            labels["sketch"] = with_options(labels["sketch"], [f"dtype={self.config['dtype']}"])
        if self.config["opu"]:
            labels["sketch"] = with_options(labels["sketch"], [f"opu={label('opu', self.config['opu'])}"])
        return labels | {"degree": "" if self.kernel.power is None else self.kernel.power}


def plain_config(config: DictConfig) -> dict[str, Any]:
    """The config as plain values, with the dataset that the task's options name where they do."""
    plain = typed(config)
    if data := find("task", plain["task"]["name"], TASKS).data(plain["task"]):
        plain["dataset"] = data
    return plain


def build_job(plain: dict[str, Any]) -> Job:
    """Build the parts of a job; refuse every mistake that shows without the data."""
    require(plain["dtype"] in ("float32", "float64"), "dtype", "float32 or float64", plain["dtype"])
    require(plain["block_rows"] >= 1, "block_rows", "at least 1", plain["block_rows"])
    rows = plain["train_rows"]
    require(rows is None or rows >= 1, "train_rows", "null or at least 1", rows)
    require(plain["degree"] >= 1, "degree", "at least 1", plain["degree"])
    require(plain["degree"] <= MAX_DEGREE, "degree", f"at most {MAX_DEGREE}", plain["degree"])
    require(plain["spread"] in SPREADS, "spread", " or ".join(SPREADS), plain["spread"])
    wanted = "a list of pairs such as [error:features]"
    require(plain["plot"] is None or isinstance(plain["plot"], list), "plot", wanted, plain["plot"])
    for pair in plain["plot"] or []:
        require(bool(re.fullmatch(r"\w+(\|\w+)*:\w+", str(pair))), "plot", wanted, pair)
        y, _, x = pair.partition(":")
        words = [*y.split("|"), *([x] if x not in COLUMNS else [])]
        if unknown := [word for word in words if not is_metric(word)] if plain["task"]["name"] in TASKS else []:
            choices = [*(m for m in METRICS if "|" not in m), *(COLUMNS if unknown[0] == x else ())]
            nearest = did_you_mean(unknown[0], choices, always_all=True)
            raise InputError(f"no metric '{unknown[0]}' for plot=[{pair}]; {nearest}")
    refuse_unknown(plain["dataset"])
    file = plain["dataset"].get("file", "")
    require(isinstance(file, str), "dataset.file", "a path", file)
    kernel = kernel_recipe(degree=plain["degree"], **plain["kernel"])
    job = Job(
        config=plain,
        kernel=kernel,
        task=make_task(**plain["task"]),
        engine=make_engine(**plain["engine"], block_rows=plain["block_rows"]),
        meter=make_meter(**plain["meter"] or {"name": "none"}),
        preparation=preparation_of(plain["dataset"]),
        features=_features(plain["features"]),
        seeds=_seeds(plain["seeds"]),
        dtype=np.dtype(plain["dtype"]),
        memory=parse_bytes(plain["memory_limit"]),
        device=SharedDevice(make_opu(**plain["opu"])) if plain["opu"] else None,
    )
    job.engine.shard = _shard(plain["shard"])
    if (job.engine.spread or job.partial) and not job.task.spreads:
        raise InputError(
            f"task={job.task.name} has no sums over rows that other processes could add up; "
            "use engine=local without shard"
        )
    if (job.engine.spread or job.partial) and job.device:
        raise InputError("other processes cannot share the device of opu=…; use engine=local without shard")
    if job.preparation.threshold is None and "threshold" not in job.task.chooses:
        raise InputError("dataset.threshold=validation works with task=ridge only; use a number")
    if job.preparation.target != "as_published" and plain["task"].get("save"):
        raise InputError("a saved model predicts the target as it is; use dataset.target=as_published")
    provisional = kernel.provisional()
    sketch = job.sketch(provisional)
    job.real_twin(provisional)  # refuses a wrong name
    objections = [sketch.objection(D) for D in job.features if isinstance(D, int)]
    for objection in (*objections, job.task.objection(sketch, kernel)):
        if objection:
            raise InputError(objection)
    return job


def refuse_unknown(dataset: dict[str, Any]) -> None:
    """Refuse a key of a dataset that nothing reads; those of plugins and of own files are known to their loaders."""
    if (path := CONF / "dataset" / f"{dataset['name']}.yaml").is_file():
        known = {*own_options(path, "dataset"), *LATER["dataset"], "threshold"}
        for key in dataset.keys() - known:
            raise InputError(f"dataset={dataset['name']} has no option '{key}'; {did_you_mean(str(key), known)}")


def preparation_of(dataset: dict[str, Any]) -> Preparation:
    """The steps of a dataset's config."""
    steps, threshold = dataset.get("prepare") or [], dataset.get("threshold", 0.0)
    require(isinstance(steps, list), "dataset.prepare", "a list of steps such as [standardize,unit_norm]", steps)
    good = isinstance(threshold, int | float) or threshold == "validation"
    require(good, "dataset.threshold", "a number, or validation", threshold)
    require_finite("dataset.threshold", threshold)
    if threshold and "binarize" not in steps:
        raise InputError(f"dataset.threshold={threshold} has no effect; add binarize to dataset.prepare")
    fitted_on = str(dataset.get("prepare_on", "train"))
    if fitted_on != "train" and not FITTED.keys() & set(map(str, steps)):
        raise InputError(f"dataset.prepare_on={fitted_on} has no effect; add {' or '.join(FITTED)} to dataset.prepare")
    return Preparation(
        tuple(map(str, steps)),
        None if threshold == "validation" else float(threshold),
        splitting_of(dataset),
        fitted_on,
        str(dataset.get("target", "as_published")),
    )


def splitting_of(dataset: dict[str, Any]) -> Splitting:
    """The split of a dataset's config."""
    fraction, seed = dataset.get("test_fraction", TEST_FRACTION), dataset.get("split_seed")
    require(isinstance(fraction, int | float), "dataset.test_fraction", "a number between 0 and 1", fraction)
    require(seed is None or type(seed) is int, "dataset.split_seed", "null or a whole number", seed)
    return Splitting(str(dataset.get("split", "default")), float(fraction), seed)


def _features(given: Any) -> list[int | str]:
    wanted = "a whole number above 0 such as 4096, a multiple of the columns such as 2d, auto:0.05, or a list of them"
    several = given if isinstance(given, list) else [given]
    require(bool(several), "features", wanted, given)
    for one in several:
        is_count = isinstance(one, int) and not isinstance(one, bool) and one >= 1
        if wanted_error(one) is None:
            require_finite("features", one)
            require(is_count or bool(re.fullmatch(r"(\d+\.?\d*|\.\d+)d", str(one))), "features", wanted, one)
    return several


def wanted_error(given: int | str) -> float | None:
    """0.05 of features=auto:0.05, which takes the number of features of this predicted error; None for others."""
    if not (match := re.fullmatch(r"auto:(.*)", str(given))):
        return None
    try:
        error = float(match[1])
    except ValueError:
        error = 0.0
    require(0 < error < 1, "features=auto", "followed by an error between 0 and 1, as in auto:0.05", given)
    return error


def _shard(given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    i, _, n = given.partition("/")
    good = i.isdecimal() and n.isdecimal() and 1 <= int(i) <= int(n)
    require(good, "shard", "null, or i/n for the i-th of n shares of the rows, such as 1/4", given)
    return int(i), int(n)


def _seeds(given: Any) -> list[int]:
    wanted = "how many repetitions, or a list of different whole numbers from 0 up"
    require(type(given) is not int or given <= MAX_SEEDS, "seeds", f"at most {MAX_SEEDS}", given)
    seeds = list(range(given)) if type(given) is int else given
    good = isinstance(seeds, list) and seeds and all(type(s) is int and s >= 0 for s in seeds)
    require(bool(good) and len(set(seeds)) == len(seeds), "seeds", wanted, given)
    return seeds
