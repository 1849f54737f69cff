"""One job: data → features → measures → rows, seed by seed; only missing trials are computed."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from rfbench.checks import InputError
from rfbench.config.identity import job_name
from rfbench.config.schema import feature_count
from rfbench.datasets import load
from rfbench.datasets.base import Dataset
from rfbench.datasets.prepare import Preparation, Split, prepared_split
from rfbench.datasets.splits import split
from rfbench.job import Job, wanted_error
from rfbench.kernels import Kernel
from rfbench.memory import refuse_beyond
from rfbench.progress import bar
from rfbench.results.manifest import Manifest
from rfbench.results.recorder import Recorder
from rfbench.results.rows import MISSING, Results, finished_rows, only_writer, trial_key
from rfbench.results.series import keep_series
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.storage import remove_leftovers, replace_file
from rfbench.tasks import Measure, Trial
from rfbench.tasks.base import KERNEL_ROWS, Size
from rfbench.tasks.model import model_file
from rfbench.tasks.ridge.iterative import NoConvergenceError

log = logging.getLogger("rfbench")
TrialRows = list[dict[str, Any]]


def run(job: Job, directory: Path, keep_going: bool) -> Results:
    """Fill the job's results.csv.  With keep_going a mistake in the input is a failed row too, not an error."""
    with only_writer(directory):
        remove_leftovers(directory)
        results = Results(directory, bool(job.config["force"]))
        try:
            fill(job, directory, results)
            if results.stale:  # nothing was left to compute
                results.add(())
        except Exception as error:
            if isinstance(error, InputError) and not keep_going:
                if not results.path.exists():
                    remove_empty_output(directory)
                raise
            results.add([job.columns | failure(error)])
        return results


def fill(job: Job, directory: Path, results: Results) -> None:
    """Compute the trials that are missing and keep each with all that belongs to it."""
    dataset = load(job.config["dataset"], data_dir=job.config["data_dir"], download=job.config["download"])
    if not (results.rows or job.config["force"]) and (rows := copy_finished(directory, dataset.digest)):
        results.add(rows)
        results.done |= set(map(trial_key, rows))
    if job.config["task"].get("save"):  # a finished trial whose model is missing is computed again
        results.done = {key for key in results.done if (directory / "models" / model_file(*key)).exists()}
    keep_series(directory, results.written)
    manifest, recorder = Manifest(directory, job.config), Recorder(job.seeds[0], results.written)
    if results.rows and manifest.data_changed(dataset.digest):
        raise InputError(f"{directory} was computed from different data; move it away and rerun")
    computed = False
    try:
        for rows in trials(job, dataset, results.done, recorder):
            if not computed:  # before any row, which without it could be of any data if the run is killed
                manifest.write(dataset.digest, recorder)
            computed = True
            recorder.keep(directory)
            results.add(rows)
            log.info("%s features, seed %s: %s", rows[0]["features"], rows[0]["seed"], rows[0]["status"])
    finally:
        if computed or (results.done and not manifest.path.exists()):
            manifest.write(dataset.digest, recorder)


def copy_finished(directory: Path, data: str) -> TrialRows:
    """The rows that another command has computed for the same job from the same data; copies what belongs to them.

    A job writes results.csv last, so this reads it first: the other files hold at least as much.
    """
    for place in ("*", "*/jobs", "*/*/jobs"):
        for path in sorted(Path("outputs").glob(f"{place}/{directory.name}/results.csv")):
            found = path.parent
            with suppress(OSError, ValueError):  # damaged, or of another version
                rows = finished_rows(path)
                if rows and Manifest(found, {}).before.get("data") == data:
                    files = [found / name for name in ("run.json", "series.csv", "samples.csv")]
                    for file in (*files, *found.glob("*.npz"), *found.glob("models/*.npz")):
                        if file.exists():
                            replace_file(directory / file.relative_to(found), file.read_bytes())
                    log.info("copied from %s", found)
                    return rows
    return []


def remove_empty_output(directory: Path) -> None:
    """Remove what a run has created before its first row, and nothing else."""
    shutil.rmtree(directory / ".hydra", ignore_errors=True)
    for name in (".lock", "rfbench.log"):
        (directory / name).unlink(missing_ok=True)
    with suppress(OSError):  # not empty: the rest is not ours
        directory.rmdir()
        directory.parent.rmdir()


def trials(job: Job, dataset: Dataset, done: set[tuple[str, str]], recorder: Recorder) -> Iterator[TrialRows]:
    """The rows of every trial that is not done yet, in the order of seeds."""
    # The number of features does not depend on the kernel's numbers, so a provisional kernel is enough.
    sketch, d = job.sketch(job.kernel.provisional()), dataset.X.shape[1]
    wanted_counts = (features_of(job, dataset, D) for D in job.features)
    counts = list(dict.fromkeys(sketch.count(job.preparation.columns(d), D) for D in wanted_counts))
    for objection in filter(None, map(sketch.objection, counts)):
        raise InputError(objection)
    missing = {seed: [D for D in counts if (str(D), str(seed)) not in done] for seed in job.seeds}
    refuse_beyond_memory(job, dataset, sketch, sorted({D for wanted in missing.values() for D in wanted}))
    total = sum(map(len, missing.values()))
    with job.device or nullcontext(), job.engine.running(), bar(total, job_name(job.config), "trial") as shown:
        for seed, wanted in missing.items():
            for rows in repetition(job, dataset, seed, wanted, recorder) if wanted else ():
                if job.device:
                    recorder.learn(f"opu, seed {seed}", job.device.info())
                yield rows
                shown.update()


