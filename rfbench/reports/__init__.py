"""Step 6 of the pipeline: rows → tables and figures."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rfbench.checks import InputError


def write_report(
    directory: Path,
    rows: Iterable[Mapping[str, Any]],
    series: Iterable[Mapping[str, Any]],
    plot: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    spread: str = "std",
) -> str:
    """Write summary.csv and the figure that `plot` names; return the table as text.

    Where nothing has the metric that `plot` names, the table is printed all the same: it may have taken hours.
    """
    from rfbench.progress import columns, say
    from rfbench.reports.differences import verdicts
    from rfbench.reports.figures.figure import write_figure
    from rfbench.reports.figures.projections import write_crossings
    from rfbench.reports.formats import as_text
    from rfbench.reports.tables import summarize, summarize_curves, to_frame, write_summary

    summary = summarize(to_frame(rows))
    write_summary(directory / "summary.csv", summary)
    below = [*write_crossings(directory, summary), *verdicts(summary)]
    text = "\n".join([as_text(summary, spread, columns(sys.maxsize)), *below])
    try:
        write_figure(directory, summary, summarize_curves(series), plot, notes)
    except InputError as mistake:
        say(text)
        raise InputError(f"{mistake}; the numbers are in {directory / 'summary.csv'}") from None
    return text
