"""What one kind of figure shows, and how it is divided into panels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SETTING = ("dataset", "kernel", "degree", "n_train", "task")  # beside sketch and features, which every panel draws
TITLES = {"degree": "p\u00a0=\u00a0{:.0f}", "features": "{:.0f} features", "n_train": "{:.0f} training rows"}
IN_AXES = ("measure", "metric", "plot")  # the labels of the axes say them


def wide(rows: "pd.DataFrame", keys: Sequence[str], names: str = "name") -> "pd.DataFrame":
    """A row for each value of the keys, with a column for each name, in the order of the rows."""
    return rows.set_index([*keys, names])["mean"].unstack(names, sort=False).reset_index()


@dataclass(frozen=True)
class Panel:
    """The rows to show, the function that draws those of one panel, and the columns that a panel has one value of."""

    select: Callable[["pd.DataFrame"], "pd.DataFrame"]
    draw: Callable[["Axes", "pd.DataFrame"], None]
    keys: tuple[str, ...] = ("dataset", "kernel", "degree")
    drawn: tuple[str, ...] = ()  # other columns of the setting that lines or axes show
    of_curves: bool = False  # whether `select` takes the summary of series.csv, not that of results.csv
    height: float = 2.6  # inches

    def divide(self, shown: "pd.DataFrame") -> Iterator[tuple[str, "pd.DataFrame"]]:
        """(title, rows) of each panel; no sketch has rows of two settings in one, unless the panel draws both."""
        keys = list(self.keys)
        for column in SETTING:
            if column in shown and column not in (*keys, *self.drawn):
                values = shown.groupby([*keys, "sketch"], dropna=False)[column]
                keys += [column] * bool((values.nunique(dropna=False) > 1).any())
        for names, part in shown.groupby(keys, sort=False, dropna=False):
            words = {key: name for key, name in zip(keys, names, strict=True) if key not in IN_AXES and name == name}
            yield ", ".join(TITLES.get(key, "{}").format(name) for key, name in words.items()), part
