"""The jobs of a command line: checked before the first one runs, run here or by a launcher, their results joined."""

import argparse
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rfbench.checks import InputError, require_plain
from rfbench.config.effects import without_effect
from rfbench.progress import bar, say

if TYPE_CHECKING:
    from rfbench.config.compose import Composed
    from rfbench.config.experiments import Plan
    from rfbench.job import Job

PARENT = "RFBENCH_PARENT"  # for workers: the process that wants them, which may be gone when they start
MISTAKES: list[InputError] = []  # of jobs that a launcher runs in this process
BASIC = ("BasicSweeper", "BasicLauncher")  # of Hydra: one job after the other, which needs neither
MANY_JOBS = 10  # to check them takes seconds
DEATHS = ("TerminatedWorkerError", "BrokenProcessPool", "UncompletedJobError")  # of joblib and submitit


@dataclass(frozen=True)
class Done:
    """Jobs that have run, and where."""

    asked: dict[Path, list[int]]  # the seeds asked of each job
    target: Path  # of the joined table and the figure
    plot: list[str] | None
    spread: str
    notes: list[str]
    outputs: Path = Path("outputs")  # where all results are
    shares: bool = False  # whether the jobs have done their share of the rows only
    heads: Sequence[str] = ()  # a line for each job of a sweep
    data: Sequence[dict[str, Any]] | None = None  # on which the command depends; None: look at each job again


def experiment(words: list[str]) -> int:
    """Run the jobs of the command line, then join their results."""
    from rfbench.results.finished import recall

    if known := recall(words):
        for line in (*known["heads"], known["text"]):
            say(line)
        return 0
    done = perform(words)
    if done and done.shares and not any((place / "results.csv").exists() for place in done.asked):
        say("when all shards are written: rfbench merge DIR DIR …, then this command without shard")
        return 0
    return conclude(done, words) if done else 0


def perform(words: list[str]) -> Done | None:
    """Check every job of the command line and run them; None where a config was only printed."""
    from rfbench.config.compose import for_sweeper, quoted, with_plain_paths, with_search_path
    from rfbench.config.experiments import plan
    from rfbench.config.identity import directories, results_dir
    from rfbench.engines.worker import end_joblib_with_us
    from rfbench.results import tally
    from rfbench.results.finished import data_of
    from rfbench.storage import sweep_cache

    require_plain("the working directory", os.getcwd())
    sweep_cache()
    args = parse(words)
    flags = [word for word in words if word not in args.overrides]
    planned = plan(with_search_path(with_plain_paths(args.overrides)), args.multirun)
    if args.cfg or args.info or args.hydra_help:
        print_config(args, planned)
        return None
    composed, jobs = checked_jobs(planned)
    available = without_missing(planned)
    if not (complete := available == planned):
        planned, (composed, jobs) = available, checked_jobs(available)
    refuse_ignored(args.overrides, jobs)
    target, places = directories([job.config for job in jobs], planned.experiment, planned.multirun)
    hydra = composed[0].hydra
    here = all(str(part._target_).endswith(BASIC) for part in (hydra.sweeper, hydra.launcher))
    if planned.multirun:
        work = [tally.lacking(place, job.seeds, job.config["force"]) for place, job in zip(places, jobs, strict=True)]
        if planned.experiment and complete:
            announce(planned.experiment, args.overrides, sum(work) / sum(len(job.seeds) for job in jobs))
        standing = tally.tally_of(target, os.getpid())
        tally.begin(standing, work)
        try:
            if here:
                run_here(composed, jobs, places, standing)
            else:
                if "joblib" in str(hydra.launcher._target_):
                    end_joblib_with_us()
                call_hydra([*flags, *for_sweeper(planned.words), f"hydra.sweep.dir={quoted(target)}"], places)
                (target / "multirun.yaml").unlink(missing_ok=True)  # the same files as without a launcher
        finally:
            tally.end(standing)
    else:
        run_here(composed, jobs, places, None)
    asked: dict[Path, list[int]] = {}
    for place, job in zip(places, jobs, strict=True):
        asked.setdefault(place, []).extend(job.seeds)
    config = jobs[0].config
    heads = [f"[{number}/{len(jobs)}] {' '.join(one.words)}" for number, one in enumerate(composed, 1)]
    data = data_of((job.config for job in jobs), places) if complete else None
    shares = any(job.partial for job in jobs)
    about = (planned.notes, results_dir(config), shares, heads if planned.multirun else [], data)
    return Done(asked, target, config["plot"], config["spread"], *about)


