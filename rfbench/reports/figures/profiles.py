"""Panels of functions: a kernel along pairs of rows, the degrees of its Maclaurin series, the tails of errors."""

import re
from itertools import cycle
from typing import TYPE_CHECKING

from rfbench.reports.figures.axes import log_values
from rfbench.reports.figures.panel import Panel, wide
from rfbench.reports.figures.style import line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

ALONG = {
    "distance": "distance",
    "sphere": "distance on the unit sphere",
    "norm": "length of both rows",
    "signs": "share of opposite signs",
}
TERM_LABELS = {"variance": "variance of one feature", "bias": "squared bias up to degree n"}
SERIES = "#E69F00"
TAILS = {
    "tail": {"color": "black", "label": "measured, one pair"},
    "tail_sup": {"color": "0.55", "label": "measured, largest of all pairs"},
}
THEOREMS = (  # one colour for each, in all panels
    *("chebyshev", "wacker_2_2_1", "wacker_3_4_1", "bernstein", "ohana_c"),
    *("rahimi_recht", "chang_1", "chang_2", "brault_a_1_1", "brault_3_1"),
)
POINT = ["dataset", "n_train", "task", "kernel", "degree", "sketch", "features", "x"]


def profiles(curves: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each point of each sketch: x = τ, k(τ), and variance or estimate."""
    found = curves[curves["task"].str.startswith("profile")]
    found = found.replace({"name": {"kernel": "k"}})  # a column is called kernel
    return wide(found, POINT).rename(columns={"task": "measure"})


def profile(ax: "Axes", part: "pd.DataFrame") -> None:
    """The kernel in black [Wacker 2022, Fig. 2.1, 2.3 and 5.7], over a histogram of distances [ibid., Fig. 5.6]."""
    options = part["measure"].iloc[0]
    ratios_matter = "along=signs" in options and "of=estimate" not in options  # variances differ by orders of magnitude
    for place, ((sketch, features), curve) in enumerate(part.groupby(["sketch", "features"], sort=False)):
        count = f", D = {features:.0f}" if part["features"].nunique() > 1 else ""
        if not place and not ratios_matter:
            without_sketch(ax, curve.dropna(axis=1, how="all"))
        for name, more in (("variance", {}), ("estimate", {"linestyle": "--"})):
            if name in curve and curve[name].notna().any():
                style = line_style(str(sketch)) | {"marker": "", "label": f"{name}, {sketch}{count}"} | more
                ax.plot(curve["x"], curve[name], **style)
    angle = re.search(r"angle=([\d.]+)", options)
    along = next((word for key, word in ALONG.items() if f"along={key}" in options), ALONG["distance"])
    ax.set_xlabel(f"{along}, at {angle[1]}°" if angle else along)
    if ratios_matter:
        log_values(ax)


def without_sketch(ax: "Axes", curve: "pd.DataFrame") -> None:
    """The kernel, its series and the density of distances, which are the same for all sketches."""
    if "density" in curve:
        behind = ax.twinx()
        behind.bar(curve["x"], curve["density"], curve["x"].diff().iloc[-1], color="0.85")
        behind.set_ylabel("density of pairs")
        behind.grid(False)
        ax.set_zorder(behind.get_zorder() + 1)
        ax.patch.set_visible(False)
    ax.plot(curve["x"], curve["k"], color="black", label="kernel")
    for name, style in zip(sorted(map(str, curve.filter(like="series"))), cycle((":", "-.", "--", "-")), strict=False):
        ax.plot(curve["x"], curve[name], color=SERIES, linestyle=style, label=f"series to degree {name[-1]}")


def terms(curves: "pd.DataFrame") -> "pd.DataFrame":
    """Variances, then biases, a row for each degree x."""
    found = curves[curves["task"].str.startswith("maclaurin_terms")].rename(columns={"name": "measure"})
    return found.sort_values("measure", ascending=False, kind="stable")


def by_term(ax: "Axes", part: "pd.DataFrame") -> None:
    """Mean and standard deviation over seeds against the degree, whatever the features [Wacker 2022, Fig. 5.1]."""
    for sketch, curve in part[part["mean"] > 0].drop_duplicates(["sketch", "x"]).groupby("sketch", sort=False):
        ax.errorbar(curve["x"], curve["mean"], curve["std"].fillna(0), capsize=2, **line_style(str(sketch)))
    log_values(ax)
    ax.set_xlabel("degree n")
    ax.set_ylabel(TERM_LABELS[part["measure"].iloc[0]])


def tails(curves: "pd.DataFrame") -> "pd.DataFrame":
    """Measured probabilities and bounds, with the most features of each sketch."""
    found = curves[curves["task"].str.startswith("bounds")]
    return found[found["features"] == found.groupby(["dataset", "kernel", "sketch"])["features"].transform("max")]


def with_bounds(ax: "Axes", part: "pd.DataFrame") -> None:
    """The probability of a larger error, of one pair and of all, and what theorems say of it."""
    for name, curve in part.groupby("name", sort=False):
        theorem = str(name).removeprefix("bound_")
        colour = f"C{THEOREMS.index(theorem)}" if theorem in THEOREMS else None
        style = TAILS.get(theorem, {"color": colour, "label": theorem, "linestyle": "--"})
        ax.plot(curve["x"], curve["mean"].where(curve["mean"] > 0), **style)
    ax.set_xscale("log")
    log_values(ax)
    ax.set_ylim(1e-4, 1.5)
    ax.set_xlabel("relative error ε")
    ax.set_ylabel(f"P(error > ε), {part['features'].iloc[0]:.0f} features")


PROFILES = Panel(profiles, profile, ("dataset", "kernel", "degree", "measure"), of_curves=True)
TERMS = Panel(terms, by_term, ("dataset", "kernel", "degree", "measure"), of_curves=True)
BOUNDS = Panel(tails, with_bounds, ("dataset", "kernel", "degree", "sketch"), of_curves=True, height=3.0)
