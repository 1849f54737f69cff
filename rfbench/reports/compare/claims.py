"""Statements of the papers without a number, checked against our results: claims.csv, one line each.

Patterns give the setting, several of them separated by |; an empty one matches everything.  `below` is checked wherever
both sketches have the same setting.  A claim that holds does so by a significant difference, or is merely not
contradicted by one: `shown` says which.
"""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise
from math import hypot, sqrt
from pathlib import Path

from rfbench.reports.compare.ours import Ours
from rfbench.reports.compare.verdicts import LEVEL, NOT_COMPUTED, two_sided

HOLDS, FAILS = "holds", "fails"
PATTERNS = ("dataset", "prepare", "task", "kernel", "degree", "features")
Setting = tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """A sketch's metric in some settings, and how it relates to other sketches or to a number."""

    source: str
    claim: str
    dataset: str
    prepare: str
    task: str
    kernel: str
    degree: str
    features: str
    metric: str
    sketch: str
    relation: str
    other: str

    def covers(self, one: Ours) -> bool:
        if one.metric != self.metric or not one.count:
            return False
        return all(_any(getattr(one, name), getattr(self, name)) for name in PATTERNS)


@dataclass(frozen=True)
class Check:
    """A claim in one setting."""

    claim: Claim
    setting: Setting
    found: str  # the two sides
    verdict: str
    shown: bool = False  # significantly, or by a count or a limit that needs no test
    z: float | None = None
    less: bool = False  # whether the first mean is smaller, significantly or not


def _any(value: str, patterns: str) -> bool:
    return not patterns or any(fnmatchcase(value, pattern) for pattern in patterns.split("|"))


def read_claims() -> list[Claim]:
    with open(Path(__file__).with_name("claims.csv"), newline="", encoding="utf-8") as file:
        return [Claim(**row) for row in csv.DictReader(file)]


def check(claims: Iterable[Claim], ours: list[Ours]) -> Iterator[Check]:
    for claim in claims:
        checks = list(RELATIONS[claim.relation](claim, [one for one in ours if claim.covers(one)]))
        yield from checks or [Check(claim, ("",) * 6, "", NOT_COMPUTED)]


def setting(one: Ours) -> Setting:
    return one.dataset, one.prepare, one.task, one.kernel, one.degree, one.features


def below(claim: Claim, ours: list[Ours]) -> Iterator[Check]:
    """A check for each other sketch in each setting of both, by the runs with the most seeds.

    Where a claim names several kernels, each of its sketches has its own.
    """
    alike = [replace(one, kernel=claim.kernel) for one in ours] if "|" in claim.kernel else ours
    runs = {(setting(one), one.sketch): one for one in sorted(alike, key=lambda one: one.count)}
    for (where, sketch), one in runs.items():
        for name in claim.other.split("|") if sketch == claim.sketch else ():
            if other := runs.get((where, name)):
                z, chance = excess(one, other)
                found = f"{one.mean:.4g} | {name} {other.mean:.4g}"
                shown = z is not None and chance > 1 - LEVEL
                yield Check(claim, where, found, _verdict(chance >= LEVEL), shown, z, one.mean < other.mean)


def _verdict(holds: bool) -> str:
    return HOLDS if holds else FAILS


def excess(one: Ours, other: Ours) -> tuple[float | None, float]:
    """(z, p-value of the first mean being larger by chance); without spreads the means decide."""
    errors = [side.std / sqrt(side.count) if side.std else 0.0 for side in (one, other)]
    if not any(errors):
        return None, float(one.mean <= other.mean)
    z = (one.mean - other.mean) / hypot(*errors)
    tail = two_sided(z, errors, (one.count - 1, other.count - 1)) / 2
    return z, tail if z > 0 else 1 - tail


def mostly_below(claim: Claim, ours: list[Ours]) -> Iterator[Check]:
    checks = list(below(claim, ours))
    if checks:
        less = sum(one.less for one in checks)
        where = (f"{len({one.setting[0] for one in checks})} datasets", "", "", claim.kernel, claim.degree, "")
        most = 2 * less > len(checks)
        yield Check(claim, where, f"below in {less} of {len(checks)} cases", _verdict(most), most)


def between(claim: Claim, ours: list[Ours]) -> Iterator[Check]:
    """A check for each setting, by the run with the most seeds: several commands may hold the same job."""
    low, high = map(float, claim.other.split("|"))
    own = (one for one in sorted(ours, key=lambda one: one.count) if one.sketch == claim.sketch)
    for where, one in {setting(one): one for one in own}.items():
        inside = low <= one.mean <= high
        yield Check(claim, where, f"{one.mean:.4g} | {low:g} to {high:g}", _verdict(inside), inside)


def falls_with(column: str, claim: Claim, ours: list[Ours]) -> Iterator[Check]:
    """A check for each curve over the degree or the number of features, by the runs with the most seeds: no step up."""
    curves: dict[Setting, dict[int, Ours]] = {}
    i = PATTERNS.index(column)
    for one in sorted(ours, key=lambda one: one.count):
        if one.sketch == claim.sketch:
            where = setting(one)
            curves.setdefault((*where[:i], "", *where[i + 1 :]), {})[int(where[i])] = one
    for where, curve in curves.items():
        points = [curve[x] for x in sorted(curve)]
        if len(points) > 1:
            chances = [excess(after, before)[1] for before, after in pairwise(points)]
            found = " ".join(f"{one.mean:.3g}" for one in points)
            falls, shown = min(chances) >= LEVEL, excess(points[-1], points[0])[1] > 1 - LEVEL
            yield Check(claim, where, found, _verdict(falls), falls and shown)


RELATIONS: dict[str, Callable[[Claim, list[Ours]], Iterator[Check]]] = {
    "below": below,
    "mostly below": mostly_below,
    "between": between,
    "falls with degree": partial(falls_with, "degree"),
    "falls with features": partial(falls_with, "features"),
}
