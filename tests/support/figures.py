"""Small tables, and what a figure draws of them."""

from rfbench.reports.figures.figure import choose, draw
from rfbench.reports.tables import summarize, summarize_curves, to_frame

ROW = {
    "dataset": "made",
    "n_train": 9,
    "n_test": 7,
    "d": 2,
    "task": "kernel_error",
    "sketch": "rff",
    "kernel": "gaussian",
    "degree": "",
    "features": 8,
    "seed": 0,
    "unit": "",
    "message": "",
    "status": "ok",
}
NO_ROWS = summarize(to_frame([]))
NO_CURVES = summarize_curves([])


def metrics(rows):
    """The summary of results.csv; rows say what differs from ROW."""
    return summarize(to_frame(ROW | row for row in rows))


def curves(rows):
    """The summary of series.csv; a row is a curve with a list of its points."""
    points = [ROW | row | {"x": x, "y": y} for row in rows for x, y in row["points"]]
    return summarize_curves({name: value for name, value in point.items() if name != "points"} for point in points)


def axes(summary=NO_ROWS, series=NO_CURVES, plot=None):
    """The panels of the figure, by title; panels of one title have its axis label too."""
    panel, shown = choose(summary, series, plot)
    figure = draw(panel, shown, len(plot or ()))
    titles = [ax.get_title().replace("\n", " ") for ax in figure.axes]
    names = [
        f"{title}: {ax.get_ylabel()}" if titles.count(title) > 1 else title
        for title, ax in zip(titles, figure.axes, strict=True)
    ]
    return {name: ax for name, ax in zip(names, figure.axes, strict=True) if name}


def lines(ax):
    """Label → points of the line."""
    handles, labels = ax.get_legend_handles_labels()
    drawn = [getattr(handle, "lines", [handle])[0] for handle in handles]
    return {label: line.get_xydata().tolist() for label, line in zip(labels, drawn, strict=True)}


def segments(ax):
    """Label → (low, high) of the error bars."""
    return {
        container.get_label(): [(low, high) for (_, low), (_, high) in container[2][0].get_segments()]
        for container in ax.containers
    }


def bars(ax):
    """Label → half lengths of the error bars."""
    return {label: [(high - low) / 2 for low, high in found] for label, found in segments(ax).items()}
