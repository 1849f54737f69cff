"""Figures that a config names: one number against another, as in error~fit_seconds.

The first is a metric.  The second is a column of the setting (features, degree, n_train) or another metric, of which
each point is a number of features.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rfbench.checks import InputError, did_you_mean
from rfbench.reports.axes import in_decades, log_values
from rfbench.reports.style import line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SETTING = ["dataset", "kernel", "degree", "n_train", "sketch", "features"]
COLUMNS = {"features": "features", "degree": "degree p", "n_train": "training rows"}
WORDS = {
    "rel_frobenius": "relative Frobenius error",
    "max_abs_error": "absolute error",
    "kl": "KL divergence from the exact process",
    "mnll": "mean negative log likelihood",
    "nmse": "normalised mean squared error",
    "rmse": "root mean squared error",
    "error": "misclassified fraction",
    "variance_closed_form": "variance",
    "kid_std": "standard deviation of KID",
    "fit_seconds": "seconds to fit",
    "transform_seconds": "seconds to make features",
    "kid_seconds": "seconds of one estimate",
}


def against(summary: "pd.DataFrame", plot: Sequence[str]) -> "pd.DataFrame":
    """A row for each point: its setting, `plot` (what against what), x, y and the deviation of y."""
    import pandas as pd

    parts = []
    for pair in plot:
        y, _, x = pair.partition("~")
        if x not in COLUMNS and x not in set(summary["metric"]):
            raise InputError(f"plot={pair}: no '{x}' to draw against; {did_you_mean(x, [*COLUMNS, *WORDS])}")
        points = summary[summary["metric"] == y]
        points = points[[*SETTING, "mean", "std"]].rename(columns={"mean": "y"})
        if x in COLUMNS:
            points = points.assign(x=points[x], degree=float("nan") if x == "degree" else points["degree"])
        else:
            other = summary.loc[summary["metric"] == x, [*SETTING, "mean"]].rename(columns={"mean": "x"})
            points = points.merge(other, on=SETTING)
        parts.append(points.assign(plot=pair))
    points = pd.concat(parts)
    panel = points.groupby(["dataset", "kernel", "degree"], sort=False, dropna=False).ngroup()
    return points.assign(panel=panel).sort_values("panel", kind="stable").drop(columns="panel")


def curves_against(ax: "Axes", part: "pd.DataFrame") -> None:
    """A line for each sketch, a band of one deviation; what has no features is a level."""
    y, _, x = part["plot"].iloc[0].partition("~")
    part = part[part["y"].notna()]
    positive = bool((part["y"] > 0).all())
    for sketch, curve in part.groupby("sketch", sort=False):
        style = line_style(str(sketch))
        if x == "features" and (curve["features"] == 0).all():
            ax.axhline(curve["y"].iloc[0], **style | {"marker": ""})
            continue
        curve = curve.sort_values("x" if x in COLUMNS else "features")
        ax.plot(curve["x"], curve["y"], **style)
        mean, std = curve["y"], curve["std"].fillna(0)
        low = mean / (1 + std / mean) if positive else mean - std  # a logarithmic axis has no place for what is below 0
        ax.fill_between(curve["x"], low, mean + std, color=style["color"], alpha=0.15, linewidth=0)
    ticks = sorted(set(part["x"]) - {0})
    if x in COLUMNS:
        if x != "degree":
            ax.set_xscale("log", base=2)
        ax.set_xticks(_apart(ticks), [f"{tick:.0f}" for tick in _apart(ticks)])
        ax.minorticks_off()
        if positive:
            log_values(ax)
    elif positive:
        in_decades(ax)
    ax.set_xlabel(COLUMNS.get(x) or WORDS.get(x, x))
    ax.set_ylabel(WORDS.get(y, y))


def _apart(ticks: list[float], most: int = 7) -> list[float]:
    """As many as have room."""
    return ticks[:: -(-len(ticks) // most) or 1]
