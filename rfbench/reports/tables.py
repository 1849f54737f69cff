"""Rows → mean, standard deviation and count over seeds, as a file and for the terminal."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfbench.results.rows import COLUMNS
from rfbench.storage import replace_file

if TYPE_CHECKING:
    import pandas as pd

SETTING = COLUMNS[: COLUMNS.index("seed")]
HIDDEN = r"_[qet]\d{3}$|^arrow_"  # quantiles, epochs, points and arrows are for figures
SHARED = r"^(?:exact|block)_"  # what all sketches are compared with is told once, below them


def to_frame(rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    """The finished rows, with numbers as numbers."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(COLUMNS))
    frame = frame[frame["status"] == "ok"].copy()
    for column in ("n_train", "n_test", "d", "degree", "features", "seed", "value"):
        frame[column] = pd.to_numeric(frame[column])
    return frame


def summarize(frame: "pd.DataFrame") -> "pd.DataFrame":
    """One row per setting and metric."""
    groups = frame.groupby([*SETTING, "metric", "unit"], sort=False, dropna=False)["value"]
    return groups.agg(mean="mean", std="std", count="count").reset_index()


def write_summary(path: Path, summary: "pd.DataFrame") -> None:
    replace_file(path, summary.to_csv(index=False, lineterminator="\n"))


def as_text(summary: "pd.DataFrame") -> str:
    """One table for each data set, kernel and task."""
    shown = summary[~summary["metric"].str.contains(HIDDEN)]
    tables = []
    for names, part in shown.groupby(["dataset", "kernel", "task"], sort=False):
        dataset, kernel, task = names
        data = f"{dataset} ({_span(part['n_train'])} training rows, {_span(part['d'])} columns)"
        power = f" of degree {part['degree'].iloc[0]:.0f}" if part["degree"].nunique() == 1 else ""
        title = f"{data}, {kernel} kernel{power}, {task}, seeds: {_span(part['count'])}"
        keys = ["n_train"] if part["n_train"].nunique() > 1 else []
        keys += ["sketch", "features"] if power else ["degree", "sketch", "features"]
        shared = part["metric"].str.match(SHARED)
        below = _below(part[shared], part["degree"].nunique() > 1)
        tables.append("\n".join([title, _grid(part[~shared], keys), *below]))
    return "\n\n".join(tables)


def _span(counts: "pd.Series[Any]") -> str:
    return "–".join(f"{count:.0f}" for count in sorted({counts.min(), counts.max()}))


def _below(part: "pd.DataFrame", with_degree: bool) -> Iterator[str]:
    """A line for each degree."""
    for _, cells in part.groupby("degree", dropna=False):
        once = cells.drop_duplicates("metric")
        facts = [
            f"{_header(metric, '')} {_cell(mean, std)}" + (f" {unit}" if unit == "s" else f" ({unit})" if unit else "")
            for metric, unit, mean, std in zip(once["metric"], once["unit"], once["mean"], once["std"], strict=True)
        ]
        yield (f"degree {cells['degree'].iloc[0]:.0f}: " if with_degree else "") + ", ".join(facts)


def _header(metric: str, unit: str) -> str:
    return metric.removesuffix("_seconds") + (f" [{unit}]" if unit else "")


def _grid(part: "pd.DataFrame", keys: list[str]) -> str:
    part = part.sort_values("degree", kind="stable")
    keys = [key for key in keys if part[key].notna().all()]  # not every kernel has a degree
    metrics = list(dict.fromkeys(part["metric"]))
    units = dict(zip(part["metric"], part["unit"], strict=True))
    lines = [[*keys, *(_header(m, units[m]) for m in metrics)]]
    for names, cells in part.groupby(keys, sort=False):
        found = {m: (mean, std) for m, mean, std in zip(cells["metric"], cells["mean"], cells["std"], strict=True)}
        setting = [name if isinstance(name, str) else f"{name:.0f}" for name in names]
        lines.append([*setting, *(_cell(*found[m]) if m in found else "" for m in metrics)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["─" * width for width in widths])
    return "\n".join("  ".join(map(_aligned, line, widths)).rstrip() for line in lines)


def _aligned(cell: str, width: int) -> str:
    """Words to the left, numbers to the right."""
    return cell.ljust(width) if cell[:1].isalpha() else cell.rjust(width)


def _cell(mean: float, std: float) -> str:
    return f"{mean:.4g} ± {std:.2g}" if std == std else f"{mean:.4g}"
