"""Figure of distances between sets: the accuracy that a second buys [Wacker 2022, Fig. 4.11]."""

from typing import TYPE_CHECKING

from rfbench.reports.figures.axes import in_decades
from rfbench.reports.figures.panel import Panel, wide
from rfbench.reports.figures.style import line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

METRICS = ("kid_std", "kid_seconds", "block_kid_std", "block_seconds")
SUBSET = r"subset_rows=(\d+)"  # in the label of a task: a curve of Block-MMD, where the others have panels of their own


def of_kid(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Standard deviations and times of the estimates, where there are deviations."""
    if not (summary["metric"] == "kid_std").any():
        return summary[:0]
    shown = summary[summary["metric"].isin(METRICS)]
    subset = shown["task"].str.extract(SUBSET, expand=False).astype(float).fillna(0)
    return shown.assign(subset=subset, task=shown["task"].str.replace(SUBSET, "subset_rows", regex=True))


def deviations(ax: "Axes", part: "pd.DataFrame") -> None:
    """Standard deviation of one estimate against its seconds: a line over numbers of features for each sketch."""
    points = wide(part, ["subset", "sketch", "features"], "metric")
    for sketch, curve in points.groupby("sketch", sort=False):
        curve = curve.drop_duplicates("features").sort_values("features")
        ax.plot(curve["kid_seconds"], curve["kid_std"], **line_style(str(sketch)))
    if "block_kid_std" in points:
        blocks = points.groupby("subset")[["block_seconds", "block_kid_std"]].mean()
        ax.plot(*blocks.T.to_numpy(), color="black", linestyle=":", marker="*", markersize=7, label="Block-MMD")
    in_decades(ax)
    ax.set_xlabel("seconds of one estimate")
    ax.set_ylabel("standard deviation of KID")


DEVIATIONS = Panel(of_kid, deviations)
