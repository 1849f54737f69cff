"""How far a sweep is: a file in its directory to which every process of it adds a line when a job ends.

Each sweep has its own, `.tally.PID` with the number of the process that has started it: the same command may run twice.
One that is killed leaves it, as a temporary file that the next start removes.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import time

from rfbench.results.rows import finished_rows
from rfbench.storage import append_file, replace_file

SHORT = 5  # seconds; less is not worth a word


def tally_of(directory: Path, process: int | str) -> Path:
    return directory / f".tally.{process}"


def begin(file: Path, work: Sequence[int]) -> None:
    """Start to count; `work` is the number of seeds that each job lacks."""
    replace_file(file, json.dumps({"start": time(), "work": list(work)}) + "\n")


def end(file: Path) -> None:
    file.unlink(missing_ok=True)


def add(file: Path, number: int, failed: bool) -> None:
    """A job has ended; nobody counts any more once the sweep has ended."""
    if file.exists():
        append_file(file, f"[{number}, {int(failed)}]\n".encode(), sync=False)


def standing(file: Path, number: int) -> str:
    """[22/200] for a job that begins, and behind it the time left and the failures so far."""
    try:
        head, *lines = file.read_text().splitlines()
        told, ended = json.loads(head), [json.loads(line) for line in lines]
        work = told["work"]
        done, failed = sum(work[i] for i, _ in ended), sum(failed for _, failed in ended)
    except (OSError, ValueError, LookupError, TypeError):  # no such file, or damaged
        return f"[{number + 1}]"
    left = (time() - told["start"]) * (sum(work) - done) / done if done else 0
    notes = [f"about {duration(left)} left"] * (left >= SHORT) + [f"{failed} failed"] * bool(failed)
    return f"[{number + 1}/{len(work)}]" + (f" ({', '.join(notes)})" if notes else "")


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def lacking(directory: Path, seeds: Sequence[int], force: bool = False) -> int:
    """How many of some seeds have no finished trial in a job's directory; all of them if they are computed again."""
    if force:
        return len(seeds)
    with suppress(ValueError, OSError):  # damaged: the job says so
        return len(set(map(str, seeds)) - {row["seed"] for row in finished_rows(directory / "results.csv")})
    return len(seeds)
