"""Jobs of a command line: all checked, run through Hydra one by one, their results joined."""

import argparse
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rfbench.checks import InputError

if TYPE_CHECKING:
    from rfbench.job import Job

MISTAKES: list[InputError] = []


def experiment(words: list[str]) -> int:
    """Check every job of the command line, run them through Hydra, then join their results."""
    import hydra
    from omegaconf import OmegaConf

    from rfbench.config.compose import CONF, compose_jobs, quoted, with_search_path, without_hydra
    from rfbench.config.experiments import completed
    from rfbench.config.identity import sweep_directory
    from rfbench.job import build_job, plain_config

    args = parse(words)
    overrides, notes = completed(with_search_path(args.overrides))
    OmegaConf.register_new_resolver("rfbench_directory", lambda *, _root_: str(directory_of(_root_)), replace=True)
    # Hydra's way to hand exceptions on instead of printing them its own way.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    sys.argv = ["rfbench", *(word for word in words if word not in args.overrides), *overrides]
    app = hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(run_one)
    jobs, sweep = compose_jobs(overrides, args.multirun)
    if args.cfg or args.info or args.hydra_help or args.shell_completion:
        app()
        return 0
    for config in jobs:
        refuse_ignored(args.overrides, build_job(plain_config(without_hydra(config))))
    directories = list(dict.fromkeys(map(directory_of, jobs)))
    target = sweep_directory(directories, experiment_name(jobs[0]) or "sweep") if sweep else directories[0]
    if sweep:
        sys.argv.append(f"hydra.sweep.dir={quoted(target)}")
    MISTAKES.clear()
    try:
        app()
    except OSError as error:
        raise InputError(f"cannot write {error.filename or 'outputs'}: {error.strerror}") from None
    code = conclude(directories, target, jobs[0].plot, notes) if sweep or not MISTAKES else 2
    if MISTAKES:
        raise MISTAKES[0]
    return code


def refuse_ignored(overrides: list[str], job: "Job") -> None:
    """A task that names its rows leaves no room for another data set."""
    ignored = [word for word in overrides if word.startswith(("dataset=", "dataset."))]
    if ignored and job.task.data(job.config["task"]):
        raise InputError(
            f"task={job.task.name} has rows of its own here, and '{ignored[0]}' would be ignored; leave it out"
        )


def parse(words: list[str]) -> argparse.Namespace:
    """Hydra's options, as far as they are ours, with a mistake in one line."""
    from hydra._internal.utils import get_args_parser

    def refuse(message: str) -> NoReturn:
        raise InputError(f"{message}; see rfbench --help")

    parser = get_args_parser()
    parser.error = refuse  # type: ignore[method-assign]
    args = parser.parse_args(words)
    for option in ("config_name", "config_path", "resolve", "package"):
        if getattr(args, option):
            refuse(f"--{option.replace('_', '-')} is not for rfbench")
    return args


def run_one(config: Any) -> None:
    """One job, called by Hydra in its directory."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    from rfbench.job import build_job, plain_config
    from rfbench.run import run

    hydra = HydraConfig.get()
    directory, sweep = Path(hydra.runtime.output_dir), hydra.mode == RunMode.MULTIRUN
    job = build_job(plain_config(config))
    if sweep:
        print(f"[{hydra.job.num + 1}] {' '.join(hydra.overrides.task)}", flush=True)
    log = logging.getLogger("rfbench")
    handler = logging.FileHandler(directory / "rfbench.log", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.disabled = False  # Hydra silences every log that is there before it starts
    log.setLevel(logging.INFO)
    log.propagate = False
    warnings.simplefilter("ignore", RuntimeWarning)  # what is not finite becomes a failed row
    try:
        run(job, directory, keep_going=sweep)
    except InputError as mistake:
        MISTAKES.append(mistake)  # raised through Hydra it would be printed twice
    finally:
        log.removeHandler(handler)
        handler.close()


def directory_of(config: Any) -> Path:
    """The job's own directory; the same for Hydra and for us."""
    from rfbench.config.compose import without_hydra
    from rfbench.config.identity import job_directory, job_name
    from rfbench.job import plain_config

    plain = plain_config(without_hydra(config))
    return job_directory(plain, experiment_name(config) or job_name(plain))


def experiment_name(config: Any) -> str | None:
    return config.hydra.runtime.choices.get("experiment")


def no_number(row: dict[str, str]) -> str:
    return f"no {row['metric']} of {row['sketch']}: {row['message']}"


def conclude(directories: list[Path], target: Path, plot: list[str] | None, notes: list[str]) -> int:
    """Write the table and the figure of all jobs, print them with what is to be noted, and count what failed."""
    from rfbench.reports import write_report
    from rfbench.reports.figures.grids import write_grids
    from rfbench.reports.figures.maps import write_maps
    from rfbench.reports.figures.processes import write_posteriors
    from rfbench.results.manifest import learned_lines
    from rfbench.results.rows import COLUMNS, MISSING, read_rows, write_rows

    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for directory in directories:
        own = read_rows(directory / "results.csv")
        for row in own:  # jobs may share a number of features
            rows.setdefault(tuple(row[column] for column in COLUMNS[: COLUMNS.index("value")]), row)
        if directory != target:
            write_report(directory, own, plot)
            for write in (write_maps, write_posteriors, write_grids):
                write(directory, [directory])
    if target not in directories:
        write_rows(target / "results.csv", rows.values())
    print(write_report(target, rows.values(), plot, notes))
    for note in notes:
        print(f"\n{note}")
    if lines := dict.fromkeys(line for directory in directories for line in learned_lines(directory)):
        print("", *lines, sep="\n")
    for write in (write_maps, write_posteriors, write_grids):
        write(target, directories)
    if lines := dict.fromkeys(no_number(row) for row in rows.values() if row["status"] == MISSING):
        print("", *lines, sep="\n")
    failed = [row for row in rows.values() if row["status"] == "failed"]
    for message in dict.fromkeys(f"{row['dataset']}-{row['sketch']}: {row['message']}" for row in failed):
        print(f"rfbench: failed: {message}", file=sys.stderr)
    files = sorted(path.name for path in target.iterdir() if path.suffix in (".csv", ".json", ".png", ".svg"))
    print(f"\n{os.path.relpath(target)}/: {' '.join(files)}")
    return 1 if failed else 0
