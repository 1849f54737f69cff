"""Rows → mean, standard deviation and count over seeds, as a file and for the terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfbench.results.rows import COLUMNS
from rfbench.results.series import SERIES_COLUMNS
from rfbench.storage import replace_file

if TYPE_CHECKING:
    import pandas as pd

SETTING = COLUMNS[: COLUMNS.index("seed")]
SHARED = r"^(?:exact|block)_"  # what all sketches are compared with is printed once, below them
BEST = "* best mean among the sketches of one setting"
LARGER_IS_BETTER = ("accuracy",)
SMALLER_IS_BETTER = ("kl", "mnll", "joules", "kid_std", "largest_variance", "last_bias", "negative_rows")
SMALLER_BEGINNINGS, SMALLER_ENDINGS = ("rel_", "max_", "variance_"), ("error", "mse", "_seconds")


def to_frame(rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """The finished rows of results.csv, with numbers as numbers."""
    frame = _numeric(rows, COLUMNS, "value")
    return frame[frame["status"] == "ok"].fillna({"message": ""})


def summarize(frame: "pd.DataFrame") -> "pd.DataFrame":
    """One row per setting and metric; a message that differs between seeds is omitted."""
    groups = frame.groupby([*SETTING, "metric", "unit"], sort=False, dropna=False)
    statistics = groups["value"].agg(mean="mean", std="std", count="count")
    messages = groups["message"]
    return statistics.assign(message=messages.first().where(messages.nunique() == 1, "")).reset_index()


def summarize_curves(points: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """One row per setting, curve and x, from the points of series.csv."""
    frame = _numeric(points, SERIES_COLUMNS, "x", "y")
    groups = frame.groupby([*SETTING, "name", "x"], sort=False, dropna=False)["y"]
    return groups.agg(mean="mean", std="std", count="count").reset_index()


def _numeric(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *values: str) -> "pd.DataFrame":
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(columns))
    for column in ("n_train", "n_test", "d", "degree", "features", "seed", *values):
        frame[column] = pd.to_numeric(frame[column])
    return frame


def write_summary(path: Path, summary: "pd.DataFrame") -> None:
    replace_file(path, summary.to_csv(index=False, lineterminator="\n"))


def as_text(summary: "pd.DataFrame") -> str:
    """One table for each dataset, kernel and task, and what the marks in them mean."""
    summary = summary.assign(best=_best(summary))
    tables = ["\n".join(_table(part)) for _, part in summary.groupby(["dataset", "kernel", "task"], sort=False)]
    return "\n\n".join(tables) + (f"\n{BEST}" if summary["best"].any() else "")


def _best(summary: "pd.DataFrame") -> "pd.Series[bool]":
    """Whether a mean is the best of several sketches in the same setting; some metrics have no better and worse."""
    cost = summary["mean"].astype(float) * summary["metric"].map(_sign).astype(float)  # both may be empty
    setting = [name for name in SETTING if name != "sketch"]
    groups = summary.assign(cost=cost).groupby([*setting, "metric"], dropna=False)["cost"]
    return (cost == groups.transform("min")) & (groups.transform("nunique") > 1)


def _sign(metric: str) -> float:
    """1 where smaller is better, −1 where larger is, NaN where neither is."""
    if metric in LARGER_IS_BETTER:
        return -1
    smaller = metric in SMALLER_IS_BETTER or metric.startswith(SMALLER_BEGINNINGS) or metric.endswith(SMALLER_ENDINGS)
    return 1 if smaller else float("nan")


def _table(part: "pd.DataFrame") -> Iterator[str]:
    """Title, a line for each sketch and number of features, captions, and what all sketches share."""
    dataset, kernel, task = part[["dataset", "kernel", "task"]].iloc[0]
    columns = "columns" if part["d"].max() > 1 else "column"
    data = f"{dataset} ({_span(part['n_train'])} training rows, {_span(part['d'])} {columns})"
    several_degrees = part["degree"].nunique() > 1
    power = f" of degree {part['degree'].iloc[0]:.0f}" if part["degree"].nunique() == 1 else ""
    yield f"{data}, {kernel} kernel{power}, {task}, seeds: {_span(part['count'])}"
    keys = ["n_train"] * (part["n_train"].nunique() > 1) + ["degree"] * several_degrees + ["sketch", "features"]
    shared = part["metric"].str.match(SHARED)
    yield from _grid(part[~shared], keys)
    yield from _captions(part[~shared], several_degrees)
    yield from _below(part[shared], several_degrees)


def _span(counts: "pd.Series[Any]") -> str:
    return "–".join(f"{count:.0f}" for count in sorted({counts.min(), counts.max()}))


def _grid(part: "pd.DataFrame", keys: list[str]) -> Iterator[str]:
    headers = _headers(part)
    starred = set(part.loc[part["best"], "metric"])
    lines = [[*keys, *headers.values()]]
    groups: Any = part.sort_values("degree", kind="stable").groupby(keys, sort=False)
    for names, cells in groups:
        found = {cell.metric: _cell(cell.mean, cell.std) + "*" * cell.best for cell in cells.itertuples()}
        setting = [name if isinstance(name, str) else f"{name:.0f}" for name in names]
        lines.append([*setting, *(_flush(found.get(metric, ""), metric in starred) for metric in headers)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["─" * width for width in widths])
    return ("  ".join(map(_aligned, line, widths)).rstrip() for line in lines)


def _headers(part: "pd.DataFrame") -> dict[str, str]:
    """Metric → heading; the unit replaces _seconds, unless that gives the heading of another metric (kid)."""
    units = dict(zip(part["metric"], part["unit"], strict=True))
    short = {metric: metric.removesuffix("_seconds") for metric in units}
    names = {metric: metric if short[metric] in units else short[metric] for metric in units}
    return {metric: f"{names[metric]} [{unit}]" if unit else names[metric] for metric, unit in units.items()}


def _flush(cell: str, starred: bool) -> str:
    """Room for the star of another cell, so that numbers stay below each other."""
    return cell + " " if starred and not cell.endswith("*") else cell


def _aligned(cell: str, width: int) -> str:
    """Words to the left, numbers to the right."""
    return cell.ljust(width) if cell[:1].isalpha() else cell.rjust(width)


def _cell(mean: float, std: float) -> str:
    return f"{mean:.4g} ± {std:.2g}" if std == std else f"{mean:.4g}"


def _captions(part: "pd.DataFrame", several_degrees: bool) -> Iterator[str]:
    """The messages of a metric, with the sketches they hold for; those that vary with the features are omitted."""
    rows = part["sketch"]
    if several_degrees:  # of no row, a map would have no type
        rows = rows + part["degree"].map(", degree {:.0f}".format).astype(str)
    for metric, cells in part.assign(row=rows).groupby("metric", sort=False):
        messages = cells.groupby("row", sort=False)["message"].agg(set)
        found = messages[messages.map(len) == 1].map(min)
        words = [
            message if len(named) == len(messages) else f"{message} ({', '.join(named.index)})"
            for message, named in found.groupby(found, sort=False)
            if message
        ]
        if words:
            yield f"{metric}: {'; '.join(words)}"


def _below(part: "pd.DataFrame", several_degrees: bool) -> Iterator[str]:
    """A line for each degree."""
    groups: Any = part.drop_duplicates(["degree", "metric"]).groupby("degree", dropna=False)
    for degree, cells in groups:
        facts = [
            f"{cell.metric.removesuffix('_seconds')} {_cell(cell.mean, cell.std)}{cell.unit and f' {cell.unit}'}"
            + (f" ({cell.message})" if cell.message else "")
            for cell in cells.itertuples()
        ]
        yield (f"degree {degree:.0f}: " if several_degrees else "") + ", ".join(facts)
