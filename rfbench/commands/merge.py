"""`rfbench merge`: results of several machines, joined trial by trial; sums of shares of the rows, put together."""

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rfbench.checks import InputError, Parser
from rfbench.config.files import choices
from rfbench.engines.ledger import read_sums
from rfbench.launch import Done, write_tables
from rfbench.progress import bar, say
from rfbench.results.parts import Part, join, mismatch, refuse_conflicts
from rfbench.results.places import JOBS, home_of, job_directories
from rfbench.results.rows import only_writer
from rfbench.storage import ensure_dir, replace_file

SHARES = "partial/*/part-*.npz"
WAY_OUT = "leave one of them out, or add --first to keep the one of the directory named first"


def main(words: list[str]) -> int:
    """Join the results below several directories: one job has the seeds of all.

    Results that the output directory already has are joined too, before the others.  If two directories have numbers of
    one trial that differ by more than rounding, nothing is written; times may differ.  The other directories stay as
    they are.  --first joins them all the same, but no trials of other data than those of the directory named first.
    Sums that shard=i/n has written are put together; the same command without shard adds them up.
    """
    args = _parse(words)
    jobs = {
        args.output / place: parts
        for place, parts in found_jobs([args.output, *args.directories]).items()
        if any(part.directory != args.output / place for part in parts)
    }
    for parts in jobs.values() if not args.first else ():
        refuse_conflicts(parts, WAY_OUT)
    jobs = {job: list(like_the_first(parts)) for job, parts in jobs.items()}
    with bar(len(jobs), "merging", "job") as shown:
        for job, parts in jobs.items():
            join(parts, job)
            shown.update()
    for home in dict.fromkeys(map(home_of, jobs)):
        merged = [part for job, parts in jobs.items() if home_of(job) == home for part in parts]
        say(f"{os.path.relpath(home)}/: {write_table(home)}, joined from {len(merged)} directories")
    for line in put_together(args.directories, args.output):
        say(line)
    return 0


def _parse(words: list[str]) -> argparse.Namespace:
    about, _, details = (main.__doc__ or "").partition("\n\n")
    parser = Parser("rfbench merge", description=about, epilog=details)
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIR", help="results, at any depth below it")
    parser.add_argument("--output", type=Path, default=Path("outputs"), metavar="DIR", help="default: outputs")
    parser.add_argument("--first", action="store_true", help="keep the first of two numbers that differ")
    args = parser.parse_args(words)
    for directory in args.directories:
        if not directory.is_dir():
            raise InputError(f"no directory {directory}")
        if not job_directories(directory) and not next(directory.rglob(SHARES), None):
            raise InputError(f"no results below {directory}; name a directory that rfbench has written")
    args.output = args.output.absolute()
    return args


def put_together(directories: Iterable[Path], output: Path) -> Iterator[str]:
    """Copy the sums of shares of the rows to their runs in the output directory; a line on each run."""
    found: dict[Path, set[Path]] = {}
    for file in (file for directory in directories for file in sorted(directory.absolute().rglob(SHARES))):
        head, _ = read_sums(file)
        job = file.parents[2]
        place = output / place_of(job)
        copy = place / file.relative_to(job)
        if copy.exists():
            if read_sums(copy)[0]["digest"] != head["digest"]:
                raise InputError(f"{file} and {copy} have different sums of the same rows; remove one of them")
        else:
            with only_writer(ensure_dir(place)):
                replace_file(copy, file.read_bytes())
        found.setdefault(copy.parent, set()).add(copy)
    for where in found:
        head, _ = read_sums(next(iter(found[where])))
        have = len(list(where.glob("part-*.npz")))
        left = "" if have < head["count"] else "; run the command without shard"
        yield f"{os.path.relpath(where)}/: {have} of {head['count']} parts, {head['rows']:,} rows{left}"


def found_jobs(directories: Iterable[Path]) -> dict[Path, list[Part]]:
    """All jobs below the directories, by their place in a directory of results."""
    found: dict[Path, dict[Path, Part]] = {}
    for directory in directories:
        for job in job_directories(directory.absolute()):
            found.setdefault(place_of(job), {}).setdefault(job.resolve(), Part(job))
    return {place: list(parts.values()) for place, parts in found.items()}


def place_of(job: Path) -> Path:
    """demo/jobs/HASH, wacker/fig4_8/jobs/HASH, digits-rff-ridge/HASH, wherever the directory of results is."""
    home = home_of(job)
    if home == job:
        return Path(job.parent.name, job.name)
    names = [Path(home.parent.name, home.name), Path(home.name)]
    name = next((name for name in names if name.as_posix() in choices("experiment")), names[-1])
    return name / JOBS / job.name


def like_the_first(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts whose trials may be beside those of the first."""
    first, *others = parts
    yield first
    for part in others:
        if reason := mismatch(first, part):
            say(f"left out {os.path.relpath(part.directory)}: {reason}")
        else:
            yield part


def write_table(home: Path) -> str:
    """Write the table and the figure of a run, or of all jobs of a sweep; say how many jobs and seeds they have."""
    parts = [Part(job) for job in job_directories(home)]
    asked = {part.directory: [int(seed) for _, seed in part.trials if seed] for part in parts}
    config: dict[str, Any] = next((part.manifest["config"] for part in parts if part.manifest), {})
    write_tables(Done(asked, home, config.get("plot"), config.get("spread", "std"), []))
    seeds = {seed for several in asked.values() for seed in several}
    return f"{len(parts)} job{'s' if len(parts) > 1 else ''}, {len(seeds)} seed{'s' if len(seeds) != 1 else ''}"
