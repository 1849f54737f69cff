"""One job: data → features → measures → rows, seed by seed; only missing trials are computed."""

import logging
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from rfbench.arrays import Array
from rfbench.cache import kept
from rfbench.checks import InputError
from rfbench.config.identity import job_name, results_dir
from rfbench.config.schema import feature_count
from rfbench.datasets import load
from rfbench.datasets.base import Dataset
from rfbench.datasets.prepare import Preparation, Split, prepared_split
from rfbench.datasets.splits import split
from rfbench.devices.meters import DEVICES, Meter
from rfbench.engines import ShardWritten
from rfbench.job import Job, wanted_error
from rfbench.kernels import Kernel
from rfbench.memory import refuse_beyond
from rfbench.progress import bar, say
from rfbench.results.manifest import Manifest
from rfbench.results.recorder import MODELS, Recorder, model_file
from rfbench.results.rows import MISSING, Results, Row, finished_rows, only_writer, trial_key
from rfbench.results.series import keep_series
from rfbench.seeds import rng_for
from rfbench.sketches import Sketch
from rfbench.storage import remove_leftovers, replace_file
from rfbench.tasks import Measure, Trial
from rfbench.tasks.base import KERNEL_ROWS, Size
from rfbench.tasks.ridge.iterative import NoConvergenceError

log = logging.getLogger("rfbench")
TrialRows = list[dict[str, Any]]
V = TypeVar("V")


def run(job: Job, directory: Path, keep_going: bool) -> Results:
    """Fill the job's results.csv.  With keep_going a mistake in the input is a failed row too, not an error."""
    with only_writer(directory):
        remove_leftovers(directory)
        remove_leftovers(directory / MODELS, alone=True)
        job.engine.ledger.directory = directory / "partial"
        results = Results(directory, bool(job.config["force"]))
        try:
            fill(job, directory, results)
            if not job.partial:
                job.engine.ledger.clear()
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
    dataset = loaded(job.config)
    manifest = resumed(job, directory, dataset, results)
    recorder = Recorder(job.seeds[0], results.written)
    computed = False
    try:
        for rows in trials(job, dataset, results.done, recorder):
            if not computed:  # before any row, which without it could be of any data if the run is killed
                manifest.write(dataset.digest, recorder)
            computed = True
            recorder.keep(directory)
            log.info("%s features, seed %s: %s", rows[0]["features"], rows[0]["seed"], rows[0]["status"])
            results.add(rows)  # last, so that nothing else is missing where the run is killed
            if not job.partial:
                job.engine.ledger.clear()
    finally:
        if computed or (results.done and not manifest.path.exists()):
            manifest.write(dataset.digest, recorder)


def loaded(config: Mapping[str, Any]) -> Dataset:
    """The dataset of a config, which jobs of a command share."""
    dataset, data_dir, download = (config[key] for key in ("dataset", "data_dir", "download"))
    return kept.get(
        ("dataset", sorted(dataset.items()), data_dir, download),
        lambda: load(dataset, data_dir=data_dir, download=download),
    )


def resumed(job: Job, directory: Path, dataset: Dataset, results: Results) -> Manifest:
    """Decide which trials count as finished, and find those of other commands; what is known of the job so far."""
    manifest = Manifest(directory, job.config)
    if results.rows and manifest.data_changed(dataset.digest):
        raise InputError(f"{directory} was computed from different data; move it away and rerun")
    if results.rows and (plugins := manifest.other_plugins()):
        kept = re.sub(r"[^-.\w]+", "_", f"results-{plugins}") + ".csv"
        say(f"{job_name(job.config)} was computed with {plugins}, and is computed again; its rows are kept in {kept}")
        results.set_aside(kept)
        manifest.before = {}
    if not (results.rows or job.config["force"]) and (rows := copy_finished(directory, dataset.digest, job.config)):
        results.add(rows)
        results.done |= set(map(trial_key, rows))
        manifest = Manifest(directory, job.config)
    results.done -= regained(results.rows, job.meter)
    if job.config["task"].get("save"):  # a finished trial whose model is missing is computed again
        results.done = {key for key in results.done if (directory / MODELS / model_file(*key)).exists()}
    keep_series(directory, results.written)
    return manifest


def copy_finished(directory: Path, data: str, config: Mapping[str, Any]) -> TrialRows:
    """The rows that another command has computed for the same job from the same data; copies what belongs to them.

    A job writes results.csv last, so this reads it first: the other files hold at least as much.
    """
    for place in ("*", "*/jobs", "*/*/jobs"):
        for path in sorted(results_dir(config).glob(f"{place}/{directory.name}/results.csv")):
            found = path.parent
            with suppress(OSError, ValueError):  # damaged, or of another version
                rows = finished_rows(path)
                manifest = Manifest(found, config)
                if rows and manifest.before.get("data") == data and not manifest.other_plugins():
                    files = [found / name for name in ("run.json", "series.csv", "samples.csv")]
                    for file in (*files, *found.glob("*.npz"), *found.glob("models/*.npz")):
                        if file.exists():
                            replace_file(directory / file.relative_to(found), file.read_bytes())
                    log.info("copied from %s", found)
                    return rows
    return []


