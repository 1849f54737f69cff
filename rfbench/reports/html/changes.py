"""Two results beside each other: what moved beyond chance, what is new, what is gone.

The values of both sides are paired by seed.  The p-values of the paired t-tests are those of Benjamini and Hochberg,
so that of the cells said to have moved at most 5 % are expected to have moved by chance.
"""

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from rfbench.reports.formats import plain
from rfbench.reports.html.contests import LEVEL, paired
from rfbench.reports.tables import SETTING

if TYPE_CHECKING:
    import pandas as pd

CELL = [*SETTING, "metric"]
COLUMNS = [*CELL, "before", "after", "change", "seeds", "p", "verdict", "note"]
SAME = 1e-6  # relative difference up to which numbers differ by rounding
MOVED, CHANGED, WITHIN, EQUAL = "moved", "changed, one seed", "within chance", "equal"


@dataclass(frozen=True)
class Change:
    """A cell of both sides over the seeds they share."""

    setting: dict[str, Any]
    metric: str
    before: float
    after: float
    seeds: int
    p: float  # corrected; NaN without a test
    verdict: str

    @property
    def relative(self) -> float:
        """after / before − 1."""
        return self.after / self.before - 1 if self.before else nan


@dataclass(frozen=True)
class Changes:
    """What became of the cells of two results; new and gone are (setting, metric, number of seeds or a reason)."""

    cells: list[Change]
    new: list[tuple[dict[str, Any], str, str]]
    gone: list[tuple[dict[str, Any], str, str]]

    def only(self, metric: str) -> "Changes":
        """Those of one metric."""
        new, gone = ([one for one in side if one[1] == metric] for side in (self.new, self.gone))
        return Changes([change for change in self.cells if change.metric == metric], new, gone)

    def lines(self) -> list[dict[str, Any]]:
        """COLUMNS of each number; what is unknown is empty."""
        found: list[tuple[Any, ...]] = [
            (*one.setting.values(), one.metric, one.before, one.after, one.relative, one.seeds, one.p, one.verdict, "")
            for one in self.cells
        ]
        for verdict, side in (("new", self.new), ("gone", self.gone)):
            found += [(*setting.values(), metric, *5 * [nan], verdict, words) for setting, metric, words in side]
        return [{key: "" if one != one else one for key, one in zip(COLUMNS, line, strict=True)} for line in found]

    def of(self, verdict: str) -> list[Change]:
        return [change for change in self.cells if change.verdict == verdict]


def changes(before: "tuple[pd.DataFrame, pd.DataFrame]", after: "tuple[pd.DataFrame, pd.DataFrame]") -> Changes:
    """Compare (numbers, gaps) of two directories."""
    both = before[0].merge(after[0], on=[*CELL, "seed"], suffixes=("_before", "_after"))
    groups: Any = both.groupby(CELL, sort=True, dropna=False)
    found = [_change(names, rows) for names, rows in groups]
    tested = [k for k, change in enumerate(found) if change.verdict == WITHIN]
    for k, p in zip(tested, _corrected([found[k].p for k in tested]), strict=True):
        found[k] = Change(**vars(found[k]) | {"p": p, "verdict": MOVED if p < LEVEL else WITHIN})
    found.sort(key=lambda change: -abs(change.relative))
    return Changes(found, _only(after[0], before), _only(before[0], after))


def _corrected(p: list[float]) -> list[float]:
    from scipy.stats import false_discovery_control

    return [float(one) for one in false_discovery_control(p)] if p else []


def _change(names: tuple[Any, ...], rows: "pd.DataFrame") -> Change:
    a, b = rows["value_before"], rows["value_after"]
    p, seeds = paired(b - a)
    equal = bool((np.abs(b - a) <= SAME * np.abs(a)).all())
    verdict = EQUAL if equal else CHANGED if seeds < 2 else WITHIN
    return Change(_setting(names), names[-1], float(a.mean()), float(b.mean()), seeds, p, verdict)


def _only(ours: "pd.DataFrame", theirs: "tuple[pd.DataFrame, pd.DataFrame]") -> list[tuple[dict[str, Any], str, str]]:
    """The cells that the other side has no number of, and its reason where it failed there."""
    counts: Any = ours.groupby(CELL, sort=True, dropna=False).size()
    known = set(map(_key, theirs[0][CELL].itertuples(index=False)))
    sketch = ["dataset", "task", "kernel", "sketch"]
    gaps = theirs[1][theirs[1]["status"] == "failed"]
    failed = gaps.drop_duplicates(sketch).set_index(sketch)["message"].to_dict()
    lines = []
    for names, count in counts.items():
        if _key(names) not in known:
            setting = _setting(names)
            reason = failed.get(tuple(setting[key] for key in sketch))
            lines.append((setting, names[-1], f"the other side failed: {reason}" if reason else f"{count} seeds"))
    return lines


def _setting(names: tuple[Any, ...]) -> dict[str, Any]:
    """The columns of a cell but its metric, whole numbers as such."""
    whole = (one if isinstance(one, str) or one != one else int(one) for one in names[:-1])
    return dict(zip(SETTING, whole, strict=True))


def _key(names: Any) -> tuple[str, ...]:
    """As words: NaN is not equal to itself, and a column with a NaN holds 90.0 where another holds 90."""
    return tuple(map(plain, names))
