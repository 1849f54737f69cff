"""Table → figure: a panel for each data set and kernel, a line for each sketch.  No numbers are made here."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from rfbench.reports.figures.against import against, curves_against
from rfbench.reports.figures.deviations import DEVIATIONS, deviations
from rfbench.reports.figures.learning import curves, fields, learning, quiver
from rfbench.reports.figures.panels import (
    ERRORS,
    QUANTILE,
    compared,
    errors,
    learned,
    measured,
    ratio_distribution,
    variances,
)
from rfbench.reports.figures.processes import by_clusters, clusters, epochs, measures, training
from rfbench.reports.figures.profiles import by_term, profile, profiles, terms
from rfbench.reports.figures.projections import device_curves, projections
from rfbench.reports.figures.save import save
from rfbench.reports.figures.style import RC, tell_apart
from rfbench.storage import replace_file

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PANEL = ["dataset", "kernel", "degree"]


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
    return 2 if panels in (4, 8) else min(panels, 3)


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
