"""Figure of projections: time and energy against D, a line for each device [Ohana et al. 2019, Fig. 3]."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rfbench.reports.figures.axes import log_values
from rfbench.reports.figures.panel import Panel
from rfbench.reports.figures.style import line_style
from rfbench.storage import replace_file

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

AXES = {"transform_seconds": "time of a projection [s]", "joules": "energy of a projection [J]"}
BETTER = {"transform_seconds": "faster than", "joules": "cheaper than"}
LINES = ("-", ":", "--", "-.")


class Crossing(NamedTuple):
    """The D from which an OPU is better than a device, if there is one among those measured."""

    dataset: str
    n_train: int
    metric: str
    opu: str
    device: str
    features: float
    value: float  # of both

    def __str__(self) -> str:
        at = "at every D measured" if self.features == 0 else "at no D measured"
        at = f"from D = {_rounded(self.features)} on" if 0 < self.features < np.inf else at
        return f"{self.n_train:.0f} rows: {self.opu} is {BETTER[self.metric]} {self.device} {at}"


def projections(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Times, then energies."""
    ours = summary[summary["task"].str.startswith("projection") & summary["metric"].isin(list(AXES))]
    return ours.sort_values("metric", key=lambda metric: metric != "transform_seconds", kind="stable")


def crossings(shown: "pd.DataFrame") -> Iterator[Crossing]:
    """One for every OPU and every other device."""
    groups: Any = shown.groupby(["dataset", "n_train", "metric"], sort=False)
    for (dataset, n, metric), part in groups:
        curves = {str(sketch): one.set_index("features")["mean"] for sketch, one in part.groupby("sketch", sort=False)}
        opus = [sketch for sketch in curves if sketch.startswith("optical")]
        for device, opu in product((sketch for sketch in curves if sketch not in opus), opus):
            yield Crossing(dataset, n, metric, opu, device, *crossing(curves[device], curves[opu]))


def crossing(curve: "pd.Series[Any]", level: "pd.Series[Any]") -> tuple[float, float]:
    """(D, value) from which on `curve` stays above `level`, by straight lines between logarithms.

    D is 0 if it always does, and infinite if the last point is below.
    """
    both = (curve / level).dropna().sort_index().index
    D, f, g = (np.log(np.asarray(values, float)) for values in (both, curve[both], level[both]))
    below = np.flatnonzero(f <= g)
    if not len(below) or below[-1] == len(D) - 1:
        return (np.inf if len(below) else 0.0), np.nan
    around = slice(below[-1], below[-1] + 2)
    found = np.interp(0, (f - g)[around], D[around])
    return float(np.exp(found)), float(np.exp(np.interp(found, D, g)))


def write_crossings(directory: Path, summary: "pd.DataFrame") -> list[str]:
    """crossings.csv if there are devices to compare, and a sentence for each of its lines."""
    import pandas as pd

    found = list(crossings(projections(summary)))
    if found:
        replace_file(directory / "crossings.csv", pd.DataFrame(found).to_csv(index=False, lineterminator="\n"))
    return list(map(str, found))


def _rounded(D: float) -> str:
    return f"{float(f'{D:.2g}'):.0f}"


def device_curves(ax: "Axes", part: "pd.DataFrame") -> None:
    """A line for each device and number of rows; a cross where an OPU becomes the better one."""
    counts = sorted(part["n_train"].unique(), reverse=True)
    for (sketch, n), curve in part.groupby(["sketch", "n_train"], sort=False):
        curve = curve.sort_values("features")
        name = f"{sketch}, {n:.0f} rows" if len(counts) > 1 else str(sketch)
        style = line_style(str(sketch)) | {"label": name, "linestyle": LINES[counts.index(n) % len(LINES)]}
        ax.errorbar(curve["features"], curve["mean"], curve["std"].fillna(0), capsize=2, **style)
    for one in crossings(part):
        if 0 < one.features < np.inf:
            ax.plot([one.features], [one.value], color="black", marker="x", markersize=7, linestyle="")
            ax.annotate(f"D = {_rounded(one.features)}", one[-2:], (4, -10), textcoords="offset points")
    ax.set_xscale("log")
    ax.minorticks_off()
    ticks = sorted(set(part["features"]))
    ax.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
    log_values(ax)
    ax.set_xlabel("D of (n, D) × (D, D)")
    ax.set_ylabel(AXES[part["metric"].iloc[0]])


PROJECTIONS = Panel(projections, device_curves, ("metric",), drawn=("n_train",))