def print_config(args: argparse.Namespace, planned: "Plan") -> None:
    """Let Hydra print the config of the first job, or its own help."""
    from rfbench.config.compose import combinations, compose_job

    first = combinations(planned.words, planned.multirun)[0]
    compose_job(first)  # refuses a mistake
    shown = [("--cfg", args.cfg), ("--info", args.info)]
    printing = [f"{flag}={value}" for flag, value in shown if value] + ["--hydra-help"] * args.hydra_help
    call_hydra([*printing, *first])


def announce(experiment: str, overrides: list[str], share: float) -> None:
    """Say how long a share of an experiment will take, where that is known."""
    from rfbench.advise.duration import forecast

    processes = os.cpu_count() or 1 if "hydra/launcher=joblib" in overrides else 1
    if text := forecast(experiment, overrides, share, processes):
        print(text, file=sys.stderr, flush=True)


def checked_jobs(planned: "Plan") -> "tuple[list[Composed], list[Job]]":
    """The jobs of a plan, each without a mistake; one of several that has a mistake is named."""
    from rfbench.config.compose import combinations, composer
    from rfbench.job import build_job, plain_config

    several = combinations(planned.words, planned.multirun)
    if len(several) >= MANY_JOBS:
        print(f"checking {len(several)} jobs", file=sys.stderr, flush=True)
    compose_one, configs, jobs = composer(), [], []
    with bar(len(several), "checking", "job") as shown:
        for number, words in enumerate(several):
            try:
                composed = compose_one(words)
                job = build_job(plain_config(composed.config))
            except InputError as error:
                own = " ".join(word for word in words if any(word not in other for other in several))
                where = f" (job {number + 1} of {len(several)}: {own})" if own else ""
                raise InputError(f"{error}{where}") from None
            configs.append(composed)
            jobs.append(job)
            shown.update()
    return configs, jobs


def parse(words: list[str]) -> argparse.Namespace:
    """Overrides and those options of Hydra that rfbench has, with a mistake in one line."""

    def refuse(message: str) -> NoReturn:
        raise InputError(f"{message}; see rfbench --help")

    parser = argparse.ArgumentParser("rfbench", add_help=False, allow_abbrev=False)
    parser.error = refuse  # type: ignore[method-assign]
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("--multirun", "-m", action="store_true")
    parser.add_argument("--run", "-r", action="store_true")
    parser.add_argument("--cfg", "-c", choices=["job", "hydra", "all"])
    infos = ["all", "config", "defaults", "defaults-tree", "plugins", "searchpath"]
    parser.add_argument("--info", "-i", nargs="?", const="all", choices=infos)
    parser.add_argument("--hydra-help", action="store_true")
    return parser.parse_intermixed_args(words)


def without_missing(planned: "Plan") -> "Plan":
    """The plan with those of the experiment's datasets that are available, after downloading what can be downloaded."""
    from rfbench.datasets import load, status

    missing: dict[str, str] = {}
    for name in planned.datasets:
        if status(name, planned.data_dir) not in ("embedded", "generated", "own file"):
            try:
                load({"name": name}, data_dir=planned.data_dir, download=planned.download)
            except InputError as error:
                missing[name] = str(error)
    if missing and len(missing) == len(planned.datasets):
        raise InputError(f"none of its datasets is available: {next(iter(missing.values()))}")
    return planned.without(missing) if missing else planned


