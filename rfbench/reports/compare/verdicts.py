"""A published number beside ours: do they agree, and if that cannot be said, why not?"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot, isfinite, sqrt

from rfbench.reports.compare.ours import Ours
from rfbench.reports.compare.published import Cell

AGREE, DISAGREE, NOT_COMPUTED = "agree", "disagree", "not computed"
LEVEL = 0.01  # of the two-sided test
FEWEST = 3  # seeds whose spread serves both sides: of two, hardly any difference would be too large
ENOUGH = 1000  # rows: a mean over a million pairs is that of all pairs
KERNEL_ERRORS = ("rel_frobenius", "rel_frobenius_complex", "rel_spectral")
KEYS = ("data set", "preparation", "kernel", "degree", "sketch", "number of features", "metric")


@dataclass(frozen=True)
class Verdict:
    """What is told of a cell; z is the difference in standard errors."""

    cell: Cell
    ours: Ours | None
    verdict: str
    z: float | None
    reason: str  # the rule of the test, or why there was none


class Results:
    """Ours by setting, and a word on what is missing."""

    def __init__(self, ours: Iterable[Ours], at_hand: Callable[[str], bool]) -> None:
        self.by_key: dict[tuple[str, ...], list[Ours]] = {}
        self.beginnings: set[tuple[str, ...]] = set()
        self.at_hand = at_hand
        for one in ours:
            self.by_key.setdefault(one.key, []).append(one)
            self.beginnings.update(one.key[:k] for k in range(1, len(KEYS) + 1))

    def matching(self, cell: Cell) -> list[Ours]:
        """Those of the cell's setting; where the paper does not tell the features, of any number."""
        if cell.features:
            return self.by_key.get(cell.key, [])
        alike = (found for key, found in self.by_key.items() if (*key[:5], key[6]) == (*cell.key[:5], cell.metric))
        return [one for found in alike for one in found]

    def lacking(self, cell: Cell) -> str:
        """The first thing of the setting that was not run."""
        key = cell.key
        if key[:1] not in self.beginnings:
            return "not run" if self.at_hand(cell.dataset.partition("(")[0]) else "data not at hand"
        failed = self.by_key.get((*key[:5], "", ""), []) + self.by_key.get((*key[:6], ""), [])
        if failed:
            return f"failed: {failed[0].message}"
        k = next(k for k in range(1, len(KEYS) + 1) if key[:k] not in self.beginnings)
        return f"not run with this {KEYS[k - 1]}"


def judge(cells: Iterable[Cell], results: Results) -> Iterator[Verdict]:
    for cell in cells:
        found = results.matching(cell)
        refused = {one: objection(cell, one) for one in found}
        good = [one for one, reason in refused.items() if not reason]
        best = max(good or found, key=lambda one: (one.count, -len(str(one.directory))), default=None)
        if cell.fault:
            yield Verdict(cell, best if good else None, NOT_COMPUTED, None, f"theirs: {cell.fault}")
        elif best is None:
            yield Verdict(cell, None, NOT_COMPUTED, None, results.lacking(cell))
        elif not good:
            yield Verdict(cell, best, NOT_COMPUTED, None, refused[best])
        else:
            yield tested(cell, best)


def objection(cell: Cell, ours: Ours) -> str:
    """Why these numbers are not of one setting, although their kernel, sketch and features are."""
    if ours.message or not isfinite(ours.mean):
        return f"failed: {ours.message}"
    if cell.metric in KERNEL_ERRORS:
        few = min(cell.rows, ENOUGH)
        return "" if abs(min(ours.rows, ENOUGH) - few) <= 1 else f"on {ours.rows} rows, theirs on {cell.rows}"
    if cell.task != ours.task:
        return f"{ours.task}, theirs {cell.task}"
    if abs(ours.scale - 1) > 1e-9 and not cell.task.startswith("kid"):
        return f"kernel {ours.scale:g} times theirs"
    n = ours.n_train if cell.task == "vector_field" else ours.n_train + ours.n_test
    if n != cell.n:
        return f"of {n} rows, theirs of {cell.n}"
    if cell.metric == "kl" and ours.rows != cell.rows:
        return f"exact process on {ours.rows} rows, theirs on {cell.rows}"
    return ""


def tested(cell: Cell, ours: Ours) -> Verdict:
    """Student's test of two means of one law: with two seeds on one side Welch's errs in 8 of 100 equal cells."""
    from scipy.stats import t

    if ours.std is None:
        return Verdict(cell, ours, NOT_COMPUTED, None, "one seed has no spread")
    if cell.std is None and ours.count < FEWEST:
        return Verdict(
            cell, ours, NOT_COMPUTED, None, f"they print no spread, and {ours.count} seeds have too little of one"
        )
    rule, count, freedom, squares = "both spreads", cell.count or 1, ours.count - 1, (ours.count - 1) * ours.std**2
    if cell.std is None:
        rule = "our spread for both"
    else:
        freedom, squares = freedom + count - 1, squares + (count - 1) * cell.std**2
    total = hypot(sqrt(squares / freedom * (1 / ours.count + 1 / count)), cell.unit / sqrt(12))
    if total == 0:
        return Verdict(cell, ours, NOT_COMPUTED, None, "neither has a spread")
    z = (ours.mean - cell.mean) / total
    return Verdict(cell, ours, AGREE if 2 * t.sf(abs(z), freedom) >= LEVEL else DISAGREE, z, rule)


def two_sided(z: float, errors: Sequence[float], freedoms: Sequence[int]) -> float:
    """The chance of a larger |z|; degrees of freedom by Welch and Satterthwaite."""
    from scipy.stats import t

    uncertain = sum(e**4 / f for e, f in zip(errors, freedoms, strict=False) if f)
    freedom = sum(e**2 for e in errors) ** 2 / uncertain if uncertain else float("inf")
    return float(2 * t.sf(abs(z), freedom))