def regained(rows: Iterable[Row], meter: Meter) -> set[tuple[str, str]]:
    """Trials without a reading whose meter works now, or gives another reason."""
    empty = [row for row in rows if row["status"] == MISSING and row["metric"] == "joules"]
    reasons = set()
    for device in DEVICES if empty else ():
        with meter.on(device).measure() as reading:
            pass
        reasons.add(reading.reason)
    return {trial_key(row) for row in empty if row["message"] not in reasons}


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
            try:
                for rows in repetition(job, dataset, seed, wanted, recorder) if wanted else ():
                    if job.device:
                        recorder.learn(f"opu, seed {seed}", job.device.info())
                    yield rows
                    shown.update()
            except ShardWritten as share:
                say(f"seed {seed}: {share}")


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
    n_train, n_test = map(len, split(dataset, job.seeds[0], job.config["train_rows"], job.preparation.splitting))
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

    repeated = Repetition(job, dataset, seed)
    if repeated.preparation != job.preparation:
        recorder.learn(f"binarize, seed {seed}", {"threshold": repeated.preparation.threshold})
    split, kernel = repeated.split, repeated.kernel
    sample = repeated.sample(max(KERNEL_ROWS, job.sketch(job.kernel.provisional()).sample_rows))
    recorder.learn(f"{kernel.name} kernel, seed {seed}", job.kernel.learned(kernel))
    if objection := kernel.objection(sample):
        raise InputError(objection)
    reference = repeated.reference()
    start = perf_counter()
    sketch = job.task.wrapped(job.sketch(kernel), kernel).survey(lambda: (X for X, _ in split.train.blocks()))
    surveyed = perf_counter() - start
    sizes = {"n_train": len(split.train), "n_test": len(split.test), "d": dataset.X.shape[1]}
    for D in wanted:
        columns = job.columns | sizes | {"features": D, "seed": seed}
        try:
            start = perf_counter()
            adapted = sketch.adapt(sample, D)
            fit_seconds = surveyed + perf_counter() - start
            trial = make_trial(job, split, kernel, adapted, columns, recorder, fit_seconds)
            yield [row(columns, measure) for measure in job.task.metered(trial, reference)]
        except InputError:
            raise
        except ShardWritten as share:
            say(f"{D} features, seed {seed}: {share}")
        except Exception as error:
            recorder.forget()
            yield [columns | failure(error)]


@dataclass(frozen=True)
class Repetition:
    """What trials of one seed have in common; jobs with the same data, kernel and task compute it once."""

    job: Job
    dataset: Dataset
    seed: int

    def shared(self, what: str, make: Callable[[], V], *more: Any) -> V:
        """The result of `make`, which depends on nothing of the job but this."""
        job, data = self.job, (self.dataset.source, self.dataset.digest, self.job.config["train_rows"])
        numbers = (self.seed, job.dtype.name, job.engine.block_rows)
        return kept.get((what, data, job.preparation, job.kernel, job.task, numbers, *more), make)

    @cached_property
    def preparation(self) -> Preparation:
        task, kernel = self.job.task, self.job.kernel
        return self.shared(
            "preparation",
            lambda: task.prepare(self.job.preparation, self.split_by, kernel, self.seed, self.job.engine),
        )

    def split_by(self, preparation: Preparation) -> Split:
        return prepared_split(self.dataset, preparation, self.seed, self.job.dtype, self.job.config["train_rows"])

    @cached_property
    def split(self) -> Split:
        return self.shared("split", lambda: self.split_by(self.preparation))

    @cached_property
    def kernel(self) -> Kernel:
        job, D = self.job, None
        if job.kernel.tunable:
            D = max(features_of(job, self.dataset, given) for given in job.features)
        return self.shared("kernel", lambda: job.task.fit(job.kernel, self.split.train, self.seed, job.engine, D), D)

    def sample(self, rows: int) -> Array:
        """Training rows from which a kernel or a sketch learns."""
        return self.shared("sample", lambda: self.split.train.sample(rows, rng_for(self.seed, "kernel"))[0], rows)

    def reference(self) -> Any:
        task, engine = self.job.task, self.job.engine
        if not task.shares_reference:
            return task.reference(self.split, self.kernel, self.seed, engine)
        return self.shared("reference", lambda: task.reference(self.split, self.kernel, self.seed, engine))


def make_trial(
    job: Job,
    split: Split,
    kernel: Kernel,
    sketch: Sketch,
    columns: dict[str, Any],
    recorder: Recorder,
    fit_seconds: float,
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
        costs=bool(job.config["costs"]),
        fit_seconds=fit_seconds,
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
    elif isinstance(error, OSError) and error.strerror:
        reason = f"{error.filename or 'a file'}: {error.strerror}"
    else:
        reason = f"{type(error).__name__}: {error}"
    return {"status": "failed", "message": " ".join(reason.split())}
