"""Figures of learning with several outputs: error and time against features or training rows, and vector fields."""

from typing import TYPE_CHECKING

from rfbench.reports.figures.axes import log_values
from rfbench.reports.figures.panel import Panel, wide
from rfbench.reports.figures.style import line_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

AXES = {"error": "misclassified fraction", "rmse": "root mean squared error", "fit_seconds": "time to fit [s]"}
ARROW = ["dataset", "n_train", "task", "sketch", "kernel", "degree", "features", "x"]  # what tells one from the others


def learning(summary: "pd.DataFrame") -> "pd.DataFrame":
    """An error and the time of sketches and of the exact kernel; `measure` tells which of the two."""
    import pandas as pd

    ours = summary[summary["task"].str.startswith("vector_field")]
    measure = ours["metric"].str.removeprefix("exact_")
    error = "error" if (measure == "error").any() else "rmse"
    return pd.concat([ours.assign(measure=measure)[measure == one] for one in (error, "fit_seconds")])


def learning_curves(ax: "Axes", part: "pd.DataFrame") -> None:
    """Mean and standard deviation over seeds, against training rows where their number differs, else features."""
    along, other = ("n_train", "features") if part["n_train"].nunique() > 1 else ("features", "n_train")
    exact = part["metric"].str.startswith("exact_")
    kernels = part.groupby("sketch")["kernel"].nunique().max() > 1
    groups = part[~exact].groupby(["sketch", "kernel", other], sort=False)
    for (sketch, kernel, count), curve in groups:
        name = f"{sketch}, {kernel}" if kernels else str(sketch)
        name += f", {count:.0f} features" if other == "features" and part.loc[~exact, other].nunique() > 1 else ""
        style = line_style(str(sketch)) | {"label": name}
        if (curve[along] == 0).all():  # no features: a level
            ax.axhline(curve["mean"].iloc[0], **style | {"marker": ""})
            continue
        curve = curve.sort_values(along)
        ax.errorbar(curve[along], curve["mean"], curve["std"].fillna(0), capsize=2, **style)
    for (kernel,), curve in part[exact].groupby(["kernel"], sort=False):  # the mean: each of its sketches has a run
        style = line_style(str(curve["sketch"].iloc[0])) | {"label": f"exact {kernel}", "linestyle": ":", "marker": ""}
        ax.plot(curve.groupby(along)["mean"].mean(), **style)
    if ticks := sorted(set(part[along]) - {0}):
        ax.set_xscale("log")
        ax.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
    log_values(ax)
    ax.set_xlabel("training rows" if along == "n_train" else "features")
    ax.set_ylabel(AXES[part["measure"].iloc[0]])


def fields(curves: "pd.DataFrame") -> "pd.DataFrame":
    """A row for each arrow of the field, the prediction and the error, with the most features of each sketch."""
    import pandas as pd

    found = curves[curves["task"].str.startswith("vector_field")]
    if found.empty:
        return found
    found = found[found["features"] == found.groupby(["dataset", "sketch"])["features"].transform("max")]
    arrows = wide(found, ARROW)
    field, predicted = ([arrows[f"{name}0"], arrows[f"{name}1"]] for name in ("field", "predicted"))
    error = [p - f for p, f in zip(predicted, field, strict=True)]
    parts = {"field": field, "prediction": predicted, "error": error}
    longest = (field[0] ** 2 + field[1] ** 2).groupby(arrows["dataset"]).transform("max") ** 0.5
    places = arrows[[*ARROW[:-1], "x0", "x1"]].assign(longest=longest)
    shown = pd.concat([places.assign(shown=name, u=u, v=v) for name, (u, v) in parts.items()])
    return shown.sort_values(["dataset", "sketch"], kind="stable")


def quiver(ax: "Axes", part: "pd.DataFrame") -> None:
    """Arrows at the test rows, in one scale: the longest of the field is a twelfth of a panel."""
    scale = 12 * part["longest"].iloc[0]
    ax.quiver(part["x0"], part["x1"], part["u"], part["v"], angles="xy", scale=scale, width=0.004, color="#0072B2")
    ax.set_aspect("equal")
    ax.grid(visible=False)


FIELDS = Panel(fields, quiver, ("dataset", "sketch", "features", "shown"), of_curves=True, height=3.2)
LEARNING = Panel(learning, learning_curves, ("dataset", "measure"), drawn=("kernel", "n_train"))
