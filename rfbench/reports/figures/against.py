"""Figures that a config names: one number against another, as in error:fit_seconds.

The first is a metric, or several of one panel, as in kl|mnll:features.  The second is a column of the setting
(features, degree, n_train) or another metric; then a line has a point for each number of features.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rfbench.checks import InputError, did_you_mean
from rfbench.config.labels import with_options
from rfbench.reports.figures.axes import in_decades, log_values
from rfbench.reports.figures.panel import Panel
from rfbench.reports.figures.style import line_style
from rfbench.reports.names import metric_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SETTING = ["dataset", "n_train", "task", "kernel", "degree", "sketch", "features"]
COLUMNS = {"features": "features", "degree": "degree p", "n_train": "training rows"}
FEW = 3  # values of x up to which sketches are drawn side by side


def against(plot: Sequence[str]) -> Panel:
    """The panels that `plot` names, those of one dataset beside each other."""
    return Panel(partial(points, plot=plot), curves_against, ("dataset", "kernel", "degree", "plot"))


def points(summary: "pd.DataFrame", plot: Sequence[str]) -> "pd.DataFrame":
    """A row for each point: its setting, `plot` (what against what), x, y and the standard deviation of y."""
    import pandas as pd

    found = pd.concat([_pair(summary, pair) for pair in plot])
    panel = found.groupby(["dataset", "kernel", "degree"], sort=False, dropna=False).ngroup()
    return found.assign(panel=panel).sort_values("panel", kind="stable").drop(columns="panel")


def _pair(summary: "pd.DataFrame", pair: str) -> "pd.DataFrame":
    """The points of one y:x; a column that is the x axis does not divide panels."""
    y, _, x = pair.partition(":")
    ys, metrics = y.split("|"), list(dict.fromkeys(summary["metric"]))
    for word, choices in ((x, [*COLUMNS, *metrics]), *((one, metrics) for one in ys)):
        if word not in choices:
            raise InputError(f"no '{word}' to draw in {pair}; {did_you_mean(word, choices, always_all=True)}")
    found = summary.loc[summary["metric"].isin(ys), [*SETTING, "metric", "mean", "std"]].rename(columns={"mean": "y"})
    if len(ys) > 1:
        pairs = zip(found["sketch"], found["metric"], strict=True)
        found["sketch"] = [with_options(sketch, [metric_name(metric)]) for sketch, metric in pairs]
    found = found.drop(columns="metric")
    if x in COLUMNS:
        found = found.assign(x=found[x])
        return found.assign(plot=pair, **({} if x == "features" else {x: float("nan")}))
    other = summary.loc[summary["metric"] == x, [*SETTING, "mean"]].rename(columns={"mean": "x"})
    return found.merge(other, on=SETTING).assign(plot=pair)


def curves_against(ax: "Axes", part: "pd.DataFrame") -> None:
    """A line for each sketch with a band of one standard deviation, or sketches side by side where x has few values."""
    y, _, x = part["plot"].iloc[0].partition(":")
    part = part[part["y"].notna()]
    positive = bool((part["y"] > 0).all())
    few = x in COLUMNS and part.loc[part["x"] > 0, "x"].nunique() <= FEW
    (_side_by_side if few else _lines)(ax, part, positive)
    if x in COLUMNS and not few:
        ticks = sorted(set(part["x"]) - {0})
        if x != "degree":
            ax.set_xscale("log", base=2)
            ticks = _apart(ticks)
        ax.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
        ax.minorticks_off()
    if positive and x in COLUMNS:
        log_values(ax)
    elif positive:
        in_decades(ax)
    ax.set_xlabel(COLUMNS.get(x) or metric_name(x))
    ax.set_ylabel(metric_name(y))


def _lines(ax: "Axes", part: "pd.DataFrame", positive: bool) -> None:
    for sketch, curve in part.groupby("sketch", sort=False):
        style = line_style(str(sketch))
        if (curve["features"] == 0).all():  # no features: a level
            ax.axhline(curve["y"].iloc[0], **style | {"marker": ""})
            continue
        curve = curve.sort_values(["features", "x"])
        ax.plot(curve["x"], curve["y"], **style)
        mean, std = curve["y"], curve["std"].fillna(0)
        low = mean / (1 + std / mean) if positive else mean - std  # a logarithmic axis has no room below 0
        ax.fill_between(curve["x"], low, mean + std, color=style["color"], alpha=0.15, linewidth=0)


def _side_by_side(ax: "Axes", part: "pd.DataFrame", positive: bool) -> None:
    """Like the bars of the papers: a group for each x, in it the sketches in the order of the legend."""
    groups, sketches = sorted(set(part["x"]) - {0}), list(dict.fromkeys(part["sketch"]))
    for place, (sketch, points) in enumerate(part.groupby("sketch", sort=False)):
        style = line_style(str(sketch)) | {"linestyle": ""}
        at = [groups.index(one) if one in groups else 0 for one in points["x"]]
        offset = 0.8 * ((place + 0.5) / len(sketches) - 0.5)
        std = points["std"].fillna(0)
        below = std / (1 + std / points["y"]) if positive else std
        ax.errorbar([one + offset for one in at], points["y"], (below, std), capsize=1.5, **style)
    ax.set_xticks(range(len(groups)), [f"{one:.0f}" for one in groups])
    ax.set_xlim(-0.6, len(groups) - 0.4)
    ax.grid(visible=False, axis="x")


def _apart(ticks: list[float]) -> list[float]:
    """The ticks whose numbers have room on a logarithmic axis."""
    kept: list[float] = []
    for tick in ticks:
        if not kept or tick >= 1.4 * kept[-1]:
            kept.append(tick)
    return kept
