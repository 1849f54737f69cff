"""Figure of distances between sets: the accuracy that a second buys [Wacker 2022, Fig. 4.11]."""

from typing import TYPE_CHECKING

from rfbench.reports.figures.axes import in_decades
from rfbench.reports.figures.panel import Panel, wide
from rfbench.reports.figures.style import line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

METRICS = ("kid_std", "kid_seconds", "block_kid_std", "block_seconds")
QUANTILE = 1.96  # of a normal distribution, for 95 %
POINT = ["dataset", "n_train", "task", "kernel", "degree", "sketch", "features"]
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
    ax.set_ylabel("standard deviation of one estimate")


def of_sets(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Distances of several sets from one reference, reference:set, with their standard errors."""
    found = summary[summary["dataset"].str.contains(":") & summary["metric"].isin(("kid", "kid_error"))]
    if not (found["metric"] == "kid_error").any():
        return summary[:0]
    names = found["dataset"].str.partition(":")
    return wide(found.assign(dataset=names[0], set=names[2]), [*POINT, "set"], "metric")


def distances(ax: "Axes", part: "pd.DataFrame") -> None:
    """Sets beside each other, sketches side by side in each, with the interval that holds 95 times in 100."""
    sets, groups = list(dict.fromkeys(part["set"])), list(part.groupby(["sketch", "features"], sort=False))
    several = part["features"].nunique() > 1
    for place, ((sketch, features), points) in enumerate(groups):
        label = f"{sketch}, {features:.0f} features" if several else str(sketch)
        at = [sets.index(name) + 0.6 * ((place + 0.5) / len(groups) - 0.5) for name in points["set"]]
        style = line_style(str(sketch)) | {"linestyle": "", "label": label}
        ax.errorbar(at, points["kid"], QUANTILE * points["kid_error"], capsize=2, **style)
    ax.set_xticks(range(len(sets)), sets)
    ax.set_xlim(-0.6, len(sets) - 0.4)
    ax.grid(visible=False, axis="x")
    ax.set_ylabel("KID, with intervals of 95 %")


DEVIATIONS = Panel(of_kid, deviations)
DISTANCES = Panel(of_sets, distances)
