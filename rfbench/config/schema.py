"""YAML → typed objects: every key known, every type and range checked, before anything runs."""

import re
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rfbench.arrays import padded
from rfbench.checks import InputError, did_you_mean, require
from rfbench.datasets.prepare import Preparation
from rfbench.devices.meters import Meter, make_meter
from rfbench.devices.opu import make_opu
from rfbench.devices.opu.shared import SharedDevice
from rfbench.engines import Local
from rfbench.kernels import Kernel, make_kernel
from rfbench.registry import find
from rfbench.results.pictures import PictureKey
from rfbench.results.readings import Readings
from rfbench.sketches import Sketch, make_sketch
from rfbench.sketches.optical.device import on_device
from rfbench.tasks import TASKS, Task, make_task

GROUPS = ("dataset", "kernel", "sketch", "task", "engine", "opu", "meter")
MOST_SEEDS = 100_000


@dataclass
class Root:
    """The keys of a config and their types; the groups are typed by the classes they name."""

    dataset: dict[str, Any] = field(default_factory=dict)
    kernel: dict[str, Any] = field(default_factory=dict)
    sketch: dict[str, Any] = field(default_factory=dict)
    task: dict[str, Any] = field(default_factory=dict)
    engine: dict[str, Any] = field(default_factory=dict)
    opu: dict[str, Any] | None = None
    meter: dict[str, Any] | None = None
    degree: int = 3
    features: Any = "2d"
    seeds: Any = 5
    train_rows: int | None = None
    dtype: str = "float32"
    block_rows: int = 256
    data_dir: str | None = None
    download: bool = True
    force: bool = False
    plot: list[str] | None = None
    size: str = "normal"
    sizes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """A config, built."""

    config: dict[str, Any]  # resolved
    kernel: Kernel
    task: Task
    engine: Local
    meter: Meter
    preparation: Preparation
    features: list[int | str]
    seeds: list[int]
    dtype: np.dtype[Any]
    device: SharedDevice | None  # opened by the run
    learned: dict[str, Any] = field(default_factory=dict)  # what sketches took from the training rows, for run.json
    pictures: dict[PictureKey, Any] = field(default_factory=dict)  # of the first seed, for maps.npz
    readings: Readings = field(default_factory=Readings)

    def sketch(self, kernel: Kernel) -> Sketch:
        sketch = make_sketch(kernel=kernel, **self.config["sketch"])
        return on_device(sketch, self.device) if self.device else sketch

    def real_twin(self, kernel: Kernel) -> Sketch | None:
        """tensorsrht for complex_tensorsrht and ctr_tensorsrht, or the one of task.against, with the same options."""
        name, other = str(self.config["sketch"]["name"]), str(self.config["task"].get("against", "real"))
        twin = re.sub("^(complex|ctr)_", "", name) if other == "real" else other
        return make_sketch(kernel=kernel, **{**self.config["sketch"], "name": twin}) if twin != name else None


def build_job(config: DictConfig) -> Job:
    """Everything that can be known to be wrong without the data is said here."""
    plain = typed(config)
    require(plain["dtype"] in ("float32", "float64"), "dtype", "float32 or float64", plain["dtype"])
    require(plain["block_rows"] >= 1, "block_rows", "at least 1", plain["block_rows"])
    require(
        plain["train_rows"] is None or plain["train_rows"] >= 1, "train_rows", "null or at least 1", plain["train_rows"]
    )
    require(plain["degree"] >= 1, "degree", "at least 1", plain["degree"])
    for pair in plain["plot"] or []:
        require(bool(re.fullmatch(r"\w+:\w+", pair)), "plot", "a list of pairs such as error:features", pair)
    options = {key: dict(plain[key]) for key in ("kernel", "task", "engine")}
    options["engine"].pop("name", None)
    kernel = make_kernel(degree=plain["degree"], **options["kernel"])
    job = Job(
        config=plain,
        kernel=kernel,
        task=make_task(**options["task"]),
        engine=Local(**options["engine"], block_rows=plain["block_rows"]),
        meter=make_meter(**plain["meter"] or {"name": "none"}),
        preparation=_preparation(plain["dataset"]),
        features=_features(plain["features"]),
        seeds=_seeds(plain["seeds"]),
        dtype=np.dtype(plain["dtype"]),
        device=SharedDevice(make_opu(**plain["opu"])) if plain["opu"] else None,
    )
    sketch = job.sketch(kernel)
    job.real_twin(kernel)  # whose name may be wrong too
    objections = [sketch.objection(D) for D in job.features if isinstance(D, int)]
    for objection in (*objections, job.task.objection(sketch, kernel)):
        if objection:
            raise InputError(objection)
    return job


def typed(config: DictConfig) -> dict[str, Any]:
    """The config as plain values; an unknown key or a wrong type is refused in one line."""
    known = [f.name for f in fields(Root)]
    for key in map(str, config):
        if key not in known:
            raise InputError(f"no '{key}' in the config; {did_you_mean(key, known)}")
    for group in GROUPS:
        if not isinstance(config.get(group), DictConfig) or "name" not in config[group]:
            raise InputError(
                f"{group} must be one of the choices that rfbench list shows; {config.get(group)} was given"
            )
    try:
        plain = OmegaConf.to_container(OmegaConf.merge(OmegaConf.structured(Root), config), resolve=True)
    except OmegaConfBaseException as error:
        raise InputError(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    assert isinstance(plain, dict)
    if data := find("task", plain["task"]["name"], TASKS).data(plain["task"]):
        plain["dataset"] = data
    for group in ("opu", "meter"):  # what is not there does not change the name of a directory
        plain[group] = None if plain[group]["name"] == "none" else plain[group]
    return {str(key): value for key, value in plain.items()}


def _preparation(dataset: dict[str, Any]) -> Preparation:
    steps, threshold = dataset.get("prepare") or [], dataset.get("threshold", 0.0)
    require(isinstance(steps, list), "dataset.prepare", "a list of steps such as [standardize,unit_norm]", steps)
    require(isinstance(threshold, int | float), "dataset.threshold", "a number", threshold)
    return Preparation(tuple(map(str, steps)), float(threshold))


def _features(given: Any) -> list[int | str]:
    wanted = "a whole number above 0 such as 4096, a multiple of the padded columns such as 2d, or a list of them"
    several = given if isinstance(given, list) else [given]
    require(bool(several), "features", wanted, given)
    for one in several:
        is_count = isinstance(one, int) and not isinstance(one, bool) and one >= 1
        require(is_count or bool(re.fullmatch(r"(\d+\.?\d*|\.\d+)d", str(one))), "features", wanted, one)
    return several


def feature_count(given: int | str, d: int) -> int:
    """ "2d" is twice the next power of two of the number of data columns, before a bias is appended."""
    if isinstance(given, int):
        return given
    count = float(given[:-1]) * padded(d)
    require(
        count >= 1 and count == int(count), "features", f"a whole number ({given} of {padded(d)} is {count:g})", given
    )
    return int(count)


def _seeds(given: Any) -> list[int]:
    wanted = "how many repetitions, or a list of different whole numbers from 0 up"
    require(type(given) is not int or given <= MOST_SEEDS, "seeds", f"at most {MOST_SEEDS}", given)
    seeds = list(range(given)) if type(given) is int else given
    good = isinstance(seeds, list) and seeds and all(type(s) is int and s >= 0 for s in seeds)
    require(bool(good) and len(set(seeds)) == len(seeds), "seeds", wanted, given)
    return seeds
