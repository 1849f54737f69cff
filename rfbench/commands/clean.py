"""`rfbench clean`: remove results that are old, failed or without a number."""

import argparse
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path

from rfbench.checks import InputError, Parser
from rfbench.commands.merge import SHARES, write_table
from rfbench.memory import as_text
from rfbench.progress import say
from rfbench.results.places import JOBS, finished_at, home_of, homes, is_ours, job_directories, size_of
from rfbench.results.recorder import MODELS
from rfbench.results.rows import LOCK, only_writer, read_rows
from rfbench.storage import remove_leftovers

WRITTEN = (  # what runs leave in a directory
    *("results.csv", "results-*.csv", ".results.csv.sums", "series.csv", "samples.csv", "summary.csv", "crossings.csv"),
    *("figure.*", "maps.*", "posteriors.*", "grids.*", "run.json", "rfbench.log", ".tally.*", ".hydra", "models"),
    *("multirun.yaml", "partial"),
)
UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def main(words: list[str]) -> int:
    """Remove results below a directory.

    --older 30d removes runs, sweeps and experiments that finished more than 30 days ago (also 12h, 4w).  --failed
    removes jobs without a finished trial; you need not remove them to compute them again, their command does that.
    --orphans removes directories without a row, which interrupted runs leave, and temporary files of killed processes;
    sums of shard=i/n stay.
    Files that rfbench has not written stay, and so does a directory that a run is writing now.
    """
    args = _parse(words)
    chosen = dict(selected(args))
    total = 0
    for directory, reason in chosen.items():
        size, name = size_of(directory), os.path.relpath(directory)
        if args.dry_run:
            say(f"would remove {name} ({as_text(size)}; {reason})")
        elif left := remove(directory):
            say(f"kept {name}: {left}")
            continue
        else:
            say(f"removed {name} ({as_text(size)}; {reason})")
        total += size
    if not args.dry_run:
        tidy(args.directory, chosen)
    for home, jobs in homes(args.directory).items() if args.orphans and not args.dry_run else ():
        for place in (home, *jobs, *(job / MODELS for job in jobs)) if any(map(is_ours, jobs)) else ():
            remove_leftovers(place)
    say(f"{'would free' if args.dry_run else 'freed'} {as_text(total)}" if chosen else "nothing to remove")
    return 0


def _parse(words: list[str]) -> argparse.Namespace:
    about, _, details = (main.__doc__ or "").partition("\n\n")
    parser = Parser("rfbench clean", description=about, epilog=details, allow_abbrev=False)
    parser.add_argument(
        "directory", nargs="?", type=Path, default=Path("outputs"), metavar="DIR", help="default: outputs"
    )
    parser.add_argument("--older", type=age, metavar="30d", help="results that finished so long ago")
    parser.add_argument("--failed", action="store_true", help="jobs without a finished trial")
    parser.add_argument("--orphans", action="store_true", help="directories without a row")
    parser.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")
    args = parser.parse_args(words)
    if not (args.older is not None or args.failed or args.orphans):
        raise InputError("say what to remove: --older 30d, --failed or --orphans; --dry-run only lists it")
    if not args.directory.is_dir():
        raise InputError(f"no directory {args.directory}; name one that has results")
    return args


def age(text: str) -> timedelta:
    match = re.fullmatch(r"(\d+)([hdw])", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 12h, 30d or 4w")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def selected(args: argparse.Namespace) -> Iterator[tuple[Path, str]]:
    """The directories to remove, and why; jobs of a sweep that goes as a whole are not named."""
    for home, found in homes(args.directory).items():
        if not (jobs := [job for job in found if is_ours(job)]):
            continue
        if args.older is not None and (finished := finished_at(jobs)) < datetime.now(UTC) - args.older:
            yield home, f"finished {finished.astimezone():%Y-%m-%d %H:%M}"
            continue
        for job in jobs:
            rows = read_rows(job / "results.csv")
            if args.failed and rows and all(row["status"] == "failed" for row in rows):
                yield job, rows[0]["message"]
            elif args.orphans and not rows:
                yield job, "no row"
    for place in sorted(path.parent for path in args.directory.rglob(".hydra")) if args.orphans else ():
        if is_ours(place) and not (job_directories(place) or is_share(place)):
            yield place, "no row"


def is_share(job: Path) -> bool:
    """Whether it has sums of a share of the rows, which wait for a merge; shard=i/n writes no row."""
    config = job / ".hydra" / "config.yaml"
    asked = re.search(r"^shard: (?!null$)", config.read_text(), re.MULTILINE) if config.is_file() else None
    return bool(asked) and any(job.glob(SHARES))


def remove(directory: Path) -> str:
    """Remove what runs have written below a directory; the reason why something stays, or nothing."""
    for job in directory.glob(f"{JOBS}/*/"):
        if reason := remove(job):
            return reason
    try:
        with only_writer(directory):
            for path in written_in(directory):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except InputError as busy:
        return str(busy)
    (directory / LOCK).unlink(missing_ok=True)
    foreign = sorted(path.name for path in directory.iterdir() if path.name != JOBS)
    for place in (directory / JOBS, directory):
        with suppress(OSError):  # not there, or not empty
            place.rmdir()
    return f"it has {', '.join(foreign)}, which rfbench has not written" if foreign else ""


def written_in(directory: Path) -> list[Path]:
    return [path for path in directory.iterdir() if any(fnmatch(path.name, pattern) for pattern in WRITTEN)]


def tidy(directory: Path, removed: Iterable[Path]) -> None:
    """Write the tables of sweeps that lost a job again, and remove the folders above that are empty now."""
    removed = list(removed)
    for home in {home_of(job) for job in removed} - set(removed):
        if home.is_dir() and job_directories(home):
            write_table(home)
        elif home.is_dir():
            remove(home)
    for place in (above for job in removed for above in job.parents if directory in above.parents):
        with suppress(OSError):  # not empty
            place.rmdir()
