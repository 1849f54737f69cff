"""Step 6 of the pipeline: rows → tables and figures."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_report(
    directory: Path,
    rows: Iterable[Mapping[str, Any]],
    series: Iterable[Mapping[str, Any]],
    plot: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Write summary.csv and the figure that `plot` names; return the table as text."""
    from rfbench.reports.figures.figure import write_figure
    from rfbench.reports.figures.projections import write_crossings
    from rfbench.reports.formats import as_text
    from rfbench.reports.tables import summarize, summarize_curves, to_frame, write_summary

    summary = summarize(to_frame(rows))
    write_summary(directory / "summary.csv", summary)
    write_figure(directory, summary, summarize_curves(series), plot, notes)
    return "\n".join([as_text(summary), *write_crossings(directory, summary)])
