"""One job: data → features → measures → rows, seed by seed; only what is missing is computed."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.checks import InputError
from rfbench.config.identity import job_name
from rfbench.config.labels import label, with_options
from rfbench.config.schema import Job, feature_count
from rfbench.datasets import load
from rfbench.datasets.base import Dataset
from rfbench.datasets.prepare import Split, prepared_split
from rfbench.devices.meters import Reading
from rfbench.kernels import Kernel
from rfbench.progress import bar
from rfbench.results.manifest import Manifest
from rfbench.results.pictures import PictureKey, keep_pictures
from rfbench.results.rows import MISSING, Results, only_writer
from rfbench.seeds import rng_for
from rfbench.tasks import Measure, Trial
from rfbench.tasks.base import KERNEL_ROWS

log = logging.getLogger("rfbench")


def run(job: Job, directory: Path, keep_going: bool) -> Results:
    """Fill the job's results.csv.  With keep_going a mistake in the input is a failed row too, not an error."""
    with only_writer(directory):
        results = Results(directory, bool(job.config["force"]))
        manifest = Manifest(directory, job.config)
        computed = False
        try:
            dataset = load(job.config["dataset"], data_dir=job.config["data_dir"], download=job.config["download"])
            if results.rows and manifest.data_changed(dataset.digest):
                raise InputError(f"{directory} holds results of other data under this name; move it away and run again")
            for rows in trials(job, dataset, results.done):
                if not computed:  # before any row, which without it could be of any data if the run is killed
                    manifest.write(dataset.digest, job.learned, job.readings.sources)
                computed = True
                job.readings.keep(directory)
                results.add(rows)
                keep_pictures(directory, job.pictures)
                log.info("%s features, seed %s: %s", rows[0]["features"], rows[0]["seed"], rows[0]["status"])
        except Exception as error:
            if isinstance(error, InputError) and not keep_going:
                if not results.path.exists():
                    leave_nothing(directory)
                raise
            results.add([job_columns(job) | failure(error)])
        if computed or (results.done and not manifest.path.exists()):
            manifest.write(dataset.digest, job.learned, job.readings.sources)
        return results


def leave_nothing(directory: Path) -> None:
    """Remove what this run has made so far, and nothing else."""
    shutil.rmtree(directory / ".hydra", ignore_errors=True)
    for name in (".lock", "rfbench.log"):
        (directory / name).unlink(missing_ok=True)
    with suppress(OSError):  # not empty: the rest is not ours
        directory.rmdir()
        directory.parent.rmdir()


def trials(job: Job, dataset: Dataset, done: set[tuple[str, str]]) -> Iterator[list[dict[str, Any]]]:
    """The rows of every trial that is not done yet, in the order of seeds."""
    # What a sketch makes of D does not depend on the kernel's numbers, so the unfitted one will do.
    counts = list(dict.fromkeys(_count(job, given, dataset) for given in job.features))
    missing = {seed: [D for D in counts if (str(D), str(seed)) not in done] for seed in job.seeds}
    total = sum(map(len, missing.values()))
    with (
        job.device or nullcontext(),
        job.engine.running(),
        bar(total, job_name(job.config), "trial") as shown,
    ):
        for seed, wanted in missing.items():
            if wanted:
                for rows in repetition(job, dataset, seed, wanted):
                    if job.device:
                        job.learned[f"opu, seed {seed}"] = job.device.info()
                    yield rows
                    shown.update()


def _count(job: Job, given: int | str, dataset: Dataset) -> int:
    sketch, d = job.sketch(job.kernel), dataset.X.shape[1]
    D = sketch.count(job.preparation.columns(d), feature_count(given, d))
    if objection := sketch.objection(D):
        raise InputError(objection)
    return D


