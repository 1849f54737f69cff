"""Figures of Gaussian processes: error against training time, divergence against clusters, the processes themselves."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rfbench.reports.figures.axes import log_values
from rfbench.reports.figures.save import save
from rfbench.reports.figures.style import RC, line_style
from rfbench.results.pictures import POSTERIORS, read_pictures

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

EPOCH = r"^(error|seconds)_e(\d{3})$"
MEASURES = {"gpr": ("nmse", "mnll", "kl"), "gpc": ("error", "mnll", "kl"), "svm": ("error", "transform_seconds")}


def measures(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Error, likelihood and divergence, each in a panel of its own."""
    pairs = zip(summary["task"], summary["metric"], strict=True)
    return summary[[metric in MEASURES.get(task.partition("(")[0], ()) for task, metric in pairs]]


def epochs(summary: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each epoch of variational training, with its error and its time."""
    found = summary[summary["metric"].str.match(EPOCH)]
    found = found.join(found["metric"].str.extract(EPOCH).set_axis(["measure", "epoch"], axis=1))
    keys = ["dataset", "kernel", "degree", "sketch", "features", "epoch"]
    return found.pivot_table(index=keys, columns="measure", values="mean", sort=False, dropna=False).reset_index()


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
    keys = ["dataset", "kernel", "degree", "sketch", "features"]
    rows = summary[metric.isin(("kl", "clusters"))]
    return rows.pivot_table(index=keys, columns="metric", values="mean", sort=False, dropna=False).reset_index()


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


def write_posteriors(target: Path, directories: Iterable[Path]) -> None:
    """posteriors.png and posteriors.svg of all jobs on data of one or two columns, the most features of each sketch."""
    pictures = {key: A for directory in directories for key, A in read_pictures(directory, POSTERIORS).items()}
    if not pictures:
        return
    import matplotlib as mpl
    from matplotlib.figure import Figure

    most = {(key.dataset, key.sketch): key for key in sorted(pictures, key=lambda key: key.features)}
    keys = sorted(most.values(), key=lambda key: key.dataset)
    with mpl.rc_context(RC):  # type: ignore[arg-type]
        shown = [(key, False) for key in keys]
        if _is_map(pictures[keys[0]]):
            shown.insert(0, (keys[0], True))
        across = 2 if len(shown) == 4 else min(len(shown), 3)
        figure = Figure((3.2 * across, 2.7 * -(-len(shown) // across)), layout="constrained")
        axes = figure.subplots(-(-len(shown) // across), across, squeeze=False)
        for ax, (key, exact) in zip(axes.flat, shown, strict=False):
            (_draw_map if _is_map(pictures[key]) else _draw_curve)(ax, pictures[key], exact)
            title = "exact process" if exact else f"{key.sketch}\nD = {key.features}, KL {key.error:.2g}"
            title = f"{key.dataset}\n{title}" if len({key.dataset for key in keys}) > 1 else title
            ax.set_title(title, fontsize="small")
        for ax in axes.flat[len(shown) :]:
            ax.set_axis_off()
        save(figure, target, "posteriors")


def _is_map(picture: Any) -> bool:
    """Rows are (x, exact mean, exact variance, mean, variance); x has one or two numbers."""
    return picture.shape[1] == 6


def _draw_curve(ax: "Axes", picture: Any, exact: bool) -> None:
    """Mean and two deviations on both sides [Wacker 2022, Fig. 5.2 and 5.8]."""
    x, mu, v, mean, variance = picture[picture[:, 0].argsort()].T
    ax.fill_between(x, mu - 2 * np.sqrt(v), mu + 2 * np.sqrt(v), color="#BBBBBB", linewidth=0)
    ax.plot(x, mu, color="black", linewidth=1)
    ax.plot(x, mean, color="#0072B2", linestyle="--", linewidth=1)
    for sign in (-2, 2):
        ax.plot(x, mean + sign * np.sqrt(variance), color="#0072B2", linewidth=0.7)
    low, high = np.min(mu - 2 * np.sqrt(v)), np.max(mu + 2 * np.sqrt(v))
    ax.set_ylim(low - 0.3 * (high - low), high + 0.3 * (high - low))


def _draw_map(ax: "Axes", picture: Any, exact: bool) -> None:
    """Means as colours on the scale of the exact ones [Wacker 2022, Fig. 5.9]."""
    low, high = np.quantile(picture[:, 2], (0.01, 0.99))
    x, y = picture[:, 0], picture[:, 1]
    shown = ax.scatter(x, y, c=picture[:, 2 if exact else 4], vmin=low, vmax=high, s=1.5, linewidths=0)
    shown.set_rasterized(True)
    ax.set_aspect("equal", adjustable="datalim")
    ax.grid(visible=False)
