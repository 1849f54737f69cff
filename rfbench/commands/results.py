"""`rfbench results`: a line for each run, sweep and experiment below a directory."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import get_terminal_size

from rfbench.checks import InputError, Parser
from rfbench.memory import as_text
from rfbench.progress import bar, say
from rfbench.results.parts import Part
from rfbench.results.places import finished_at, homes, size_of
from rfbench.results.rows import MISSING

COLUMNS = ("results", "finished", "jobs", "seeds", "size", "failed", "missing", "of")
NUMBERS = ("jobs", "seeds", "size", "failed", "missing")


def main(words: list[str]) -> int:
    """List the runs, sweeps and experiments below a directory, the latest last.

    A line has the jobs and seeds, the size on disk, how many cells failed and how many numbers are missing, and the
    datasets, kernels, sketches and tasks.
    """
    args = _parse(words)
    found = homes(args.directory)
    if not found:
        raise InputError(f"no results below {args.directory}; run an experiment first, or name another directory")
    lines = []
    with bar(len(found), "reading", "run") as shown:
        for home, jobs in found.items():
            lines.append(line_of(home, jobs, args.directory))
            shown.update()
    lines.sort(key=lambda line: line[1])
    say("\n".join(as_table([COLUMNS, *lines], get_terminal_size((1000, 24)).columns)))
    return 0


def _parse(words: list[str]) -> argparse.Namespace:
    about, _, details = (main.__doc__ or "").partition("\n\n")
    parser = Parser("rfbench results", description=about, epilog=details)
    parser.add_argument(
        "directory", nargs="?", type=Path, default=Path("outputs"), metavar="DIR", help="default: outputs"
    )
    args = parser.parse_args(words)
    if not args.directory.is_dir():
        raise InputError(f"no directory {args.directory}; run an experiment first, or name another directory")
    return args


def line_of(home: Path, jobs: Sequence[Path], directory: Path) -> tuple[str, ...]:
    """The columns of one run or sweep; a damaged one says so."""
    name = home.relative_to(directory).as_posix() if home != directory else home.resolve().name
    try:
        parts = [Part(job) for job in jobs]
        rows = [row for part in parts for rows in part.trials.values() for row in rows]
        finished = finished_at(jobs).astimezone().strftime("%Y-%m-%d %H:%M")
    except InputError as error:
        return name, "", str(len(jobs)), "", as_text(size_of(home)), "", "", str(error)
    seeds = {row["seed"] for row in rows if row["seed"]}
    status = [row["status"] for row in rows]
    counts = (len(jobs), len(seeds), as_text(size_of(home)), status.count("failed") or "", status.count(MISSING) or "")
    kinds = ("dataset", "kernel", "sketch", "task")
    about = "; ".join(_several(dict.fromkeys(row[kind] for row in rows)) for kind in kinds) if rows else "no rows yet"
    return name, finished, *map(str, counts), about


def _several(names: Sequence[str] | dict[str, None]) -> str:
    """At most three names."""
    names = [name for name in names if name]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def as_table(lines: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Columns side by side; the last one ends where the terminal does, and empty columns are omitted."""
    kept = [i for i, cells in enumerate(zip(*lines[1:], strict=True)) if any(cells)]
    lines = [[line[i] for i in kept] for line in lines]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(w) if head in NUMBERS else cell.ljust(w)
            for cell, w, head in zip(line, widths, lines[0], strict=True)
        ]
        text = "  ".join(cells).rstrip()
        yield text if len(text) <= width else f"{text[: width - 1]}…"
