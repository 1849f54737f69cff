"""Panels of errors, variances and ratios of variances, a line for each sketch."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rfbench.reports.figures.axes import log_values
from rfbench.reports.figures.panel import Panel
from rfbench.reports.figures.style import line_style
from rfbench.reports.names import metric_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

ERRORS = ("max_block_norm", "rel_frobenius", "kl", "mnll", "error", "nmse", "transform_seconds")
SEVERAL = {
    "gpr": ("nmse", "mnll", "kl"),
    "gpc": ("error", "mnll", "kl"),
    "svm": ("error", "transform_seconds"),
    "pooling": ("rel_frobenius", "error"),
}
VARIANCES = ("variance_closed_form", "variance_empirical")
RATIO = "ratio_to_"


def errors(ax: "Axes", part: "pd.DataFrame") -> None:
    """An error of each sketch, against the number of features where there are several."""
    (_lines if part["features"].nunique() > 1 else _columns)(ax, part)
    ax.set_ylabel(metric_name(part["metric"].iloc[0]))


def _lines(ax: "Axes", part: "pd.DataFrame", **more: Any) -> None:
    """Mean and standard deviation over seeds against the number of features."""
    levels = []
    for sketch, curve in part.groupby("sketch", sort=False):
        curve = curve.sort_values("features")
        style = line_style(str(sketch)) | more
        if (curve["features"] == 0).all():  # no features: a level, which may lie far below the others
            levels.append((curve["mean"].iloc[0], style | {"marker": ""}))
            continue
        ax.errorbar(curve["features"], curve["mean"], curve["std"].fillna(0), capsize=2, **style)
    ax.set_xscale("log", base=2)
    ax.set_xlabel("features")
    ticks = sorted(set(part["features"]) - {0})
    ax.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
    if (part["mean"] > 0).all():
        log_values(ax)
    low, high = ax.get_ylim()
    for level, style in levels:
        ax.axhline(level, **style)
    ax.set_ylim(min([low, *(0.95 * level for level, _ in levels if level > low / 10)]), high)


def _columns(ax: "Axes", part: "pd.DataFrame") -> None:
    """Sketches side by side, where all have one number of features."""
    for place, (sketch, one) in enumerate(part.groupby("sketch", sort=False)):
        ax.errorbar([place], one["mean"], one["std"].fillna(0), capsize=2, **line_style(str(sketch)))
    ax.set_xticks([])
    ax.set_xlim(-0.7, place + 0.7)
    ax.set_xlabel(f"{part['features'].iloc[0]:.0f} features")
    if (part["mean"] > 0).all():
        log_values(ax)


def of_processes(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Several measures of one model, each in a panel of its own."""
    pairs = zip(summary["task"], summary["metric"], strict=True)
    return summary[[metric in SEVERAL.get(task.partition("(")[0], ()) for task, metric in pairs]]


def of_ridge(summary: "pd.DataFrame") -> "pd.DataFrame":
    """The errors of ridge regression; a sketch of several kernels has a name for each."""
    ours = summary[summary["task"].str.startswith("ridge")]
    ours = ours[ours["metric"] == ("error" if (ours["metric"] == "error").any() else "nmse")]
    several = ours.groupby("sketch")["kernel"].transform("nunique") > 1
    return ours.assign(sketch=ours["sketch"].where(~several, ours["sketch"] + ", " + ours["kernel"]))


def first_error(summary: "pd.DataFrame") -> "pd.DataFrame":
    """The first error of the list that there is."""
    metrics = set(summary["metric"])
    return summary[summary["metric"] == next((name for name in ERRORS if name in metrics), "")]


def of_variance(summary: "pd.DataFrame") -> "pd.DataFrame":
    return summary[summary["metric"].isin(VARIANCES)]


def variances(ax: "Axes", part: "pd.DataFrame") -> None:
    """Closed form as a line, Monte Carlo as crosses on it."""
    _lines(ax, part[part["metric"] == "variance_closed_form"])
    empirical = part[part["metric"] == "variance_empirical"]
    if len(empirical):
        _lines(ax, empirical, linestyle="", marker="x", label="Monte Carlo")
    ax.set_ylabel("variance of the kernel estimate")


def of_ratios(curves: "pd.DataFrame") -> "pd.DataFrame":
    return curves[curves["name"].str.startswith(RATIO)]


def distributions(ax: "Axes", part: "pd.DataFrame") -> None:
    """Empirical distribution of Var(sketch)/Var(other sketch) over pairs [Wacker 2022, Fig. 3.3, 4.1, 4.2]."""
    import matplotlib as mpl

    curves = list(part.groupby(["sketch", "degree", "features"], sort=False, dropna=False))
    for place, ((sketch, degree, features), curve) in enumerate(curves):
        power = f", p = {degree:.0f}" if degree == degree else ""
        count = f", D = {features:.0f}" if part["features"].nunique() > 1 else ""
        style = line_style(str(sketch)) | {"marker": "", "label": f"{sketch}{power}{count}"}
        if len(curves) > 1:
            style["color"] = mpl.colormaps["viridis"](0.9 * place / (len(curves) - 1))
        ax.plot(curve["mean"], curve["x"], **style)
    ax.axvline(1, color="black", linewidth=0.8)
    other = part["name"].iloc[0].removeprefix(RATIO)
    ax.set_xlabel(f"variance / variance of {'the real sketch' if other == 'real' else other}")
    ax.set_ylabel("fraction of pairs")
    ax.set_ylim(0, 1)
    most = part.loc[np.isclose(part["x"], 0.95), "mean"].max()  # a few pairs may be far out
    ax.set_xlim(0, max(1.1, 1.5 * most))


FIRST_ERROR = Panel(first_error, errors)
PROCESSES = Panel(of_processes, errors, ("dataset", "kernel", "degree", "metric"))
RIDGE = Panel(of_ridge, errors, ("dataset",), drawn=("kernel",))  # sketches of all kernels [Ohana et al. 2019, Fig. 2]
VARIANCE = Panel(of_variance, variances)
RATIOS = Panel(of_ratios, distributions, ("dataset", "kernel"), drawn=("degree",), of_curves=True)