def refuse_ignored(overrides: list[str], jobs: Sequence["Job"]) -> None:
    """Refuse words that have no effect: a dataset where the task names its own rows, options that nothing reads."""
    ignored = [word for word in overrides if word.startswith(("dataset=", "dataset."))]
    for job in jobs:
        if ignored and job.task.data(job.config["task"]):
            raise InputError(f"task={job.task.name} names its own rows, so '{ignored[0]}' has no effect; remove it")
    for word in overrides:
        reason = without_effect(word.partition("=")[0], [job.config for job in jobs])
        if word.startswith("degree=") and not any("degree" in job.kernel.options for job in jobs):
            reason = f"kernel={jobs[0].kernel.name} has no degree"
        if reason:
            raise InputError(f"'{word}' has no effect: {reason}; remove it")


def run_here(
    composed: "Sequence[Composed]", jobs: "Sequence[Job]", places: Sequence[Path], standing: Path | None
) -> None:
    """Run jobs one after the other; a mistake in one of them is raised when the others have run."""
    from hydra.core.utils import configure_log

    from rfbench.cache import kept
    from rfbench.config.written import write_config

    hydra = composed[0].hydra
    mistakes: list[Exception] = []
    kept.clear()
    try:
        configure_log(hydra.job_logging, hydra.verbose)  # libraries are silent
        with environment(hydra.job.env_set):
            for number, (config, job, place) in enumerate(zip(composed, jobs, places, strict=True)):
                write_config(place, config, None if standing is None else number)
                try:
                    run_one(job, place, standing, number, config.words)
                except Exception as mistake:
                    mistakes.append(mistake)
        if mistakes:
            raise mistakes[0]
    except OSError as error:
        raise cannot_write(error) from None
    finally:
        kept.clear()


def call_hydra(words: list[str], places: Sequence[Path] = ()) -> None:
    """Let Hydra print a config, or hand every job to a launcher, which calls run_launched in its directory."""
    import hydra
    from omegaconf import OmegaConf

    from rfbench.config.files import CONF

    OmegaConf.register_new_resolver("rfbench_directory", lambda number: str(places[int(number)]), replace=True)
    inherited = {
        "HYDRA_FULL_ERROR": "1",  # hands exceptions on instead of printing them
        "PYTHONWARNINGS": os.environ.get("PYTHONWARNINGS") or "ignore:resource_tracker:UserWarning",  # at Ctrl-C
        PARENT: str(os.getpid()),
    }
    logging.raiseExceptions = False  # a reader that has seen enough of --info is no error
    MISTAKES.clear()
    before, sys.argv = sys.argv, ["rfbench", *words]
    try:
        with environment(inherited):
            hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(run_launched)()
    except OSError as error:
        raise cannot_write(error) from None
    except Exception as error:
        if type(error).__name__ not in DEATHS:
            raise
        raise InputError(
            "a process that had a job of the sweep died; finished trials are kept, rerun the command to do the rest"
        ) from None
    finally:
        sys.argv = before
    if MISTAKES:
        raise MISTAKES[0]


def cannot_write(error: OSError) -> InputError:
    return InputError(f"cannot write {error.filename or 'outputs'}: {error.strerror}")


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables for this process and those that it starts; a caller from Python has its own afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def run_launched(config: Any) -> None:
    """One job of a sweep, called by a launcher of Hydra in its directory."""
    from hydra.core.hydra_config import HydraConfig

    from rfbench.cache import kept
    from rfbench.engines.worker import end_with
    from rfbench.job import build_job, plain_config
    from rfbench.results import tally

    kept.clear()  # a worker may outlive the command
    hydra = HydraConfig.get()
    here = os.environ.get(PARENT) == str(os.getpid())  # joblib with one process
    if not here:
        joblib = "joblib" in hydra.launcher._target_
        end_with(int(os.environ[PARENT]) if joblib else os.getppid())
    job, directory = build_job(plain_config(config)), Path(hydra.runtime.output_dir)
    standing = tally.tally_of(Path(hydra.sweep.dir), os.environ.get(PARENT, ""))
    try:
        run_one(job, directory, standing, hydra.job.num, hydra.overrides.task)
    except InputError as mistake:
        if not here:
            raise  # the process that started this worker does not see its list
        MISTAKES.append(mistake)  # raised through Hydra it would be printed twice


