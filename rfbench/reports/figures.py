"""Table → figure: a panel for each data set and kernel, a line for each sketch.  No numbers are made here."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from rfbench.reports.against import against, curves_against
from rfbench.reports.axes import log_values
from rfbench.reports.deviations import DEVIATIONS, deviations
from rfbench.reports.learning import curves, fields, learning, quiver
from rfbench.reports.processes import by_clusters, clusters, epochs, measures, training
from rfbench.reports.profiles import by_term, profile, profiles, terms
from rfbench.reports.projections import device_curves, projections
from rfbench.reports.save import save
from rfbench.reports.style import RC, line_style, tell_apart
from rfbench.results.files import replace_file

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PANEL = ["dataset", "kernel", "degree"]
ERRORS = {
    "max_block_norm": "largest spectral norm of an error of K(x, y)",
    "rel_frobenius": "relative Frobenius error",
    "kl": "KL divergence from the exact process",
    "mnll": "mean negative log likelihood",
    "error": "misclassified fraction",
    "nmse": "normalised mean squared error",
    "transform_seconds": "time of the training features [s]",
}
QUANTILE = r"^ratio_to_(\w+)_q(\d{3})$"


def write_figure(
    directory: Path, summary: "pd.DataFrame", plot: Sequence[str] | None = None, notes: Sequence[str] = ()
) -> bool:
    """figure.png, figure.svg and the numbers behind them, notes below; False where there is nothing to draw."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown, panel = (against(summary, plot), curves_against) if plot and len(summary) else choose(summary)
    if shown.empty:
        return False
    with mpl.rc_context(RC):  # type: ignore[arg-type]
        panels = list(panels_of(shown, KEYS.get(panel) or keys_of(shown)))
        across = columns_of(len(panels), len(plot or ()))
        down = -(-len(panels) // across)
        figure = Figure(layout="constrained")
        axes = figure.subplots(down, across, squeeze=False)
        for ax, (title, part) in zip(axes.flat, panels, strict=False):
            ax.set_title(fill(title, 44), fontsize="medium")
            panel(ax, part)
        for ax in axes.flat[len(panels) :]:
            ax.set_axis_off()
        tell_apart(axes.flat)
        lines = {line.get_label(): line for ax in axes.flat for line in ax.get_legend_handles_labels()[0]}
        width = 3.4 * across + 0.4
        longest = max(map(len, lines), default=0)
        columns = max(min(len(lines), int(13 * width / (6 + longest))), 1)  # of 13 letters to an inch
        figure.set_size_inches(width, (3.2 if panel is quiver else 2.6) * down + 0.3 + 0.2 * -(-len(lines) // columns))
        if lines:
            figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=columns)
        if notes:
            figure.suptitle(fill("; ".join(notes), int(15 * width)), fontsize="small", color="#555555")
        save(figure, directory, "figure")
    replace_file(directory / "figure.csv", shown.to_csv(index=False, lineterminator="\n"))
    return True


def keys_of(shown: "pd.DataFrame") -> list[str]:
    """Of panels: tasks with other options are others, where one data set has several."""
    if "task" not in shown or shown.groupby(PANEL, dropna=False)["task"].nunique().max() == 1:
        return PANEL
    return [*PANEL, "task"]


def columns_of(panels: int, measures: int) -> int:
    """Several measures of one thing stand beside each other, up to four; else two or three panels do."""
    if 1 < measures <= 4:
        return measures
    return 2 if panels == 4 else min(panels, 3)


def choose(summary: "pd.DataFrame") -> tuple["pd.DataFrame", Callable[["Axes", "pd.DataFrame"], None]]:
    """The rows to show and how: distributions of ratios, else variances, deviations, or the first error there is."""
    metric = summary["metric"]
    for rows, panel in SPECIAL:
        if len(found := rows(summary)):
            return found, panel
    if len(found := summary[metric.str.match(QUANTILE)]):
        return found, ratio_distribution
    if len(found := summary[metric.isin(("variance_closed_form", "variance_empirical"))]):
        return found, variances
    if (metric == "kid_std").any():
        return summary[metric.isin(DEVIATIONS)], deviations
    first = next((name for name in ERRORS if (metric == name).any()), "")
    return summary[metric == first], errors


def panels_of(shown: "pd.DataFrame", keys: list[str]) -> Iterator[tuple[str, "pd.DataFrame"]]:
    for names, part in shown.groupby(keys, sort=False, dropna=False):
        words = {
            "degree": "p\u00a0=\u00a0{:.0f}",
            "features": "{:.0f} features",
            "measure": "",
            "metric": "",
            "plot": "",
        }
        told = [words.get(key, "{}").format(name) for key, name in zip(keys, names, strict=True) if name == name]
        yield ", ".join(filter(None, told)), part


def _curves(ax: "Axes", part: "pd.DataFrame", **more: Any) -> None:
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
    shown = ax.get_ylim()
    for level, style in levels:
        ax.axhline(level, **style)
    ax.set_ylim(shown)


def _columns(ax: "Axes", part: "pd.DataFrame") -> None:
    """Sketches side by side, where all have one number of features."""
    for place, (sketch, one) in enumerate(part.groupby("sketch", sort=False)):
        ax.errorbar([place], one["mean"], one["std"].fillna(0), capsize=2, **line_style(str(sketch)))
    ax.set_xticks([])
    ax.set_xlim(-0.7, place + 0.7)
    ax.set_xlabel(f"{part['features'].iloc[0]:.0f} features")
    if (part["mean"] > 0).all():
        log_values(ax)


def errors(ax: "Axes", part: "pd.DataFrame") -> None:
    """An error of each sketch, against the number of features where there are several."""
    (_curves if part["features"].nunique() > 1 else _columns)(ax, part)
    ax.set_ylabel(ERRORS[part["metric"].iloc[0]])


def variances(ax: "Axes", part: "pd.DataFrame") -> None:
    """Closed form as a line, Monte Carlo as crosses on it."""
    _curves(ax, part[part["metric"] == "variance_closed_form"])
    empirical = part[part["metric"] == "variance_empirical"]
    if len(empirical):
        _curves(ax, empirical, linestyle="", marker="x", label="Monte Carlo")
    ax.set_ylabel("variance of the kernel estimate")


def ratio_distribution(ax: "Axes", part: "pd.DataFrame") -> None:
    """Empirical distribution of Var(sketch)/Var(real sketch) over pairs [Wacker 2022, Fig. 3.3, 4.1, 4.2]."""
    import matplotlib as mpl

    curves = list(part.groupby(["sketch", "degree", "features"], sort=False))
    for place, ((sketch, degree, features), curve) in enumerate(curves):
        level = curve["metric"].str.extract(QUANTILE)[1].astype(float) / 100
        count = f", D = {features:.0f}" if part["features"].nunique() > 1 else ""
        style = line_style(str(sketch)) | {"marker": "", "label": f"{sketch}, p = {degree:.0f}{count}"}
        if len(curves) > 1:
            style["color"] = mpl.colormaps["viridis"](0.9 * place / (len(curves) - 1))
        ax.plot(curve["mean"], level, **style)
    ax.axvline(1, color="black", linewidth=0.8)
    other = part["metric"].str.extract(QUANTILE)[0].iloc[0]
    ax.set_xlabel(f"variance / variance of {'the real sketch' if other == 'real' else other}")
    ax.set_ylabel("fraction of pairs")
    ax.set_ylim(0, 1)
    most = part.loc[part["metric"].str.endswith("q095"), "mean"].max()  # a few pairs may be far out
    ax.set_xlim(0, max(1.1, 1.5 * most))


def measured(ax: "Axes", part: "pd.DataFrame") -> None:
    """One of several measures, each in a panel of its own."""
    errors(ax, part)


def learned(summary: "pd.DataFrame") -> "pd.DataFrame":
    """The errors of ridge regression, whatever the kernel."""
    ours = summary[summary["task"].str.startswith("ridge")]
    ours = ours[ours["metric"] == ("error" if (ours["metric"] == "error").any() else "nmse")]
    several = ours.groupby("sketch")["kernel"].transform("nunique") > 1
    return ours.assign(sketch=ours["sketch"].where(~several, ours["sketch"] + ", " + ours["kernel"]))


def compared(ax: "Axes", part: "pd.DataFrame") -> None:
    """Sketches of all kernels in one panel [Ohana et al. 2019, Fig. 2]."""
    errors(ax, part)


SPECIAL = (
    (fields, quiver),
    (learning, curves),
    (epochs, training),
    (clusters, by_clusters),
    (profiles, profile),
    (terms, by_term),
    (measures, measured),
    (learned, compared),
    (projections, device_curves),
)
KEYS: dict[Callable[..., None], list[str]] = {  # of panels, where they are others
    ratio_distribution: ["dataset", "kernel"],
    measured: [*PANEL, "metric"],
    curves_against: [*PANEL, "plot"],
    compared: ["dataset"],
    curves: ["dataset", "measure"],
    device_curves: ["metric"],
    profile: [*PANEL, "measure"],
    by_term: [*PANEL, "part"],
    quiver: ["dataset", "sketch", "features", "shown"],
}
