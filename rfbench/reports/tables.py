"""Rows → mean, standard deviation and count over seeds, and tables of them, which formats.py writes in several ways."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log10, nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rfbench.results.rows import COLUMNS
from rfbench.results.series import SERIES_COLUMNS
from rfbench.storage import replace_file

if TYPE_CHECKING:
    import pandas as pd

SETTING = COLUMNS[: COLUMNS.index("seed")]
SHARED = r"^(?:exact|block)_"  # what all sketches are compared with is printed once, below them
FIELDS = ("metric", "mean", "std", "count", "best", "lacking", "message")
MAY_VARY = ("dataset", "task", "kernel", "n_train", "degree")  # a column of a table only where it does
LARGER_IS_BETTER = ("accuracy", "spearman")
NEITHER_IS_BETTER = (  # the rows have them, whatever the sketch
    *("kid_error", "kid_sampling_error"),
    *("kid_difference_error", "kid_difference_sampling_error"),
)
SMALLER_IS_BETTER = ("kl", "mnll", "nmll", "mae", "joules", "kid_std", "largest_variance", "last_bias", "negative_rows")
TINY, HUGE, MOST_DIGITS = -5, 6, 8  # powers of ten beyond which a number is printed with one; digits of a mean
SMALLER_BEGINNINGS, SMALLER_ENDINGS = ("rel_", "max_", "variance_"), ("error", "mse", "_seconds")


def to_frame(rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """The finished rows of results.csv, with numbers as numbers."""
    return numbers_and_gaps(rows)[0]


def numbers_and_gaps(rows: Iterable[Mapping[str, Any]]) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """The rows of results.csv that have a number, and those that have a reason instead."""
    frame = _numeric(rows, COLUMNS, "value").fillna({"message": "", "metric": "", "unit": ""})
    finished = frame["status"] == "ok"
    return frame[finished], frame[~finished]


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


@dataclass(frozen=True)
class Cell:
    """A mean over seeds, or in `reason` why there is none; beside a mean, why seeds are missing."""

    mean: float = nan
    std: float = nan
    count: int = 0
    best: bool = False
    reason: str = ""

    @property
    def error(self) -> float:
        """The standard error of the mean; NaN with one seed."""
        return self.std / sqrt(self.count) if self.count else nan

    def text(self, standard_error: bool = False) -> str:
        """The mean, ± its standard error or the standard deviation of seeds."""
        return number(self.mean, self.error if standard_error else self.std)


@dataclass(frozen=True)
class Line:
    """One sketch with one number of features; the setting has the columns of results.csv before the seed."""

    setting: dict[str, Any]
    cells: dict[str, Cell]


@dataclass(frozen=True)
class Table:
    """Columns of the setting that vary, then metrics; `shared` metrics are those of no sketch, shown in the notes."""

    title: str
    keys: list[str]
    headers: dict[str, str]  # metric → heading
    shared: list[str]
    lines: list[Line]
    notes: list[str]


def tables(summary: "pd.DataFrame", gaps: "pd.DataFrame | None" = None) -> Iterator[Table]:
    """One for each dataset, kernel and task; `gaps` are rows of results.csv without a number.

    Sets that are compared with one reference, reference:set, share a table, and so do their differences.
    """
    found = _with_gaps(summary, gaps)
    for _, part in found.groupby([found["dataset"].map(comparison), "kernel", "task"], sort=False):
        yield _table(part)


def comparison(dataset: str) -> str:
    """What the datasets of one table have in common: all, or of reference:set and reference:set - set their kind."""
    reference, several, name = dataset.partition(":")
    kind = "differences" if " - " in name else "sets"
    return f"{reference} against {kind}" if several else dataset


def whole_table(summary: "pd.DataFrame", gaps: "pd.DataFrame | None" = None) -> Table:
    """One for all."""
    return _table(_with_gaps(summary, gaps))


def _with_gaps(summary: "pd.DataFrame", gaps: "pd.DataFrame | None") -> "pd.DataFrame":
    """The summary and a row for each setting and metric without a number: its reason, and how many seeds lack it.

    Then all are sorted; without gaps they keep the order in which they were computed.
    """
    import pandas as pd

    summary = summary.assign(best=_best(summary), lacking=0)
    if gaps is None:
        return summary
    groups = gaps.groupby([*SETTING, "metric", "unit"], sort=False, dropna=False)["message"]
    lacking = (
        groups.agg(message=lambda reasons: "; ".join(dict.fromkeys(reasons)), lacking="size")
        .reset_index()
        .assign(best=False, count=0)
    )
    both = pd.concat([summary, lacking], ignore_index=True) if len(lacking) else summary
    return both.sort_values([*MAY_VARY, "sketch", "features"], kind="stable")


def _table(part: "pd.DataFrame") -> Table:
    shared, numbers = part["metric"].str.match(SHARED), part["lacking"] == 0
    several_degrees = part["degree"].nunique() > 1
    return Table(
        _title(part, part.loc[numbers, "count"]),
        [key for key in MAY_VARY if _varies(part, key)] + ["sketch", "features"],
        _headers(part[~shared & (part["metric"] != "")]),
        list(part.loc[shared, "metric"].unique()),
        list(_lines(part)),
        [*_captions(part[~shared & numbers], several_degrees), *_below(part[shared & numbers], several_degrees)],
    )


def _varies(part: "pd.DataFrame", key: str) -> bool:
    """Training rows count within a dataset."""
    values = part.groupby("dataset")[key] if key == "n_train" else part[key]
    return bool(np.max(values.nunique()) > 1)


def _title(part: "pd.DataFrame", counts: "pd.Series[Any]") -> str:
    """dataset (rows, columns), kernel, task, seeds; the number of choices of what varies."""
    columns = "columns" if part["d"].max() > 1 else "column"
    size = f" ({_span(part['n_train'])} training rows, {_span(part['d'])} {columns})" if part["d"].notna().any() else ""
    one_kernel = part["kernel"].nunique() == 1
    power = f" of degree {part['degree'].max():.0f}" if one_kernel and part["degree"].nunique() == 1 else ""
    dataset, kernel, task = (
        str(part[key].iloc[0]) if part[key].nunique() == 1 else f"{part[key].nunique()} {key}s"
        for key in ("dataset", "kernel", "task")
    )
    if part["dataset"].nunique() > len(kinds := set(part["dataset"].map(comparison))) == 1:
        reference, _, kind = kinds.pop().rpartition(" against ")
        of = {"sets": "{} against {} sets", "differences": "{}, {} differences of distances"}[kind]
        dataset = of.format(reference, part["dataset"].nunique())
    kernel = f"{kernel} kernel" if one_kernel else kernel
    seeds = f", seeds: {_span(counts)}" if len(counts) else ""
    return f"{dataset}{size}, {kernel}{power}, {task}{seeds}"


def _lines(part: "pd.DataFrame") -> Iterator[Line]:
    """In the order of the degrees and of the rows; a failure, which names no metric, holds for all of them."""
    metrics = [metric for metric in part["metric"].unique() if metric]
    groups: Any = part.sort_values("degree", kind="stable").groupby(list(SETTING), sort=False, dropna=False)
    for names, rows in groups:
        found: dict[str, Cell] = {}
        gaps: dict[str, tuple[int, str]] = {}
        for metric, mean, std, count, best, lacking, message in zip(*(rows[name] for name in FIELDS), strict=True):
            if lacking:
                gaps[metric] = lacking, message
            else:
                found[metric] = Cell(mean, std, int(count), bool(best))
        cells = {metric: _cell(found.get(metric), gaps.get(metric) or gaps.get("")) for metric in metrics}
        yield Line(dict(zip(SETTING, names, strict=True)), {metric: cell for metric, cell in cells.items() if cell})


def _cell(found: Cell | None, gap: tuple[int, str] | None) -> Cell | None:
    if not gap:
        return found
    lacking, message = gap
    if not found:
        return Cell(reason=message)
    return replace(found, reason=f"{lacking} of {found.count + lacking} seeds: {message}")


def _best(summary: "pd.DataFrame") -> "pd.Series[bool]":
    """Whether a mean is the best of several sketches in the same setting; some metrics have no better and worse."""
    cost = summary["mean"].astype(float) * summary["metric"].map(sign).astype(float)  # both may be empty
    setting = [name for name in SETTING if name != "sketch"]
    groups = summary.assign(cost=cost).groupby([*setting, "metric"], dropna=False)["cost"]
    return (cost == groups.transform("min")) & (groups.transform("nunique") > 1)


def sign(metric: str) -> float:
    """1 where smaller is better, −1 where larger is, NaN where neither is."""
    if metric in LARGER_IS_BETTER:
        return -1
    if metric in NEITHER_IS_BETTER:
        return nan
    smaller = metric in SMALLER_IS_BETTER or metric.startswith(SMALLER_BEGINNINGS) or metric.endswith(SMALLER_ENDINGS)
    return 1 if smaller else float("nan")


def _span(counts: "pd.Series[Any]") -> str:
    return "–".join(f"{count:.0f}" for count in sorted({counts.min(), counts.max()}))


def _headers(part: "pd.DataFrame") -> dict[str, str]:
    """Metric → heading; the unit replaces _seconds, unless that gives the heading of another metric (kid)."""
    units = dict(zip(part["metric"], part["unit"], strict=True))
    short = {metric: metric.removesuffix("_seconds") for metric in units}
    names = {metric: metric if short[metric] in units else short[metric] for metric in units}
    return {metric: f"{names[metric]} [{unit}]" if unit else names[metric] for metric, unit in units.items()}


def number(mean: float, spread: float) -> str:
    """The spread with two digits, the mean to the same place; four digits of a mean without spread."""
    if not spread or spread != spread:
        return f"{float(f'{mean:.4g}'):g}" + (" ± 0" if spread == 0 else "")
    spread = float(f"{spread:.1e}")
    first, last = floor(log10(max(abs(mean), spread))), floor(log10(spread)) - 1  # powers of ten of their digits
    if first - last > MOST_DIGITS:  # a spread of rounding
        return f"{mean:.4g} ± {spread:.2g}"
    if not TINY < first < HUGE:
        return f"({mean / 10.0**first:z.{first - last}f} ± {spread / 10.0**first:.{first - last}f})e{first:+03d}"
    return f"{round(mean, -last):z.{max(-last, 0)}f} ± {spread:.{max(-last, 0)}f}"


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
    """A line for each of several sets and degrees."""
    keys, several_sets = ["dataset", "degree"], bool(part["dataset"].str.contains(":").any())
    groups: Any = part.drop_duplicates([*keys[not several_sets :], "metric"]).groupby(keys, sort=False, dropna=False)
    for (dataset, degree), cells in groups:
        facts = [
            f"{cell.metric.removesuffix('_seconds')} {number(cell.mean, cell.std)}{cell.unit and f' {cell.unit}'}"
            + (f" ({cell.message})" if cell.message else "")
            for cell in cells.itertuples()
        ]
        where = [dataset] * several_sets + [f"degree {degree:.0f}"] * several_degrees
        yield ": ".join([*where, ", ".join(facts)])
