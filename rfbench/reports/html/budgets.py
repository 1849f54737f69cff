"""Tables of one metric at given costs: --at seconds_total=1,10 or --at features=256.

A sketch costs more with more features.  Between two measured numbers of them the metric of each seed is interpolated,
linearly in the logarithms, and never extrapolated: a sketch whose largest run costs less stands with that run, and the
notes say so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

from rfbench.reports.formats import plain
from rfbench.reports.html.contests import METRICS, SETTING, Curve, curves_of, first
from rfbench.reports.tables import Cell, Line, Table, sign

if TYPE_CHECKING:
    import pandas as pd

DEARER = "costs more with the fewest features that were run"
CHEAPER = "costs less with the most features that were run, which stand here"


def budget_tables(numbers: "pd.DataFrame", metric: str | None, cost: str, budgets: Sequence[float]) -> Iterator[Table]:
    """One for each setting: a line for each sketch, a column for each cost."""
    numbers, columns = numbers[numbers["features"] > 0], headings(cost, budgets)
    for names, part in numbers.groupby(SETTING, sort=True, dropna=False):
        chosen = first(part, [metric] if metric else METRICS)
        curves = curves_of(part, chosen, cost) if chosen else {}
        if not curves:
            continue
        setting = dict(zip(SETTING, names, strict=True)) | {"features": nan}
        cells = {sketch: {name: _cell(curve, at) for name, at in columns.items()} for sketch, curve in curves.items()}
        for name in columns:
            _mark(cells, name, sign(chosen))
        degree = f" of degree {plain(setting['degree'])}" if setting["degree"] == setting["degree"] else ""
        yield Table(
            f"{setting['dataset']} ({plain(setting['n_train'])} training rows), {setting['kernel']} kernel{degree}, "
            f"{setting['task']}: {chosen} at equal {cost}",
            ["sketch"],
            {name: name for name in columns},
            [],
            [Line(setting | {"sketch": sketch}, found) for sketch, found in cells.items()],
            [],
        )


def headings(cost: str, budgets: Sequence[float]) -> dict[str, float]:
    """A column for each budget."""
    return {f"{cost} {at:g}": at for at in budgets}


def _cell(curve: Curve, at: float) -> Cell:
    if at < curve.x[0]:
        return Cell(reason=DEARER)
    values = curve.at(min(at, curve.x[-1]))
    reason = CHEAPER if at > curve.x[-1] else ""
    return Cell(float(values.mean()), float(values.std()), len(values), reason=reason)


def _mark(cells: dict[str, dict[str, Cell]], name: str, better: float) -> None:
    """The best mean of a column."""
    reached = {sketch: found[name] for sketch, found in cells.items() if found[name].count}
    if len(reached) > 1 and better == better:
        best = min(reached, key=lambda sketch: better * reached[sketch].mean)
        cells[best][name] = replace(reached[best], best=True)
