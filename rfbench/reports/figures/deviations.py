"""Figure of distances between sets: what a second buys [Wacker 2022, Fig. 4.11]."""

from typing import TYPE_CHECKING

from rfbench.reports.figures.axes import in_decades
from rfbench.reports.figures.style import line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

DEVIATIONS = ("kid_std", "kid_seconds", "block_kid_std", "block_seconds")


def deviations(ax: "Axes", part: "pd.DataFrame") -> None:
    """Standard deviation of one estimate against its seconds: a line over numbers of features for each sketch."""
    points = part.pivot_table(index=["sketch", "features", "task"], columns="metric", values="mean", sort=False)
    for sketch, curve in points.groupby("sketch", sort=False):
        curve = curve.groupby("features").mean()
        ax.plot(curve["kid_seconds"], curve["kid_std"], **line_style(str(sketch)))
    if "block_kid_std" in points:
        blocks = points.groupby("task")[["block_seconds", "block_kid_std"]].mean().sort_values("block_seconds")
        ax.plot(*blocks.to_numpy().T, color="black", linestyle=":", marker="*", markersize=7, label="Block-MMD")
    in_decades(ax)
    ax.set_xlabel("seconds of one estimate")
    ax.set_ylabel("standard deviation of KID")
