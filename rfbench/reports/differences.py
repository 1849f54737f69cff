"""Whether the distances of several sets from one reference differ beyond chance (task=kid)."""

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from rfbench.reports.formats import plain
from rfbench.reports.tables import number

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95  # at which all differences of one sketch together are told from chance


def verdicts(summary: "pd.DataFrame") -> list[str]:
    """A sentence for each difference; the intervals hold for all differences of a sketch at once (Bonferroni)."""
    found = summary[summary["metric"].isin(("kid_difference", "kid_difference_error"))]
    if found.empty:
        return []
    setting = ["kernel", "degree", "task", "sketch", "features"]
    pairs = found.pivot_table("mean", ["dataset", *setting], "metric", sort=False, dropna=False).dropna().reset_index()
    lines, groups = [], pairs.groupby(setting, sort=False, dropna=False)
    for (_, degree, _, sketch, features), group in groups:
        quantile = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / group["dataset"].nunique())
        power = f"degree {plain(degree)}, " if pairs["degree"].nunique() > 1 else ""
        where = f" ({power}{sketch}, {features:.0f} features)" if len(groups) > 1 else ""
        lines += [f"{_verdict(pair, quantile)}{where}" for pair in group.itertuples()]
    many = "for all differences together" if pairs["dataset"].nunique() > 1 else ""
    return [*lines, f"± {LEVEL:.0%} interval {many}".rstrip()]


def _verdict(pair: Any, quantile: float) -> str:
    reference, _, names = pair.dataset.partition(":")
    one, other = names.partition("(")[0].split(" - ")
    half = quantile * pair.kid_difference_error
    size = number(abs(pair.kid_difference), half)
    if abs(pair.kid_difference) <= half:
        return f"{one} and {other}: {size}, within chance"
    nearer, farther = (one, other) if pair.kid_difference < 0 else (other, one)
    return f"{nearer} is closer to {reference} than {farther} by {size}, beyond chance"
