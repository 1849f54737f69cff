"""Which sketch is best for a setting, at equal features, time, memory or operations, and whether that is beyond chance.

A contest compares the means of one metric.  The winner meets every other sketch in a paired t-test over the seeds that
both have; the largest p-value, times the number of tests, is the one shown (Bonferroni).  At equal time, memory or
operations the metric is interpolated between measured numbers of features, linearly in the logarithms, and never
extrapolated.  Time and memory are those of fit and features of all rows where costs=true has measured them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from rfbench.reports.tables import sign

if TYPE_CHECKING:
    import pandas as pd

SETTING = ["dataset", "n_train", "n_test", "d", "task", "kernel", "degree"]
METRICS = (  # what a contest is about: the first that most sketches of the setting have
    "max_block_norm", "rel_output", "kl", "mnll", "error", "nmse", "rmse", "rel_frobenius", "kid_std",
    "variance_closed_form", "variance_empirical", "transform_seconds",
)  # fmt: skip
SECONDS = ("seconds_total", "fit_seconds", "attention_seconds", "kid_seconds", "transform_seconds")
BYTES = ("bytes",)  # of the features of all rows, else those of a row by formula
FLOPS = ("flops",)
FEATURES, TIME, MEMORY, OPERATIONS = "features", "time", "memory", "operations"
ROW = "bytes a row"
LEVEL = 0.05
NUMBER = 4  # bytes of a float32


@dataclass(frozen=True)
class Entry:
    """A sketch in a contest: its value for each seed, or why it has none."""

    sketch: str
    values: "pd.Series[float]"
    failed: str = ""

    @property
    def mean(self) -> float:
        return nan if self.failed else float(self.values.mean())


@dataclass(frozen=True)
class Contest:
    """Entries at the same x, the best first and the failed last."""

    kind: str
    at: float
    metric: str
    entries: list[Entry]

    @property
    def ranked(self) -> list[Entry]:
        return [entry for entry in self.entries if not entry.failed]

    @property
    def failed(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.failed]

    @property
    def margin(self) -> float:
        """How far the best is from the next: 1 − smaller / larger; NaN where a value is not positive."""
        if len(self.ranked) < 2:
            return nan
        low, high = sorted(entry.mean for entry in self.ranked[:2])
        return 1 - low / high if low > 0 else nan

    @cached_property
    def test(self) -> tuple[float, int]:
        """(corrected p-value, fewest seeds of a test); NaN where two sketches share less than two seeds."""
        tests = [paired(other.values - self.ranked[0].values) for other in self.ranked[1:]]
        if not tests:
            return nan, 0
        p = max(p if p == p else inf for p, _ in tests) * len(tests)
        return (min(p, 1.0) if p < inf else nan), min(n for _, n in tests)

    @property
    def sure(self) -> bool:
        return self.test[0] < LEVEL


@dataclass(frozen=True)
class Setting:
    """A dataset, task, kernel and degree, and its contests."""

    names: dict[str, Any]
    metric: str
    costs: dict[str, str]  # what equal time, memory and operations are those of
    contests: dict[str, Contest]


@dataclass(frozen=True)
class Curve:
    """A sketch at growing x: rows of values are numbers of features, columns are seeds."""

    x: list[float]
    values: "pd.DataFrame"

    def at(self, x: float) -> "pd.Series[float]":
        """The values at x, between the two nearest points."""
        if x in self.x:
            return self.values.iloc[self.x.index(x)].dropna()
        after = next(k for k, one in enumerate(self.x) if one > x)
        low, high = (self.values.iloc[k] for k in (after - 1, after))
        weight = log(x / self.x[after - 1]) / log(self.x[after] / self.x[after - 1])
        if (low > 0).all() and (high > 0).all():
            return np.exp((1 - weight) * np.log(low) + weight * np.log(high)).dropna()
        return ((1 - weight) * low + weight * high).dropna()


def paired(differences: "pd.Series[float]") -> tuple[float, int]:
    """(two-sided p-value of the paired t-test, seeds)."""
    from scipy.stats import t

    d = differences.dropna().to_numpy(float)
    if len(d) < 2:
        return nan, len(d)
    error = d.std(ddof=1) / len(d) ** 0.5
    if error == 0:
        return float(not d.any()), len(d)
    return float(2 * t.sf(abs(d.mean()) / error, len(d) - 1)), len(d)


def settings(numbers: "pd.DataFrame", gaps: "pd.DataFrame", metric: str | None = None) -> Iterator[Setting]:
    """Every setting with at least two sketches that have features."""
    numbers = numbers[numbers["features"] > 0]
    failed = gaps[gaps["status"] == "failed"]
    for names, part in numbers.groupby(SETTING, sort=True, dropna=False):
        place = dict(zip(SETTING, names, strict=True))
        losers = failed[_same(failed, place)]
        chosen = first(part, [metric] if metric else METRICS)
        if not chosen or len({*part["sketch"], *losers["sketch"]}) < 2:
            continue
        seconds = "" if chosen.endswith("_seconds") else first(part, SECONDS)
        costs = {FEATURES: "features", TIME: seconds, MEMORY: first(part, BYTES) or ROW, OPERATIONS: first(part, FLOPS)}
        contests = {
            kind: found
            for kind, cost in costs.items()
            if cost and (found := _contest(kind, part, losers, chosen, cost))
        }
        if contests:
            yield Setting(place, chosen, costs, contests)


def _same(failed: "pd.DataFrame", place: dict[str, Any]) -> Any:
    """A failure may not know the rows of its dataset."""
    alike = np.ones(len(failed), bool)
    for key in ("dataset", "task", "kernel"):
        alike &= (failed[key] == place[key]).to_numpy()
    for key in ("degree", "n_train"):
        alike &= ((failed[key] == place[key]) | failed[key].isna()).to_numpy()
    return alike


def first(part: "pd.DataFrame", names: Iterable[str]) -> str:
    """The name that most sketches have, the first of several."""
    sketches = part.groupby("metric")["sketch"].nunique()
    return max(names, key=lambda name: sketches.get(name, 0)) if set(names) & set(sketches.index) else ""


def _contest(kind: str, part: "pd.DataFrame", losers: "pd.DataFrame", metric: str, cost: str) -> Contest | None:
    curves = curves_of(part, metric, cost)
    at = _meeting(list(curves.values()), exact=kind == FEATURES)
    if at is None:
        return None
    entries = []
    for sketch in sorted({*curves, *losers["sketch"]}):
        lost = losers[losers["sketch"] == sketch]
        if kind == FEATURES:  # at equal time or memory any failure is one
            lost = lost[lost["features"].isna() | (lost["features"] == at)]
        curve = curves.get(sketch)
        if len(lost):
            entries.append(Entry(sketch, lost["value"], lost["message"].iloc[0]))
        elif curve and _reaches(curve, at, kind == FEATURES) and len(values := curve.at(at)):
            entries.append(Entry(sketch, values))
    better = sign(metric)
    entries.sort(key=lambda entry: inf if entry.failed else better * entry.mean)
    contest = Contest(kind, at, metric, entries)
    return contest if contest.ranked and len(entries) > 1 else None


def curves_of(part: "pd.DataFrame", metric: str, cost: str) -> dict[str, Curve]:
    """The metric of every sketch of a setting that has it, against features, the bytes of a row or a cost."""
    curves = {str(sketch): _curve(rows, str(sketch), metric, cost) for sketch, rows in part.groupby("sketch")}
    return {sketch: curve for sketch, curve in curves.items() if curve.x}


def _curve(rows: "pd.DataFrame", sketch: str, metric: str, cost: str) -> Curve:
    values = rows[rows["metric"] == metric].pivot_table("value", "features", "seed", sort=True)
    if cost == "features":
        return Curve([float(D) for D in values.index], values)
    if cost == ROW:
        wide = (2 if sketch.startswith("complex_") else 1) * (2 if "dtype=float64" in sketch else 1)
        return Curve([float(D) * wide * NUMBER for D in values.index], values)
    found = rows[rows["metric"] == cost].groupby("features")["value"].median().reindex(values.index).dropna()
    order = found[found > 0].sort_values(kind="stable").index
    return Curve([float(x) for x in found[order]], values.loc[order])


def _reaches(curve: Curve, x: float, exact: bool) -> bool:
    return x in curve.x if exact else curve.x[0] <= x <= curve.x[-1]


def _meeting(curves: Sequence[Curve], exact: bool) -> float | None:
    """The x that most curves reach, the largest of several."""
    points = sorted({x for curve in curves for x in curve.x})
    return max(points, key=lambda x: (sum(_reaches(c, x, exact) for c in curves), x), default=None)


@dataclass(frozen=True)
class Standing:
    """A sketch over all settings: where it took part, failed and won, and its normalised errors."""

    sketch: str
    settings: int
    failed: int
    won: int
    score: float  # geometric mean of normalised errors


def ranking(found: Sequence[Setting], kind: str) -> list[Standing]:
    """By the geometric mean of value / best value of the setting; a failure counts as the largest ratio of all.

    That is how performance profiles treat failures [Dolan and Moré 2002, Section 2].
    """
    contests = [setting.contests[kind] for setting in found if kind in setting.contests]
    contests = [contest for contest in contests if all(entry.mean > 0 for entry in contest.ranked)]
    ratios: dict[str, list[float]] = {}
    won: dict[str, int] = {}
    for contest in contests:
        best, better = contest.ranked[0].mean, sign(contest.metric)
        won[contest.ranked[0].sketch] = won.get(contest.ranked[0].sketch, 0) + 1
        for entry in contest.entries:
            ratios.setdefault(entry.sketch, []).append((entry.mean / best) ** better)
    worst = max((r for one in ratios.values() for r in one if r == r), default=1.0)
    standings = [
        Standing(
            sketch,
            len(one),
            sum(r != r for r in one),
            won.get(sketch, 0),
            exp(float(np.mean([log(r if r == r else worst) for r in one]))),
        )
        for sketch, one in ratios.items()
    ]
    return sorted(standings, key=lambda standing: (standing.score, -standing.settings, standing.sketch))
