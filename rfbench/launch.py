"""The jobs of a command line: checked before the first one runs, run through Hydra, their results joined."""

import argparse
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any, NoReturn

from rfbench.checks import InputError, require_plain
from rfbench.progress import say

if TYPE_CHECKING:
    from rfbench.config.experiments import Plan
    from rfbench.job import Job

# Hydra calls run_one with a config and nothing else; jobs that this process has built are found by their number.
BUILT: dict[int, "Job"] = {}
MISTAKES: list[InputError] = []


@dataclass(frozen=True)
class Done:
    """Jobs that have run, and where."""

    asked: dict[Path, list[int]]  # the seeds asked of each job
    target: Path  # of the joined table and the figure
    plot: list[str] | None
    notes: list[str]


def experiment(words: list[str]) -> int:
    """Run the jobs of the command line, then join their results."""
    done = perform(words)
    return conclude(done) if done else 0


def perform(words: list[str]) -> Done | None:
    """Check every job of the command line and run them through Hydra; None where a config was only printed."""
    from rfbench.config.compose import (
        combinations,
        compose_jobs,
        for_sweeper,
        quoted,
        with_plain_paths,
        with_search_path,
        without_hydra,
    )
    from rfbench.config.experiments import plan
    from rfbench.config.identity import directories
    from rfbench.job import build_job, plain_config

    require_plain("the working directory", os.getcwd())
    args = parse(words)
    flags = [word for word in words if word not in args.overrides]
    planned = plan(with_search_path(with_plain_paths(args.overrides)), args.multirun)
    configs = compose_jobs(planned.words, planned.multirun)
    if args.cfg or args.info or args.hydra_help or args.shell_completion:
        printing = [flag for flag in flags if flag not in ("-m", "--multirun")]
        call_hydra([*printing, *combinations(planned.words, planned.multirun)[0]])
        return None
    if (available := without_missing(planned)) != planned:
        planned, configs = available, compose_jobs(available.words, available.multirun)
    jobs = [build_job(plain_config(without_hydra(config))) for config in configs]
    for job in jobs:
        refuse_ignored(args.overrides, job)
    target, places = directories([job.config for job in jobs], planned.experiment, planned.multirun)
    BUILT.clear()
    BUILT.update(enumerate(jobs))
    MISTAKES.clear()
    if planned.multirun:
        call_hydra([*flags, *for_sweeper(planned.words), f"hydra.sweep.dir={quoted(target)}"], places)
    else:
        call_hydra([*flags, *planned.words, f"hydra.run.dir={quoted(places[0])}"], places)
    if MISTAKES:
        raise MISTAKES[0]
    asked: dict[Path, list[int]] = {}
    for place, job in zip(places, jobs, strict=True):
        asked.setdefault(place, []).extend(job.seeds)
    return Done(asked, target, jobs[0].config["plot"], planned.notes)


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
    parser.add_argument("--info", "-i", nargs="?", const="all")
    parser.add_argument("--hydra-help", action="store_true")
    parser.add_argument("--shell-completion", "-sc", action="store_true")
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


def refuse_ignored(overrides: list[str], job: "Job") -> None:
    """Refuse a dataset that has no effect because the task names its own rows."""
    ignored = [word for word in overrides if word.startswith(("dataset=", "dataset."))]
    if ignored and job.task.data(job.config["task"]):
        raise InputError(f"task={job.task.name} names its own rows, so '{ignored[0]}' has no effect; remove it")


def call_hydra(words: list[str], places: Sequence[Path] = ()) -> None:
    """Let Hydra print a config, or call run_one for every job in its directory."""
    import hydra
    from omegaconf import OmegaConf

    from rfbench.config.files import CONF

    OmegaConf.register_new_resolver("rfbench_directory", lambda number: str(places[int(number)]), replace=True)
    os.environ["HYDRA_FULL_ERROR"] = "1"  # hands exceptions on instead of printing them
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")  # of joblib's helpers, at Ctrl-C
    before, sys.argv = sys.argv, ["rfbench", *words]
    try:
        hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(run_one)()
    except OSError as error:
        raise InputError(f"cannot write {error.filename or 'outputs'}: {error.strerror}") from None
    finally:
        sys.argv = before


def run_one(config: Any) -> None:
    """One job, called by Hydra in its directory."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    from rfbench.job import build_job, plain_config
    from rfbench.trials import run

    hydra = HydraConfig.get()
    directory, sweep = Path(hydra.runtime.output_dir), hydra.mode == RunMode.MULTIRUN
    number = hydra.job.num if sweep else 0
    if number not in BUILT:  # a worker of joblib has built none
        end_with(os.getppid())
    job = BUILT.get(number) or build_job(plain_config(config))
    if sweep:
        say(f"[{number + 1}] {' '.join(hydra.overrides.task)}")
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
        run(job, directory, keep_going=sweep)
    except InputError as mistake:
        if number not in BUILT:
            raise  # the process that started this worker does not see its list
        MISTAKES.append(mistake)  # raised through Hydra it would be printed twice
    finally:
        log.removeHandler(handler)
        with suppress(OSError):
            handler.close()


@cache
def end_with(parent: int) -> None:
    """End this worker soon after the process that started it; a trial counts when it is whole, so nothing is lost."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def conclude(done: Done) -> int:
    """Write the table and the figure of all jobs and the seeds asked of them, print them, and say what failed."""
    from rfbench.reports import write_report
    from rfbench.reports.figures.pictures import write_pictures
    from rfbench.results.manifest import learned_lines
    from rfbench.results.rows import MISSING, joined_rows, write_rows
    from rfbench.results.series import joined_series, of_finished, write_series
    from rfbench.storage import remove_leftovers

    directories, target, notes = list(done.asked), done.target, done.notes
    remove_leftovers(target)
    rows, others = joined_rows(done.asked)
    points = of_finished(joined_series(directories), rows)
    if target not in directories:
        write_rows(target / "results.csv", rows)
        if points:
            write_series(target, points)
    say(write_report(target, rows, points, done.plot, notes))
    write_pictures(target, directories)
    learned = dict.fromkeys(line for directory in directories for line in learned_lines(directory))
    empty = dict.fromkeys(
        f"no {row['metric']} of {row['sketch']}: {row['message']}" for row in rows if row["status"] == MISSING
    )
    more = [f"{others} other seeds on disk are not shown: they were not asked for"] if others else []
    for lines in (notes, learned, empty, more):
        if lines:
            say("\n".join(["", *lines]))
    failed = [row for row in rows if row["status"] == "failed"]
    for message in dict.fromkeys(f"{row['dataset']}-{row['sketch']}: {row['message']}" for row in failed):
        print(f"rfbench: failed: {message}", file=sys.stderr)
    files = sorted(path.name for path in target.iterdir() if path.suffix in (".csv", ".json", ".png", ".svg"))
    files += ["models/"] if (target / "models").is_dir() else []
    say(f"\n{os.path.relpath(target)}/: {' '.join(files)}")
    say("all results on one page: rfbench report, then open outputs/report.html")
    return 1 if failed else 0
