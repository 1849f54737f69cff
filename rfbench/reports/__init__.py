"""Step 6 of the data's way: rows → tables and figures."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_report(
    directory: Path, rows: Iterable[Mapping[str, Any]], plot: Sequence[str] | None = None, notes: Sequence[str] = ()
) -> str:
    """summary.csv and the figure, of what `plot` names, beside results.csv; the text of the table."""
    from rfbench.reports.figures.figure import write_figure
    from rfbench.reports.figures.projections import write_crossings
    from rfbench.reports.tables import as_text, summarize, to_frame, write_summary

    summary = summarize(to_frame(rows))
    write_summary(directory / "summary.csv", summary)
    write_figure(directory, summary, plot, notes)
    return "\n".join([as_text(summary), *write_crossings(directory, summary)])
