"""Results of one job in several directories, as several machines write them, joined trial by trial."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isclose
from pathlib import Path
from typing import Any

from rfbench.checks import InputError
from rfbench.results.journal import Journalled
from rfbench.results.manifest import read_manifest, versions_of
from rfbench.results.pictures import GRIDS, MAPS, POSTERIORS, keep_pictures, read_pictures
from rfbench.results.readings import read_samples, write_samples
from rfbench.results.recorder import MODELS, model_file
from rfbench.results.rows import MISSING, as_csv, number_key, only_writer, read_rows, trial_key
from rfbench.results.series import read_series, write_series
from rfbench.storage import replace_file

MEASURED = ("s", "J", "W")  # units of what differs whenever it is measured again
ROUNDING = 1e-5  # of float32 on another processor, relative
ABOUT_A_RUN = ("seconds", "finished", "peak_bytes", "versions", "blas", "machine", "git")
Trial = tuple[str, str]


@dataclass(frozen=True)
class Part:
    """A job's directory; its numbers are read when they are needed."""

    directory: Path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return read_manifest(self.directory)

    @cached_property
    def trials(self) -> dict[Trial, list[dict[str, str]]]:
        found: dict[Trial, list[dict[str, str]]] = {}
        for row in read_rows(self.directory / "results.csv"):
            found.setdefault(trial_key(row), []).append(row)
        return found

    def gaps(self, trial: Trial) -> tuple[int, int]:
        """How many rows of a trial failed, and how many lack their number."""
        statuses = [row["status"] for row in self.trials[trial]]
        return statuses.count("failed"), statuses.count(MISSING)


def conflicts(parts: Sequence[Part]) -> Iterator[str]:
    """Every reason why two directories cannot be joined: other data, or other numbers of one trial."""
    for a, b in combinations(parts, 2):
        if reason := mismatch(a, b):
            yield reason
            continue
        for trial in a.trials.keys() & b.trials.keys():
            numbers = {number_key(row): row["value"] for row in b.trials[trial] if row["status"] == "ok"}
            for row in a.trials[trial]:
                other = numbers.get(number_key(row), row["value"])
                if row["status"] == "ok" and row["unit"] not in MEASURED and not _same(row["value"], other):
                    where = f"{row['metric']} of {row['features']} features, seed {row['seed']}"
                    yield f"{where} is {row['value']} in {a.directory} and {other} in {b.directory}"


def mismatch(a: Part, b: Part) -> str:
    """Why the trials of two directories cannot be in one, whatever their numbers; or nothing."""
    if a.manifest and b.manifest and a.manifest.get("data") != b.manifest.get("data"):
        return f"{a.directory} and {b.directory} were computed from different data"
    ours, theirs = (versions_of(part.manifest.get("plugins", {})) for part in (a, b))
    if ours != theirs:
        return f"{a.directory} was computed with {ours or 'no plugin'}, {b.directory} with {theirs or 'none'}"
    return ""


def _same(one: str, other: str) -> bool:
    return isclose(float(one), float(other), rel_tol=ROUNDING)


def join(parts: Sequence[Part], target: Path) -> None:
    """Write the trials of all parts to one directory, which may be one of them; results.csv last, as a run does.

    A trial that several have is that of the first, unless another has more of it.
    """
    owners: dict[Trial, Part] = {}
    for trial in dict.fromkeys(trial for part in parts for trial in part.trials):
        owners[trial] = min((part for part in parts if trial in part.trials), key=lambda part: part.gaps(trial))
    if len(owners) > 1:
        owners.pop(("", ""), None)  # a machine that failed as a whole, and another did not
    order = sorted(owners, key=lambda trial: (int(trial[1] or 0), int(trial[0] or 0)))
    rows = [row for trial in order for row in owners[trial].trials[trial]]
    manifest = joined_manifest(parts)
    target.mkdir(parents=True, exist_ok=True)
    with only_writer(target):
        points = [p for part in parts for p in read_series(part.directory) if owners.get(trial_key(p)) is part]
        if points:
            write_series(target, points)
        lines = [one for part in parts for one in read_samples(part.directory) if owners.get((one[0], one[1])) is part]
        if lines:
            write_samples(target, lines)
        for kind in (MAPS, POSTERIORS, GRIDS):
            of_all = [read_pictures(part.directory, kind) for part in reversed(parts)]
            keep_pictures(target, {key: picture for pictures in of_all for key, picture in pictures.items()})
        for trial, part in owners.items():
            model = part.directory / MODELS / model_file(*trial)
            if part.directory != target and model.exists():
                replace_file(target / MODELS / model.name, model.read_bytes())
        if manifest:
            replace_file(target / "run.json", json.dumps(manifest, indent=1) + "\n")
        Journalled(target / "results.csv", b"").rewrite(as_csv(rows, header=True).encode())


def joined_manifest(parts: Iterable[Part]) -> dict[str, Any]:
    """The first run.json with the seeds and facts of all; `merged` has the machine and versions of each."""
    ours = [part.manifest for part in parts if part.manifest]
    if len(ours) < 2:
        return ours[0] if ours else {}
    asked = [one["config"]["seeds"] for one in ours]
    seeds = sorted({seed for one in asked for seed in (one if isinstance(one, list) else range(one))})
    learned: dict[str, Any] = {}
    for one in ours:
        learned = learned | one.get("learned", {}) | learned  # what is known stays, and stays first
    about = [one for each in ours for one in each.get("merged") or [{key: each.get(key) for key in ABOUT_A_RUN}]]
    once = list({json.dumps(one, sort_keys=True): one for one in about}.values())
    return ours[0] | {"config": ours[0]["config"] | {"seeds": seeds}, "learned": learned, "merged": once}


def refuse_conflicts(parts: Sequence[Part], way_out: str) -> None:
    """Refuse to join what differs: the first conflict in words, and how many there are."""
    found = list(conflicts(parts))
    if found:
        more = f" (and {len(found) - 1} more conflicts)" if len(found) > 1 else ""
        raise InputError(f"{found[0]}{more}; {way_out}")
