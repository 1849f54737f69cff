"""Tables → figure: a panel for each dataset and kernel, a line for each sketch.  No numbers are computed here."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from rfbench.reports.figures import errors, learning, processes, profiles
from rfbench.reports.figures.against import against
from rfbench.reports.figures.axes import panels_in
from rfbench.reports.figures.deviations import DEVIATIONS, DISTANCES
from rfbench.reports.figures.panel import Panel
from rfbench.reports.figures.projections import PROJECTIONS
from rfbench.reports.figures.save import save
from rfbench.reports.figures.style import settings, tell_apart
from rfbench.reports.names import printed
from rfbench.storage import replace_file

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PANELS = (  # the first that has rows to show is drawn
    learning.FIELDS,
    learning.LEARNING,
    processes.TRAINING,
    processes.CLUSTERS,
    profiles.PROFILES,
    profiles.TERMS,
    profiles.BOUNDS,
    errors.PROCESSES,
    errors.RIDGE,
    PROJECTIONS,
    errors.RATIOS,
    errors.VARIANCE,
    DISTANCES,
    DEVIATIONS,
    errors.FIRST_ERROR,
)


def write_figure(
    directory: Path,
    summary: "pd.DataFrame",
    curves: "pd.DataFrame",
    plot: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> bool:
    """The figure in all formats and figure.csv, the data behind it; False where there is nothing to draw."""
    import matplotlib as mpl

    panel, shown = choose(summary, curves, plot)
    if shown.empty:
        return False
    with mpl.rc_context(settings()):
        save(draw(panel, shown, len(plot or ()), notes), directory, "figure")
    replace_file(directory / "figure.csv", shown.to_csv(index=False, lineterminator="\n"))
    return True


def choose(
    summary: "pd.DataFrame", curves: "pd.DataFrame", plot: Sequence[str] | None = None
) -> tuple[Panel, "pd.DataFrame"]:
    """What `plot` names, or the first kind of panel that has rows, with its rows."""
    panels = [against(plot)] if plot and len(summary) else PANELS
    chosen = ((panel, panel.select(curves if panel.of_curves else summary)) for panel in panels)
    return next((found for found in chosen if len(found[1])), (errors.FIRST_ERROR, summary[:0]))


def draw(
    panel: Panel,
    shown: "pd.DataFrame",
    measures: int = 0,
    notes: Sequence[str] = (),
    size: tuple[float, float] | None = None,
) -> "Figure":
    """All panels with one legend below them, and the notes above, by default in a size that fits their number."""
    from matplotlib.figure import Figure

    parts = list(panel.divide(shown))
    across = panels_across(len(parts), measures)
    figure = Figure(layout="constrained")
    axes = panels_in(figure, len(parts), across)
    for ax, (title, part) in zip(axes, parts, strict=True):
        ax.set_title(fill(printed(title), 44), fontsize="medium")
        panel.draw(ax, part)
    tell_apart(axes)
    lines = {printed(str(line.get_label())): line for ax in axes for line in ax.get_legend_handles_labels()[0]}
    width = size[0] if size else 3.4 * across + 0.4
    names = [fill(name, int(13 * width) - 6, subsequent_indent="  ") for name in lines]
    columns = legend_columns(names, width)
    down, legend_rows = -(-len(parts) // across), -(-sum(name.count("\n") + 1 for name in names) // columns)
    figure.set_size_inches(size or (width, panel.height * down + 0.3 + 0.2 * legend_rows))
    if lines:
        figure.legend(lines.values(), names, loc="outside lower center", ncols=columns)
    if notes:
        figure.suptitle(fill("; ".join(notes), int(15 * width)), fontsize="small", color="#555555")
    return figure


def panels_across(panels: int, measures: int) -> int:
    """Several measures of one thing stand beside each other, up to four; else two or three panels do."""
    if 1 < measures <= 4:
        return measures
    return 2 if panels in (4, 8) else min(panels, 3)


def legend_columns(labels: list[str], width: float) -> int:
    """As many as fit the width, at 13 letters to an inch."""
    longest = max((len(line) for label in labels for line in label.splitlines()), default=0)
    return max(min(len(labels), int(13 * width / (6 + longest))), 1)