def run_one(job: "Job", directory: Path, standing: Path | None, number: int, words: Sequence[str]) -> None:
    """One job in its directory, with its log; of a sweep it says how far that is."""
    from rfbench.results import tally
    from rfbench.trials import run

    if standing:
        say(f"{tally.standing(standing, number)} {' '.join(words)}")
    log = logging.getLogger("rfbench")
    handler = logging.FileHandler(directory / "rfbench.log", delay=True)
    handler.handleError = lambda record: None  # type: ignore[method-assign]  # a full disk is reported once, by results
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.disabled = False  # Hydra silences every log that exists before it starts
    log.setLevel(logging.INFO)
    log.propagate = False
    warnings.simplefilter("ignore", RuntimeWarning)  # a number that is not finite becomes a failed row
    try:
        results = run(job, directory, keep_going=bool(standing))
        if standing:
            tally.add(standing, number, any(row["status"] == "failed" for row in results.rows))
    finally:
        log.removeHandler(handler)
        with suppress(OSError):
            handler.close()


def write_tables(done: Done) -> tuple[list[dict[str, str]], int, str]:
    """Write the table and the figure of all jobs and the seeds asked of them; the rows, other seeds, and the table."""
    from rfbench.reports import write_report
    from rfbench.reports.figures.pictures import write_pictures
    from rfbench.results.rows import joined_rows, write_rows
    from rfbench.results.series import joined_series, of_finished, write_series
    from rfbench.storage import remove_leftovers

    directories, target = list(done.asked), done.target
    remove_leftovers(target)
    rows, others = joined_rows(done.asked)
    points = of_finished(joined_series(directories), rows)
    if target not in directories:
        write_rows(target / "results.csv", rows)
        if points:
            write_series(target, points)
    text = write_report(target, rows, points, done.plot, done.notes, done.spread)
    write_pictures(target, directories)
    return rows, others, text


def conclude(done: Done, words: Sequence[str] = ()) -> int:
    """Write the table and the figure of all jobs, print them, and say what failed; a finished command is remembered."""
    from rfbench.results.finished import remember

    rows, text = told(done)
    say(text)
    failed = [row for row in rows if row["status"] == "failed"]
    for message in dict.fromkeys(f"{row['dataset']}-{row['sketch']}: {row['message']}" for row in failed):
        print(f"rfbench: failed: {message}", file=sys.stderr)
    lasting = not any(row["metric"] == "joules" and row["status"] != "ok" for row in rows)
    if words and lasting and done.data is not None and not failed:
        remember(words, done.target, done.asked, {"heads": done.heads, "text": text, "data": done.data})
    return 1 if failed else 0


def told(done: Done) -> tuple[list[dict[str, str]], str]:
    """The rows of all jobs, and what is printed of them; writes the table and the figure."""
    from rfbench.results.manifest import learned_lines
    from rfbench.results.rows import MISSING

    rows, others, table = write_tables(done)
    directories, target, notes = list(done.asked), done.target, done.notes
    learned = dict.fromkeys(line for directory in directories for line in learned_lines(directory))
    empty = dict.fromkeys(
        f"no {row['metric']} of {row['sketch']}: {row['message']}" for row in rows if row["status"] == MISSING
    )
    several = f"{others} other seeds on disk are not shown: they were"
    other = "1 other seed on disk is not shown: it was" if others == 1 else several
    more = [f"{other} not asked for"] if others else []
    parts = [table, *("\n".join(["", *lines]) for lines in (notes, learned, empty, more) if lines)]
    files = sorted(path.name for path in target.iterdir() if path.suffix in (".csv", ".json", ".pdf", ".png", ".svg"))
    files += ["models/"] if (target / "models").is_dir() else []
    outputs = os.path.relpath(done.outputs)
    which = "" if outputs == "outputs" else f" {shlex.quote(outputs)}"
    parts.append(f"\n{os.path.relpath(target)}/: {' '.join(files)}")
    parts.append(f"all results on one page: rfbench report{which}, then open {outputs}/report.html")
    return rows, "\n".join(parts)
