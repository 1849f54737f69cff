"""Panels of Gaussian processes: error against training time, and divergence against clusters."""

from typing import TYPE_CHECKING

from rfbench.reports.figures.axes import log_values
from rfbench.reports.figures.panel import Panel, wide
from rfbench.reports.figures.style import line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SETTING = ["dataset", "n_train", "task", "kernel", "degree", "sketch", "features"]


def epochs(curves: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each epoch of variational training, with its error and its time."""
    found = curves[curves["task"].str.startswith("gpc_svi")].rename(columns={"x": "epoch"})
    return wide(found, [*SETTING, "epoch"])


def training(ax: "Axes", part: "pd.DataFrame") -> None:
    """Test error against the time spent on training [Wacker 2022, Fig. 4.7]."""
    several = part["features"].nunique() > 1
    for (sketch, features), curve in part.groupby(["sketch", "features"], sort=False):
        label = f"{sketch}, {features:.0f} features" if several else str(sketch)
        ax.plot(curve["seconds"], curve["error"], **line_style(str(sketch)) | {"label": label, "markersize": 2})
    log_values(ax)
    ax.set_xlabel("seconds of training")
    ax.set_ylabel("misclassified fraction")


def clusters(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Divergence with the number of clusters of localized sketches, where there are several numbers."""
    metric = summary["metric"]
    if summary.loc[metric == "clusters", "sketch"].nunique() < 2:
        return summary[:0]
    return wide(summary[metric.isin(("kl", "clusters"))], SETTING, "metric")


def by_clusters(ax: "Axes", part: "pd.DataFrame") -> None:
    """Divergence against clusters; sketches without any are levels [Wacker 2022, Fig. 5.10]."""
    localized = part[part["clusters"].notna()].sort_values("clusters")
    for features, curve in localized.groupby("features", sort=False):
        style = line_style("localized_maclaurin") | {"label": f"localized_maclaurin, {features:.0f} features"}
        ax.plot(curve["clusters"], curve["kl"], **style)
    others = part.loc[part["clusters"].isna(), ["sketch", "features", "kl"]]
    for sketch, features, level in others.itertuples(index=False):
        ax.axhline(level, **line_style(sketch) | {"label": f"{sketch}, {features:.0f} features", "marker": ""})
    ax.set_xscale("log")
    log_values(ax)
    ax.set_xlabel("clusters")
    ax.set_ylabel("KL divergence from the exact process")


TRAINING = Panel(epochs, training, of_curves=True)
CLUSTERS = Panel(clusters, by_clusters)
