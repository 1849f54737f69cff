"""A published number beside ours: whether they agree, or why that cannot be decided."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot, isfinite, sqrt

from rfbench.reports.compare.ours import Ours
from rfbench.reports.compare.published import Cell

AGREE, WEAK, DISAGREE, NOT_COMPUTED = "agree", "weak", "disagree", "not computed"
LEVEL = 0.01  # of the two-sided test
FAR = 3.0  # standard errors: means that far apart agree only because a spread of few seeds is uncertain, which is weak
FEWEST = 3  # seeds whose spread can stand for both sides; with two, hardly any difference is significant
ENOUGH = 1000  # rows: a mean over a million pairs is as good as that over all pairs
KERNEL_ERRORS = ("rel_frobenius", "rel_frobenius_complex", "rel_spectral")
KEYS = ("dataset", "preparation", "kernel", "degree", "sketch", "number of features", "metric")


@dataclass(frozen=True)
class Verdict:
    """The decision on a cell; z is the difference in standard errors."""

    cell: Cell
    ours: Ours | None
    verdict: str
    z: float | None
    reason: str  # how the test was done, or why there is none


class Results:
    """Our results by setting, and why one is missing."""

    def __init__(self, ours: Iterable[Ours], available: Callable[[str], bool]) -> None:
        self.by_key: dict[tuple[str, ...], list[Ours]] = {}
        self.beginnings: set[tuple[str, ...]] = set()
        self.available = available  # whether a dataset can be used or downloaded
        for one in ours:
            self.by_key.setdefault(one.key, []).append(one)
            self.beginnings.update(one.key[:k] for k in range(1, len(KEYS) + 1))

    def matching(self, cell: Cell) -> list[Ours]:
        """Those of the cell's setting, with any number of features where the paper does not say it."""
        if cell.features:
            return self.by_key.get(cell.key, [])
        alike = (found for key, found in self.by_key.items() if (*key[:5], key[6]) == (*cell.key[:5], cell.metric))
        return [one for found in alike for one in found]

    def missing(self, cell: Cell) -> str:
        """The first part of the setting that was not run."""
        key = cell.key
        if key[:1] not in self.beginnings:
            return "not run" if self.available(cell.dataset.partition("(")[0]) else "dataset missing"
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
        best = max(good or found, key=lambda one: _preference(cell, one), default=None)
        if cell.fault:
            yield Verdict(cell, best if good else None, NOT_COMPUTED, None, f"theirs: {cell.fault}")
        elif best is None:
            yield Verdict(cell, None, NOT_COMPUTED, None, results.missing(cell))
        elif not good:
            yield Verdict(cell, best, NOT_COMPUTED, None, refused[best])
        else:
            yield tested(cell, best)


def _preference(cell: Cell, ours: Ours) -> tuple[bool, bool, int, int]:
    """Several seeds, as many rows as theirs, more seeds; of equal ones the job with the shorter path."""
    return ours.count > 1, ours.rows == cell.rows, ours.count, -len(str(ours.directory))


def objection(cell: Cell, ours: Ours) -> str:
    """Why two numbers of the same kernel, sketch and features have different settings, or nothing."""
    if ours.message or not isfinite(ours.mean):
        return f"failed: {ours.message}"
    if cell.metric in KERNEL_ERRORS:
        if cell.task.startswith("kernel_error") and cell.task != ours.task:
            return f"{ours.task}, theirs {cell.task}"
        few = min(cell.rows, ENOUGH)
        return "" if abs(min(ours.rows, ENOUGH) - few) <= 1 else f"on {ours.rows} rows, theirs on {cell.rows}"
    if cell.task != ours.task:
        return f"{ours.task}, theirs {cell.task}"
    if abs(ours.scale - 1) > 1e-9 and not cell.task.startswith("kid"):
        return f"kernel {ours.scale:g} times theirs"
    n = ours.n_train if cell.task.startswith("vector_field") else ours.n_train + ours.n_test
    if n != cell.n:
        return f"{n} rows, theirs {cell.n}"
    if cell.metric == "kl" and ours.rows != cell.rows:
        return f"exact process on {ours.rows} rows, theirs on {cell.rows}"
    return ""


def tested(cell: Cell, ours: Ours) -> Verdict:
    """Student's test of two means with one variance: with two seeds Welch's rejects 8 of 100 equal cells."""
    from scipy.stats import t

    low, high = cell.between or (cell.mean, cell.mean)
    near = min(max(ours.mean, low), high)
    if cell.between and (ours.std is None or cell.std is None):
        inside = near == ours.mean
        return Verdict(cell, ours, AGREE if inside else DISAGREE, None, "within their spread over seeds")
    if ours.std is None:
        return Verdict(cell, ours, NOT_COMPUTED, None, "one seed has no spread")
    if cell.std is None and ours.count < FEWEST:
        return Verdict(
            cell, ours, NOT_COMPUTED, None, f"they print no spread, and {ours.count} seeds are too few for one"
        )
    rule = "both spreads" + (" and that of their unknown split" if cell.between else "")
    count, freedom, squares = cell.count or 1, ours.count - 1, (ours.count - 1) * ours.std**2
    if cell.std is None:
        rule = "our spread for both"
    else:
        freedom, squares = freedom + count - 1, squares + (count - 1) * cell.std**2
    total = hypot(sqrt(squares / freedom * (1 / ours.count + 1 / count)), cell.unit / sqrt(12))
    if total == 0:
        return Verdict(cell, ours, NOT_COMPUTED, None, "neither has a spread")
    z = (ours.mean - near) / total
    if 2 * t.sf(abs(z), freedom) < LEVEL:
        return Verdict(cell, ours, DISAGREE, z, rule)
    if abs(z) > FAR:
        return Verdict(cell, ours, WEAK, z, f"{rule}; {ours.count} seeds are too few to tell")
    return Verdict(cell, ours, AGREE, z, rule)


def two_sided(z: float, errors: Sequence[float], freedoms: Sequence[int]) -> float:
    """The chance of a larger |z|; degrees of freedom by Welch and Satterthwaite."""
    from scipy.stats import t

    uncertain = sum(e**4 / f for e, f in zip(errors, freedoms, strict=False) if f)
    freedom = sum(e**2 for e in errors) ** 2 / uncertain if uncertain else float("inf")
    return float(2 * t.sf(abs(z), freedom))
