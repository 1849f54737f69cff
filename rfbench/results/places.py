"""Which directories are jobs, and which are sweeps and experiments that join them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rfbench.results.manifest import read_manifest
from rfbench.results.rows import COLUMNS

JOBS = "jobs"
SIGNS = {  # files of a job, and what no other program writes into one of this name
    "results.csv": ",".join(COLUMNS),
    "run.json": '"rfbench": ',
    ".hydra/config.yaml": "\nsketch:\n",
}


def job_directories(directory: Path) -> list[Path]:
    """Every job below, in order; the joined table of a sweep repeats the rows of its jobs."""
    found = {path.parent for name in ("results.csv", "run.json") for path in directory.rglob(name)}
    return sorted(place for place in found if not (place / JOBS).is_dir())


def is_ours(job: Path) -> bool:
    """Whether rfbench has written a directory: other programs have files and folders of these names, too."""
    files = ((job / name, sign) for name, sign in SIGNS.items())
    return any(path.is_file() and sign in path.read_text(errors="replace") for path, sign in files)


def home_of(job: Path) -> Path:
    """Where the table and the figure of a job are: its sweep or experiment, or itself."""
    return job.parent.parent if job.parent.name == JOBS else job


def homes(directory: Path) -> dict[Path, list[Path]]:
    """Every run, sweep and experiment below a directory, with its jobs."""
    found: dict[Path, list[Path]] = {}
    for job in job_directories(directory):
        found.setdefault(home_of(job), []).append(job)
    return found


def finished_at(jobs: Sequence[Path]) -> datetime:
    """When the last of some jobs finished; a job without a number has the time of its files."""
    return max(datetime.fromisoformat(said) if (said := _said(job)) else _touched(job) for job in jobs)


def _said(job: Path) -> str:
    return str(read_manifest(job).get("finished", ""))


def _touched(job: Path) -> datetime:
    return datetime.fromtimestamp(max(path.stat().st_mtime for path in (job, *job.glob("results.csv"))), UTC)


def size_of(directory: Path) -> int:
    """Bytes of all files below."""
    return sum(path.lstat().st_size for path in directory.rglob("*") if not path.is_dir())
