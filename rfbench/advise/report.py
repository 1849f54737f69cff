"""Advice for people: tables, the front of error against time, and why."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rfbench.advise.ranking import Choice, at_equal, front
from rfbench.arrays import inner
from rfbench.progress import bar
from rfbench.reports.formats import aligned_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN = "° from draws: no closed form is known"
SHOWN = 5  # of each ranking
SPREAD = (0.25, 1, 4)  # times the features of a choice: the points of its line in the figure


def table(choices: Sequence[Choice]) -> str:
    """A line for each choice, best first."""
    lines = [["sketch", "features", "predicted_error", "fit [s]", "10⁶ rows [s]", "10⁶ rows [GB]"]]
    for choice in choices:
        mark = " " if choice.one.closed_form else "°"
        error = f"{choice.error:.4g}{mark}"
        numbers = [f"{number:.3g}" for number in (choice.fit_seconds, choice.seconds, choice.bytes / 1e9)]
        lines.append([choice.one.name, str(choice.features), error, *numbers])
    text = "\n".join(aligned_lines(lines))
    return text if all(choice.one.closed_form for choice in choices) else f"{text}\n{DRAWN}"


def rankings_text(rankings: dict[str, list[Choice]]) -> str:
    """The first of each ranking, side by side."""
    columns = [[f"at {level}", *map(_entry, found[:SHOWN])] for level, found in rankings.items()]
    deepest = max(map(len, columns))
    return "\n".join(aligned_lines(list(zip(*([*c, *[""] * (deepest - len(c))] for c in columns), strict=True))))


def _entry(choice: Choice) -> str:
    return f"{choice.one.name} {choice.error:.3g}"


def reason(best: Choice, *others: Choice) -> str:
    """One sentence on why the best one is the best for these rows."""
    X, sketch = best.one.evidence.X.astype(np.float64), best.one.sketch
    law, fitted = sketch.weight_law, best.fit_seconds > 0
    behind = f" (next is {others[0].one.name}, {_numbers(others[0])})" if others else ""
    first = f"{best.one.name} is best, {_numbers(best)}{behind}"
    if bias := best.one.fitted(best.features).stated_bias:
        return f"{first}; it is biased: {bias}."
    if fitted and law is None:
        share = float(np.sum(X.mean(0) ** 2) / np.mean(np.sum(X**2, axis=1)))
        return f"{first}: it is fitted to training rows, whose mean has {share:.0%} of their squared length."
    if law is None or law.real:
        return f"{first}: its variance is the smallest on these rows."
    return (
        f"{first}: complex weights pay, because Σ_{{i≠j}} xᵢxⱼyᵢyⱼ > 0 for {positive(X):.0%} of the pairs of rows, "
        f"and after centring for {positive(X - X.mean(0)):.0%}."
    )


def _numbers(choice: Choice) -> str:
    return f"{choice.features} features with an error of {choice.error:.3g}"


def positive(X: np.ndarray) -> float:
    """The share of pairs of rows with ⟨x, y⟩² > Σ xᵢ²yᵢ², for which complex-to-real features vary less."""
    pairs = np.triu_indices(len(X), 1)
    return float(np.mean((inner(X, X) ** 2 - inner(X**2, X**2))[pairs] > 0))


def draw_front(choices: Sequence[Choice], title: str) -> "Figure":
    """Error against seconds: a line for each sketch, those on the front in colour."""
    from matplotlib.figure import Figure

    from rfbench.reports.figures.axes import in_decades
    from rfbench.reports.figures.figure import legend_columns
    from rfbench.reports.figures.style import line_style

    lines: dict[str, list[Choice]] = {}
    with bar(len(choices), "figure") as shown:
        for c in choices:
            lines[c.one.name] = [c, *_others(c)]
            shown.update()
    best = front([point for points in lines.values() for point in points])
    leading = {point.one.name for point in best}
    figure = Figure((5.2, 4.0), layout="constrained")
    ax = figure.subplots()
    for name, points in lines.items():
        points.sort(key=lambda c: c.seconds)
        style = line_style(name) if name in leading else {"color": "#BBBBBB", "linewidth": 0.6}
        ax.plot([c.seconds for c in points], [c.error for c in points], **style)
    ax.plot([c.seconds for c in best], [c.error for c in best], color="black", linewidth=2.5, alpha=0.25, zorder=0)
    ax.set(xlabel="seconds for a million rows", ylabel="predicted error", title=title)
    in_decades(ax)
    handles, labels = ax.get_legend_handles_labels()
    named = [(handle, label) for handle, label in zip(handles, labels, strict=True) if label in leading]
    columns = legend_columns([label for _, label in named], 5.2)
    figure.legend(*zip(*named, strict=True), loc="outside lower center", ncols=columns)
    return figure


def _others(choice: Choice) -> list[Choice]:
    """The same sketch with fewer and with more features."""
    return [
        other
        for times in SPREAD
        for other in at_equal([choice], lambda c, times=times: int(times * c.features))  # type: ignore[misc]
        if other.features != choice.features
    ]


def write_front(directory: Path, choices: Sequence[Choice], title: str) -> None:
    """The figure in all formats."""
    import matplotlib as mpl

    from rfbench.reports.figures.save import save
    from rfbench.reports.figures.style import settings

    with mpl.rc_context(settings()):
        save(draw_front(choices, title), directory, "figure")
