"""Figures of functions: a kernel along pairs of rows, and the degrees of its Maclaurin series."""

import re
from itertools import cycle
from typing import TYPE_CHECKING

from rfbench.reports.figures.axes import log_values
from rfbench.reports.figures.style import line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

POINT = r"^(at|kernel|variance|estimate|density|series\d)_t(\d{3})$"
TERM = r"^(variance|bias)_n(\d{3})$"
ALONG = {"distance": "distance", "sphere": "distance on the unit sphere", "norm": "length of both rows"}
SERIES = "#E69F00"
KEYS = ["dataset", "task", "kernel", "degree", "sketch", "features"]


def profiles(summary: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each point of each sketch: τ, k(τ), and variance or estimate."""
    found = summary[summary["metric"].str.match(POINT)]
    found = found.join(found["metric"].str.extract(POINT).set_axis(["part", "point"], axis=1))
    found = found.assign(part=found["part"].replace("kernel", "k"))  # which is a column already
    wide = found.pivot_table(index=[*KEYS, "point"], columns="part", values="mean", sort=False, dropna=False)
    return wide.dropna(how="all").reset_index().rename(columns={"task": "measure"})


def profile(ax: "Axes", part: "pd.DataFrame") -> None:
    """The kernel in black [Wacker 2022, Fig. 2.1, 2.3 and 5.7], over a histogram of distances [ibid., Fig. 5.6]."""
    for place, (sketch, curve) in enumerate(part.groupby("sketch", sort=False)):
        if not place:
            alone(ax, curve.dropna(axis=1, how="all"))
        for name, more in (("variance", {}), ("estimate", {"linestyle": "--"})):
            if name in curve and curve[name].notna().any():
                style = line_style(str(sketch)) | {"marker": "", "label": f"{name}, {sketch}"} | more
                ax.plot(curve["at"], curve[name], **style)
    options = part["measure"].iloc[0]
    angle = re.search(r"angle=([\d.]+)", options)
    along = next((word for key, word in ALONG.items() if f"along={key}" in options), ALONG["distance"])
    ax.set_xlabel(f"{along}, at {angle[1]}°" if angle else along)


def alone(ax: "Axes", curve: "pd.DataFrame") -> None:
    """What does not depend on the sketch."""
    if "density" in curve:
        behind = ax.twinx()
        behind.bar(curve["at"], curve["density"], curve["at"].diff().iloc[-1], color="0.85")
        behind.set_ylabel("density of pairs")
        behind.grid(False)
        ax.set_zorder(behind.get_zorder() + 1)
        ax.patch.set_visible(False)
    ax.plot(curve["at"], curve["k"], color="black", label="kernel")
    for name, style in zip(sorted(map(str, curve.filter(like="series"))), cycle((":", "-.", "--", "-")), strict=False):
        ax.plot(curve["at"], curve[name], color=SERIES, linestyle=style, label=f"series to degree {name[-1]}")


def terms(summary: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each degree, with `part` variance or bias."""
    found = summary[summary["metric"].str.match(TERM)]
    found = found.join(found["metric"].str.extract(TERM).set_axis(["part", "term"], axis=1))
    return found.astype({"term": float}).sort_values("part", ascending=False, kind="stable")


def by_term(ax: "Axes", part: "pd.DataFrame") -> None:
    """Mean and deviation over subsamples against the degree [Wacker 2022, Fig. 5.1]."""
    for sketch, curve in part[part["mean"] > 0].groupby("sketch", sort=False):
        ax.errorbar(curve["term"], curve["mean"], curve["std"].fillna(0), capsize=2, **line_style(str(sketch)))
    log_values(ax)
    ax.set_xlabel("degree n")
    ax.set_ylabel({"variance": "variance of one feature", "bias": "squared bias up to degree n"}[part["part"].iloc[0]])