def repetition(job: Job, dataset: Dataset, seed: int, wanted: list[int]) -> Iterator[list[dict[str, Any]]]:
    """One split, one exact answer, and a trial for each number of features."""
    if len(dataset.y.shape) > 1 and not job.task.several_outputs:
        raise InputError(
            f"task={job.task.name} is for one output, and dataset '{dataset.name}' has {dataset.y.shape[1]}; "
            "use task=vector_field"
        )
    split = prepared_split(dataset, job.preparation, seed, job.dtype, job.config["train_rows"])
    sample, labels = split.train.sample(KERNEL_ROWS, rng_for(seed, "kernel"))
    kernel = job.task.fit(job.kernel, split.train, seed, job.engine).fit_targets(dataset.targets(labels))
    if kernel != job.kernel:
        job.learned[f"{kernel.name} kernel, seed {seed}"] = {
            key: value for key, value in asdict(kernel).items() if value != getattr(job.kernel, key)
        }
    if objection := kernel.objection(sample):
        raise InputError(objection)
    reference = job.task.reference(split, kernel, seed, job.engine)
    for D in wanted:
        columns = job_columns(job) | split_columns(dataset, split) | {"features": D, "seed": seed}
        try:
            measures = job.task.metered(trial(job, split, kernel, sample, D, seed), reference)
            yield [row(columns, measure) for measure in measures]
        except InputError:
            raise
        except Exception as error:
            yield [columns | failure(error)]


def row(columns: dict[str, Any], measure: Measure) -> dict[str, Any]:
    """A number, or an empty cell with its reason."""
    metric, value, unit, message, where = measure
    found = bool(np.isfinite(value))
    if not found and not message:
        raise ArithmeticError(f"{metric} is not a finite number")
    told = {"value": repr(float(value)), "status": "ok"} if found else {"value": "", "status": MISSING}
    return {**columns, **where, "metric": metric, "unit": unit, "message": message, **told}


def trial(job: Job, split: Split, kernel: Kernel, sample: np.ndarray, D: int, seed: int) -> Trial:
    name, d = job.config["sketch"]["name"], sample.shape[1]
    sketch = job.sketch(kernel).adapt(sample, D)

    def tell(facts: dict[str, Any]) -> None:
        job.learned[f"{label('sketch', job.config['sketch'])}, {D} features, seed {seed}"] = facts
        log.info("%s features, seed %s: %s", D, seed, facts)

    if facts := sketch.facts():
        tell(facts)

    def draw(k: int) -> Any:
        return sketch.sample(d, D, rng_for(seed, "sketch", name, D, k), job.dtype)

    def show(kind: str, other: str, error: float, picture: Any) -> None:
        if seed == job.seeds[0]:
            labels = job_columns(job)
            sketch, features = (other, 0) if other else (labels["sketch"], D)
            setting = PictureKey(kind, labels["dataset"], sketch, features, error, labels["kernel"])
            job.pictures[setting] = picture

    def meter(device: str | None) -> AbstractContextManager[Reading]:
        return job.readings.taken(job.meter.on(device) if device else job.meter, (D, seed, device or job.meter.device))

    return Trial(split, kernel, sketch, job.real_twin(kernel), D, seed, draw, job.engine, show, meter, tell)


def job_columns(job: Job) -> dict[str, Any]:
    labels = {group: label(group, job.config[group]) for group in ("dataset", "sketch", "kernel", "task")}
    if job.config["dtype"] != "float32":
        labels["sketch"] = with_options(labels["sketch"], [f"dtype={job.config['dtype']}"])
    if job.config["opu"]:
        labels["sketch"] = with_options(labels["sketch"], [f"opu={label('opu', job.config['opu'])}"])
    return labels | {"degree": "" if job.kernel.power is None else job.kernel.power}


def split_columns(dataset: Dataset, split: Split) -> dict[str, Any]:
    return {"n_train": len(split.train), "n_test": len(split.test), "d": dataset.X.shape[1]}


def failure(error: Exception) -> dict[str, Any]:
    """A failed row has a reason and no number; the traceback is in the log."""
    log.error("failed", exc_info=error)
    reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return {"status": "failed", "message": " ".join(reason.split())}