def features_of(job: Job, dataset: Dataset, given: int | str) -> int:
    """D of a number, of a multiple of the columns, or of the predicted error that auto names."""
    if (error := wanted_error(given)) is None:
        return feature_count(given, dataset.X.shape[1])
    from rfbench.advise.candidates import features_for

    return features_for(job, dataset, error)


def refuse_beyond_memory(job: Job, dataset: Dataset, sketch: Sketch, counts: list[int]) -> None:
    """Refuse trials that need more memory than there is, before the first of them."""
    if not counts:
        return
    n_train, n_test = map(len, split(dataset, job.seeds[0], job.config["train_rows"]))
    wide = np.dtype(complex if sketch.is_complex else float).itemsize
    for D in () if sketch.localized or sketch.recentred else counts:
        size = Size(n_train, n_test, D, sketch.explicit, wide * job.dtype.itemsize // 8, wide)
        what = f"task={job.task.name} with {D:,} features of {n_train:,} rows"
        refuse_beyond(job.task.memory(size), what, job.memory)


def repetition(job: Job, dataset: Dataset, seed: int, wanted: list[int], recorder: Recorder) -> Iterator[TrialRows]:
    """One split, one exact answer, and a trial for each number of features."""
    if len(dataset.y.shape) > 1 and not job.task.several_outputs:
        raise InputError(
            f"task={job.task.name} is for one output, and dataset '{dataset.name}' has {dataset.y.shape[1]}; "
            "use task=vector_field"
        )

    def split_by(preparation: Preparation) -> Split:
        return prepared_split(dataset, preparation, seed, job.dtype, job.config["train_rows"])

    preparation = job.task.prepare(job.preparation, split_by, job.kernel, seed, job.engine)
    if preparation != job.preparation:
        recorder.learn(f"binarize, seed {seed}", {"threshold": preparation.threshold})
    split = split_by(preparation)
    rows = max(KERNEL_ROWS, job.sketch(job.kernel.provisional()).sample_rows)
    sample, _ = split.train.sample(rows, rng_for(seed, "kernel"))
    kernel = job.task.fit(job.kernel, split.train, seed, job.engine)
    recorder.learn(f"{kernel.name} kernel, seed {seed}", job.kernel.learned(kernel))
    if objection := kernel.objection(sample):
        raise InputError(objection)
    reference = job.task.reference(split, kernel, seed, job.engine)
    sketch = job.task.wrapped(job.sketch(kernel), kernel).survey(lambda: (X for X, _ in split.train.blocks()))
    sizes = {"n_train": len(split.train), "n_test": len(split.test), "d": dataset.X.shape[1]}
    for D in wanted:
        columns = job.columns | sizes | {"features": D, "seed": seed}
        try:
            trial = make_trial(job, split, kernel, sketch.adapt(sample, D), columns, recorder)
            yield [row(columns, measure) for measure in job.task.metered(trial, reference)]
        except InputError:
            raise
        except Exception as error:
            recorder.forget()
            yield [columns | failure(error)]


def make_trial(
    job: Job, split: Split, kernel: Kernel, sketch: Sketch, columns: dict[str, Any], recorder: Recorder
) -> Trial:
    """The sketch, fitted to training rows, with D features and a seed."""
    trial = Trial(
        split,
        kernel,
        sketch,
        job.preparation.columns(columns["d"]),
        columns["features"],
        columns["seed"],
        job.engine,
        dtype=job.dtype.name,
        name=job.config["sketch"]["name"],
        real_twin=job.real_twin(kernel),
        energy_meter=job.meter,
        device="opu" if job.device else "cpu",
        columns=columns,
        recorder=recorder,
    )
    trial.learn(trial.sketch.facts())
    return trial


def row(columns: dict[str, Any], measure: Measure) -> dict[str, Any]:
    """A number, or an empty cell with its reason."""
    metric, value, unit, message, where = measure
    found = bool(np.isfinite(value))
    if not found and not message:
        raise ArithmeticError(f"{metric} is not a finite number; use dtype=float64, or other options of the kernel")
    cell = {"value": repr(float(value)), "status": "ok"} if found else {"value": "", "status": MISSING}
    return {**columns, **where, "metric": metric, "unit": unit, "message": message, **cell}


def failure(error: Exception) -> dict[str, Any]:
    """A failed row has a reason and no number; the traceback is in the log."""
    log.error("failed", exc_info=error)
    if isinstance(error, InputError) or type(error) is ArithmeticError or isinstance(error, NoConvergenceError):
        reason = str(error)
    elif isinstance(error, OverflowError | FloatingPointError):
        reason = f"a number is too large or too small to compute with ({error.args[-1]}); change the kernel's options"
    elif isinstance(error, MemoryError):
        reason = f"out of memory ({error}); use fewer features, or memory_limit=… to be told before"
    else:
        reason = f"{type(error).__name__}: {error}"
    return {"status": "failed", "message": " ".join(reason.split())}
